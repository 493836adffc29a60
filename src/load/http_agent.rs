//! HTTP clients: of the server that a load or an audit was given, and of no other.

use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::CertificateDer;
use ureq::Agent;
use ureq::tls::{Certificate, RootCerts, TlsConfig};

/// Authorities whose certificates are trusted.
#[derive(Clone, Debug)]
pub(crate) enum TrustedAuthorities {
    /// Those that this machine trusts.
    Machine,
    /// These.
    #[cfg_attr(
        not(feature = "elasticsearch"),
        expect(dead_code, reason = "archives have public certificates")
    )]
    Named(Vec<CertificateDer<'static>>),
}

/// Creates a client of `server`, a URL. It follows no redirects and uses no proxy, and a request ends after `timeout`.
pub(crate) fn http_agent(
    server: &str,
    authorities: &TrustedAuthorities,
    user_agent: &str,
    timeout: Duration,
) -> Agent {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = TlsConfig::builder()
        .unversioned_rustls_crypto_provider(provider)
        .root_certs(trusted_roots(server, authorities))
        .build();
    Agent::config_builder()
        .tls_config(tls)
        .proxy(None)
        .http_status_as_error(false)
        .max_redirects(0)
        .timeout_global(Some(timeout))
        .user_agent(user_agent)
        .build()
        .new_agent()
}

/// The certificates that are trusted, if the server is asked by TLS.
fn trusted_roots(server: &str, authorities: &TrustedAuthorities) -> RootCerts {
    let found = match authorities {
        _ if !server.starts_with("https:") => Vec::new(),
        TrustedAuthorities::Machine => rustls_native_certs::load_native_certs().certs,
        TrustedAuthorities::Named(certificates) => certificates.clone(),
    };
    let roots = found
        .iter()
        .map(|root| Certificate::from_der(root).to_owned());
    RootCerts::Specific(Arc::new(roots.collect()))
}
