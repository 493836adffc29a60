//! Files of certificates of authorities, which targets name by the parameter `sslrootcert`.

use std::error::Error;
use std::ffi::OsString;
use std::fmt;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::{self, PemObject};

/// The reason why a file of authorities cannot be used.
#[derive(Debug)]
pub(super) struct AuthorityFileError {
    path: PathBuf,
    fault: AuthorityFileFault,
}

#[derive(Debug)]
enum AuthorityFileFault {
    /// It cannot be read as PEM.
    Pem(pem::Error),
    /// A certificate of it is none, counted from 1.
    Certificate { number: usize, error: rustls::Error },
    /// It has no certificates.
    NoCertificates,
}

impl fmt::Display for AuthorityFileError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match &self.fault {
            AuthorityFileFault::Pem(pem::Error::Io(error)) => {
                write!(out, "cannot read {path}: {error}")
            }
            AuthorityFileFault::Pem(error) => write!(out, "cannot read {path} as PEM: {error}"),
            AuthorityFileFault::Certificate { number, error } => write!(
                out,
                "certificate {number} in {path} cannot be read: {error}; name a file of certificates of authorities in PEM"
            ),
            AuthorityFileFault::NoCertificates => {
                write!(out, "{path} has no certificates of authorities in PEM")
            }
        }
    }
}

impl Error for AuthorityFileError {}

/// Reads the certificates of a file in PEM: at least one, and each can be the certificate of an authority.
pub(super) fn certificates(
    path: &Path,
) -> Result<Vec<CertificateDer<'static>>, AuthorityFileError> {
    read_certificates(path).map_err(|fault| AuthorityFileError {
        path: path.to_owned(),
        fault,
    })
}

fn read_certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, AuthorityFileFault> {
    let found: Vec<_> = CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect)
        .map_err(AuthorityFileFault::Pem)?;
    if found.is_empty() {
        return Err(AuthorityFileFault::NoCertificates);
    }
    // Clients skip what they cannot read.
    let mut store = RootCertStore::empty();
    for (certificate, number) in found.iter().zip(1..) {
        store
            .add(certificate.clone())
            .map_err(|error| AuthorityFileFault::Certificate { number, error })?;
    }
    Ok(found)
}

/// A path in a URL, with `%` and two digits for any byte.
pub(super) fn decoded_path(text: &str) -> PathBuf {
    let mut pieces = text.split('%');
    let mut bytes = pieces.next().unwrap_or_default().as_bytes().to_owned();
    for piece in pieces {
        let digits = piece.get(..2);
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                bytes.extend_from_slice(&piece.as_bytes()[2..]);
            }
            None => {
                bytes.push(b'%');
                bytes.extend_from_slice(piece.as_bytes());
            }
        }
    }
    OsString::from_vec(bytes).into()
}
