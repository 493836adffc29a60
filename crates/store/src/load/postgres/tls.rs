//! TLS: the parameters `sslmode` and `sslrootcert` of a target, and the trusted certificates.
//!
//! The modes work as in PostgreSQL's programs. `prefer` and `require` encrypt, but check no
//! certificate unless `sslrootcert` names the authority. `require` and `verify-full` never connect
//! without encryption.

use std::error::Error;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
};
use tokio_postgres::config::SslMode;
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::load::LoadError;
use crate::load::decoded_path;
use crate::load::http_agent::certificates;
use crate::load::target_name::MACHINE_AUTHORITIES;

/// TLS parameters of a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TlsParameters {
    /// Encryption policy, as `sslmode` names it.
    pub(super) mode: SslMode,
    /// `true` if the certificate must be valid for the host and issued by a trusted authority.
    is_verified: bool,
    /// PEM file of trusted authorities. If `None`, the system's authorities are trusted.
    root_file: Option<PathBuf>,
}

impl TlsParameters {
    /// Removes the TLS parameters from a target's URL. Returns them and the remaining URL, which
    /// the client parses.
    ///
    /// # Errors
    ///
    /// The mode is unknown, or does not fit the authorities.
    pub(super) fn take(url: &str) -> Result<(TlsParameters, String), LoadError> {
        let (start, query) = match url.split_once('?') {
            Some((start, query)) => (start, query.split('&').collect()),
            None => (url, Vec::new()),
        };
        let (mut stated_mode, mut root_file, mut is_machine) = (None, None, false);
        let mut rest = Vec::new();
        for parameter in query {
            match parameter.split_once('=') {
                Some(("sslmode", name)) => stated_mode = Some(mode(name)?),
                Some(("sslrootcert", path)) => {
                    is_machine = path == MACHINE_AUTHORITIES;
                    root_file = (!is_machine).then(|| decoded_path(path));
                }
                _ => rest.push(parameter),
            }
        }
        let (mode, is_verified) = match (stated_mode, is_machine) {
            (None | Some((_, true)), true) => (SslMode::Require, true),
            (Some(_), true) => {
                return Err(LoadError::unusable(
                    "`sslrootcert=system` needs `sslmode=verify-full`: anybody can have a \
                     certificate of one of these authorities",
                ));
            }
            (stated, false) => stated.unwrap_or((SslMode::Prefer, false)),
        };
        let rest = if rest.is_empty() {
            start.to_owned()
        } else {
            format!("{start}?{}", rest.join("&"))
        };
        let parameters = TlsParameters {
            mode,
            is_verified,
            root_file,
        };
        Ok((parameters, rest))
    }

    /// Creates the TLS connector.
    ///
    /// # Errors
    ///
    /// There are no certificates of authorities to check the server's certificate with, or they
    /// cannot be read.
    pub(super) fn connector(&self) -> Result<MakeRustlsConnect, LoadError> {
        let provider = Arc::new(ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .map_err(|error| LoadError::unusable(error.to_string()).caused_by(error))?;
        let config = if self.is_verified {
            builder.with_root_certificates(self.roots()?)
        } else {
            let verifier = NamelessVerifier {
                authorities: self.authorities(&provider)?,
                provider,
            };
            let builder = builder.dangerous();
            builder.with_custom_certificate_verifier(Arc::new(verifier))
        };
        Ok(MakeRustlsConnect::new(config.with_no_client_auth()))
    }

    /// Returns the check of the authority, if a file of authorities was named.
    fn authorities(
        &self,
        provider: &Arc<CryptoProvider>,
    ) -> Result<Option<Arc<WebPkiServerVerifier>>, LoadError> {
        if self.root_file.is_none() {
            return Ok(None);
        }
        let roots = Arc::new(self.roots()?);
        WebPkiServerVerifier::builder_with_provider(roots, provider.clone())
            .build()
            .map(Some)
            .map_err(|error| LoadError::unusable(error.to_string()).caused_by(error))
    }

    fn roots(&self) -> Result<RootCertStore, LoadError> {
        let found = match &self.root_file {
            // `certificates` has checked that each of them can be read.
            Some(path) => certificates(path)?,
            None => rustls_native_certs::load_native_certs().certs,
        };
        let mut store = RootCertStore::empty();
        store.add_parsable_certificates(found);
        if store.is_empty() {
            return Err(LoadError::unusable(
                "there are no certificates of authorities; name a file with sslrootcert=FILE",
            ));
        }
        Ok(store)
    }
}

/// Returns the encryption mode, and `true` if it checks the certificate.
fn mode(name: &str) -> Result<(SslMode, bool), LoadError> {
    match name {
        "disable" => Ok((SslMode::Disable, false)),
        "prefer" => Ok((SslMode::Prefer, false)),
        "require" => Ok((SslMode::Require, false)),
        "verify-full" => Ok((SslMode::Require, true)),
        _ => Err(LoadError::unusable(format!(
            "`sslmode={name}` is unknown; write disable, prefer, require or verify-full"
        ))),
    }
}

/// Returns `true` if a connection failed because the server does not support TLS or has an
/// untrusted certificate. Another attempt would fail too.
pub(super) fn is_refusal(error: &tokio_postgres::Error) -> bool {
    let Some(cause) = error.source() else {
        return false;
    };
    let tls = cause
        .downcast_ref::<io::Error>()
        .and_then(io::Error::get_ref)
        .and_then(|error| error.downcast_ref());
    // The client has no separate error kind for missing TLS.
    matches!(tls, Some(rustls::Error::InvalidCertificate(_)))
        || cause.to_string() == "server does not support TLS"
}

/// Certificate check that ignores the server's name. It also ignores the authority unless one was
/// named.
#[derive(Debug)]
struct NamelessVerifier {
    authorities: Option<Arc<WebPkiServerVerifier>>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for NamelessVerifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let Some(authorities) = &self.authorities else {
            return Ok(ServerCertVerified::assertion());
        };
        match authorities.verify_server_cert(certificate, intermediates, name, ocsp_response, now) {
            // The name is compared last, so everything else is valid here.
            Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            result => result,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tls_parameters_are_removed_from_the_url() {
        let take = |url: &str| TlsParameters::take(url).unwrap();
        let parameters = |mode, is_verified, root_file: Option<&str>| TlsParameters {
            mode,
            is_verified,
            root_file: root_file.map(PathBuf::from),
        };
        let plain = "postgresql://u@h/d";
        assert_eq!(
            take(plain),
            (parameters(SslMode::Prefer, false, None), plain.to_owned())
        );
        assert_eq!(
            take("postgresql://u@h/d?sslmode=verify-full&port=9&sslrootcert=a%20b.crt"),
            (
                parameters(SslMode::Require, true, Some("a b.crt")),
                format!("{plain}?port=9")
            )
        );
        assert_eq!(
            take("postgresql://u@h/d?sslrootcert=system"),
            (parameters(SslMode::Require, true, None), plain.to_owned())
        );
        assert!(TlsParameters::take("postgresql://h/?sslmode=require&sslrootcert=system").is_err());
        assert!(TlsParameters::take("postgresql://h/?sslmode=Require").is_err());
    }
}
