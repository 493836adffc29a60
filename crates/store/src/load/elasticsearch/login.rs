//! Authentication with a server: an API key, a user with a password, or a client certificate.
//! Passwords come from the environment or a file and never appear in messages.

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use data_encoding::BASE64;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use ureq::tls::{Certificate, ClientCert, PrivateKey};

use crate::load::LoadError;
use crate::load::target_name::{ClientFiles, Credentials, IndexServer, Secret};
use urlspool_text::limits::LOAD_PASSWORD_BYTES;

/// Returns the value of the header field `Authorization`. A user in the target takes precedence
/// over an API key in the environment.
pub(super) fn authorization(
    server: &IndexServer,
    credentials: &Credentials,
) -> Result<Option<Secret>, LoadError> {
    if let Some(user) = &server.user {
        let password = password(server, user, credentials)?;
        return Ok(Some(basic(user, &password)));
    }
    let key = credentials.elasticsearch_api_key.as_ref();
    Ok(key.map(|key| Secret::new(format!("ApiKey {}", key.text()))))
}

/// Returns Basic credentials (RFC 7617).
fn basic(user: &str, password: &Secret) -> Secret {
    let pair = format!("{user}:{}", password.text());
    Secret::new(format!("Basic {}", BASE64.encode(pair.as_bytes())))
}

fn password(server: &IndexServer, user: &str, secrets: &Credentials) -> Result<Secret, LoadError> {
    if let Some(path) = &server.password_file {
        return password_in(path);
    }
    secrets.elasticsearch_password.clone().ok_or_else(|| {
        LoadError::unusable(format!(
            "there is no password for the user {user}: set URLSPOOL_ELASTICSEARCH_PASSWORD, or \
             append ?passfile=FILE to the index"
        ))
    })
}

/// Reads the password from the first line of a file. Nobody except the file's owner may have access
/// to it.
fn password_in(path: &Path) -> Result<Secret, LoadError> {
    let (name, limit) = (path.display(), LOAD_PASSWORD_BYTES + 1);
    let mut text = String::new();
    let read = File::open(path).and_then(|file| {
        let found = file.metadata()?;
        let is_public = found.is_file() && found.mode() & 0o077 != 0;
        if !is_public {
            file.take(limit).read_to_string(&mut text)?;
        }
        Ok(is_public)
    });
    let is_public = read.map_err(|error| {
        LoadError::unusable(format!("cannot read the password in {name}: {error}")).caused_by(error)
    })?;
    if is_public {
        return Err(LoadError::unusable(format!(
            "other users may read the password in {name}; run chmod 600 {name}"
        )));
    }
    let line = text.lines().next().unwrap_or_default();
    if line.is_empty() || text.len() as u64 == limit {
        return Err(LoadError::unusable(format!(
            "{name} has no password in its first line, or one of more than {LOAD_PASSWORD_BYTES} \
             bytes"
        )));
    }
    Ok(Secret::new(line.to_owned()))
}

/// Reads a certificate, its chain and its key. Checks them, because the client does not.
pub(super) fn client_certificate(files: &ClientFiles) -> Result<ClientCert, LoadError> {
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
    // Error messages must not reveal the content of the file.
    let checked = PrivateKeyDer::from_pem_slice(&text);
    let (Ok(checked), Ok(key)) = (checked, PrivateKey::from_pem(&text)) else {
        return Err(LoadError::unusable(format!(
            "{key_name} has no private key in PEM; remove a passphrase with: openssl pkey -in FILE \
             -out NEW"
        )));
    };
    let provider = rustls::crypto::ring::default_provider();
    CertifiedKey::from_der(chain.clone(), checked, &provider).map_err(|error| {
        LoadError::unusable(format!(
            "the certificate in {name} and the private key in {key_name} cannot be used together: \
             {error}"
        ))
        .caused_by(error)
    })?;
    let chain = chain
        .iter()
        .map(|one| Certificate::from_der(one).to_owned());
    Ok(ClientCert::new_with_certs(&chain.collect::<Vec<_>>(), key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_and_a_password_are_encoded_as_in_the_rfc() {
        // Examples in RFC 7617, sections 2 and 2.1.
        let encoded = |user, password: &str| basic(user, &Secret::new(password.to_owned()));
        let text = encoded("Aladdin", "open sesame");
        assert_eq!(text.text(), "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
        assert_eq!(encoded("test", "123£").text(), "Basic dGVzdDoxMjPCow==");
    }
}
