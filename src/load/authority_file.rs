//! Files of certificates of authorities, which targets name by the parameter `sslrootcert`.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::{self, PemObject};

use super::LoadError;
use crate::grammar::decode;

/// Reads the certificates of a file in PEM: at least one, and each can be the certificate of an
/// authority.
pub(super) fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, LoadError> {
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
    // Clients skip what they cannot read.
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

/// A path in a URL, with `%` and two digits for any byte.
pub(super) fn decoded_path(text: &str) -> PathBuf {
    OsString::from_vec(decode(text.as_bytes())).into()
}
