//! Credentials for servers. They come from the environment, never from arguments, and are never shown.

use std::fmt;
use std::path::PathBuf;

/// Credentials that the caller found in the environment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Credentials {
    /// The password of `PostgreSQL` (`PGPASSWORD`).
    pub postgres_password: Option<Secret>,
    /// The password file of `PostgreSQL` (`~/.pgpass`), which is read if there is no password.
    pub postgres_password_file: Option<PathBuf>,
    /// The encoded API key of Elasticsearch (`URLSPOOL_ELASTICSEARCH_API_KEY`).
    pub elasticsearch_api_key: Option<Secret>,
}

/// A text that is not shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Keeps `text` secret.
    #[must_use]
    pub fn new(text: String) -> Secret {
        Secret(text)
    }

    /// Returns the text.
    #[cfg_attr(
        not(any(feature = "postgres", feature = "elasticsearch")),
        expect(dead_code, reason = "only servers ask for secrets")
    )]
    pub(super) fn text(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Secret")
    }
}
