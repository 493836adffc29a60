//! The login to a server: an API key, or a user with a password; and a certificate of the client.
//! Passwords come from the environment or a file, and nothing of them is in a message.

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use data_encoding::BASE64;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use ureq::tls::{Certificate, ClientCert, PrivateKey};

use crate::limits::LOAD_PASSWORD_BYTES;
use crate::load::LoadError;
use crate::load::target_name::{ClientFiles, Credentials, IndexServer, Secret};

/// Values that show a server who asks.
#[derive(Debug, Default)]
pub(super) struct Login {
    /// The value of the header field `Authorization`.
    pub(super) authorization: Option<Secret>,
    /// The certificate that is shown if the server asks for one.
    pub(super) certificate: Option<ClientCert>,
}

impl Login {
    /// The login to a server. A user in the target is preferred to an API key of the environment.
    pub(super) fn new(server: &IndexServer, credentials: &Credentials) -> Result<Login, LoadError> {
        let authorization = match &server.user {
            Some(user) => Some(basic(user, &password(server, user, credentials)?)),
            None => credentials
                .elasticsearch_api_key
                .as_ref()
                .map(|key| Secret::new(format!("ApiKey {}", key.text()))),
        };
        let certificate = server.client.as_ref().map(client_certificate).transpose()?;
        Ok(Login {
            authorization,
            certificate,
        })
    }
}

/// The credentials of RFC 7617.
fn basic(user: &str, password: &Secret) -> Secret {
    let pair = format!("{user}:{}", password.text());
    Secret::new(format!("Basic {}", BASE64.encode(pair.as_bytes())))
}

fn password(
    server: &IndexServer,
    user: &str,
    credentials: &Credentials,
) -> Result<Secret, LoadError> {
    if let Some(path) = &server.password_file {
        return password_in(path);
    }
    credentials.elasticsearch_password.clone().ok_or_else(|| {
        LoadError::unusable(format!(
            "there is no password of the user {user}: put it into URLSPOOL_ELASTICSEARCH_PASSWORD, \
             or into a file that ?passfile=FILE after the index names"
        ))
    })
}

/// Reads the password in the first line of a file that nobody but its owner can read.
fn password_in(path: &Path) -> Result<Secret, LoadError> {
    let name = path.display();
    let unreadable = |error| {
        LoadError::unusable(format!("cannot read the password in {name}: {error}")).caused_by(error)
    };
    let mut file = File::open(path).map_err(unreadable)?;
    let metadata = file.metadata().map_err(unreadable)?;
    if metadata.is_file() && metadata.mode() & 0o077 != 0 {
        return Err(LoadError::unusable(format!(
            "other users may read the password in {name}: chmod 600 {name}"
        )));
    }
    let mut text = String::new();
    let limit = LOAD_PASSWORD_BYTES + 1;
    file.by_ref()
        .take(limit)
        .read_to_string(&mut text)
        .map_err(unreadable)?;
    let line = text.lines().next().unwrap_or_default();
    if line.is_empty() || text.len() as u64 == limit {
        return Err(LoadError::unusable(format!(
            "{name} holds no password in its first line, or more than {LOAD_PASSWORD_BYTES} bytes"
        )));
    }
    Ok(Secret::new(line.to_owned()))
}

/// Reads a certificate with its chain and its key. They are checked here, since the client takes
/// them as they are.
fn client_certificate(files: &ClientFiles) -> Result<ClientCert, LoadError> {
    let (name, key_name) = (files.certificate.display(), files.key.display());
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(&files.certificate)
        .and_then(Iterator::collect)
        .map_err(|error| {
            LoadError::unusable(format!("cannot read the certificate in {name}: {error}"))
                .caused_by(error)
        })?;
    let text = fs::read(&files.key).map_err(|error| {
        LoadError::unusable(format!(
            "cannot read the private key in {key_name}: {error}"
        ))
        .caused_by(error)
    })?;
    // Nothing of the file is shown.
    let no_key = |_| {
        LoadError::unusable(format!(
            "{key_name} holds no private key in PEM; one with a passphrase cannot be read: openssl \
             pkey -in FILE -out NEW"
        ))
    };
    let checked = PrivateKeyDer::from_pem_slice(&text).map_err(no_key)?;
    let provider = rustls::crypto::ring::default_provider();
    CertifiedKey::from_der(chain.clone(), checked, &provider).map_err(|error| {
        LoadError::unusable(format!(
            "the certificate in {name} and the private key in {key_name} cannot be used together: \
             {error}"
        ))
        .caused_by(error)
    })?;
    let Ok(key) = PrivateKey::from_pem(&text) else {
        return Err(LoadError::unusable(format!(
            "{key_name} holds no private key in PEM"
        )));
    };
    let chain: Vec<_> = chain
        .iter()
        .map(|certificate| Certificate::from_der(certificate).to_owned())
        .collect();
    Ok(ClientCert::new_with_certs(&chain, key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_and_a_password_are_encoded_as_in_the_rfc() {
        // RFC 7617, sections 2 and 2.1.
        let encoded = |user, password: &str| basic(user, &Secret::new(password.to_owned()));
        let text = encoded("Aladdin", "open sesame");
        assert_eq!(text.text(), "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
        assert_eq!(encoded("test", "123£").text(), "Basic dGVzdDoxMjPCow==");
    }
}
