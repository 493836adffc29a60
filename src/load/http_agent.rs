//! HTTP clients: of the server that a load or an audit was given, and of no other.

use std::sync::Arc;
use std::time::Duration;

use ureq::Agent;
use ureq::tls::{Certificate, RootCerts, TlsConfig};

/// Creates a client of `server`, a URL. It follows no redirects and uses no proxy, and a request ends after `timeout`.
pub(crate) fn http_agent(server: &str, user_agent: &str, timeout: Duration) -> Agent {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = TlsConfig::builder()
        .unversioned_rustls_crypto_provider(provider)
        .root_certs(trusted_roots(server))
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

/// The certificates that this machine trusts, if the server is asked by TLS.
fn trusted_roots(server: &str) -> RootCerts {
    let mut roots = Vec::new();
    if server.starts_with("https:") {
        let found = rustls_native_certs::load_native_certs();
        roots.extend(
            found
                .certs
                .iter()
                .map(|root| Certificate::from_der(root).to_owned()),
        );
    }
    RootCerts::Specific(Arc::new(roots))
}
