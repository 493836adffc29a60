//! HTTP clients for loads and audits, and parsing of `Retry-After`.

use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::CertificateDer;
use ureq::config::ConfigBuilder;
use ureq::http::Response;
use ureq::tls::{Certificate, ClientCert, RootCerts, TlsConfig};
use ureq::typestate::AgentScope;
use ureq::{Agent, Body};

/// Returns the configuration of a client for the URL `server`, with a client certificate if there
/// is one. It trusts the given authorities, or the system's authorities if they are `None`. It
/// follows no redirects, uses no proxy, and ends each request after `timeout`.
#[must_use]
pub fn http_config(
    server: &str,
    authorities: Option<&[CertificateDer<'static>]>,
    certificate: Option<ClientCert>,
    user_agent: &str,
    timeout: Duration,
) -> ConfigBuilder<AgentScope> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = TlsConfig::builder()
        .unversioned_rustls_crypto_provider(provider)
        .root_certs(trusted_roots(server, authorities))
        .client_cert(certificate)
        .build();
    Agent::config_builder()
        .tls_config(tls)
        .proxy(None)
        .http_status_as_error(false)
        .max_redirects(0)
        .timeout_global(Some(timeout))
        .user_agent(user_agent)
}

/// Returns the trusted certificates if the server uses TLS.
fn trusted_roots(server: &str, authorities: Option<&[CertificateDer<'static>]>) -> RootCerts {
    let found = match authorities {
        _ if !server.starts_with("https:") => Vec::new(),
        None => rustls_native_certs::load_native_certs().certs,
        Some(certificates) => certificates.to_vec(),
    };
    let roots = found
        .iter()
        .map(|root| Certificate::from_der(root).to_owned());
    RootCerts::Specific(Arc::new(roots.collect()))
}

/// Reads the certificates in a PEM file. There must be at least one, and each must be usable as the
/// certificate of an authority.
#[cfg(any(feature = "elasticsearch", feature = "postgres"))]
pub(super) fn certificates(
    path: &std::path::Path,
) -> Result<Vec<CertificateDer<'static>>, super::LoadError> {
    use super::LoadError;
    use rustls::RootCertStore;
    use rustls::pki_types::pem::{self, PemObject};

    let name = path.display();
    let found: Vec<_> = CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect)
        .map_err(|error| {
            let message = match &error {
                pem::Error::Io(error) => format!("cannot read {name}: {error}"),
                error => format!("cannot read {name} as PEM: {error}"),
            };
            LoadError::unusable(message).caused_by(error)
        })?;
    if found.is_empty() {
        return Err(LoadError::unusable(format!(
            "{name} has no certificates of authorities in PEM"
        )));
    }
    // Clients silently skip certificates that they cannot read, so check them here.
    let mut store = RootCertStore::empty();
    for (certificate, number) in found.iter().zip(1..) {
        store.add(certificate.clone()).map_err(|error| {
            LoadError::unusable(format!(
                "certificate {number} in {name} cannot be read: {error}; name a file of \
                 certificates of authorities in PEM"
            ))
            .caused_by(error)
        })?;
    }
    Ok(found)
}

/// Returns the pause that the `Retry-After` field requests.
#[must_use]
pub fn retry_after(response: &Response<Body>) -> Option<Duration> {
    let value = response.headers().get("retry-after")?.to_str().ok()?;
    pause(value.trim())
}

/// Parses the value of `Retry-After`: seconds, or a date such as `Sun, 06 Nov 1994 08:49:37 GMT`. A
/// number that is too large becomes the maximum, and a date in the past becomes 0.
fn pause(value: &str) -> Option<Duration> {
    let is_number = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    let seconds = if is_number {
        value.parse().unwrap_or(u64::MAX)
    } else {
        let date = jiff::fmt::rfc2822::parse(value).ok()?.timestamp();
        let left = date.duration_since(jiff::Timestamp::now()).as_secs();
        u64::try_from(left).unwrap_or(0)
    };
    Some(Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_is_a_number_or_a_date() {
        for (value, expected) in [
            ("0", Some(0)),
            ("120", Some(120)),
            ("18446744073709551616", Some(u64::MAX)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(0)),
            ("", None),
            ("-1", None),
            ("soon", None),
        ] {
            assert_eq!(pause(value), expected.map(Duration::from_secs), "{value}");
        }
    }

    #[test]
    fn a_future_date_is_a_pause() {
        let pause = pause("Tue, 31 Dec 2097 00:00:00 GMT");
        assert!(pause.is_some_and(|pause| Duration::from_hours(1_000) < pause));
    }
}
