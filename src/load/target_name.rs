//! Names of targets: `urls.db`, `sqlite:urls.db`, `postgresql://user@host/db`, `elasticsearch+https://host:9200/index`.

use std::fmt;
use std::path::PathBuf;

/// The database or index that records are loaded into.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TargetName {
    /// A file of `SQLite`.
    Sqlite(PathBuf),
    /// A database of a `PostgreSQL` server, as a URL.
    #[cfg(feature = "postgres")]
    Postgres(String),
}

/// The reason why a text names no target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TargetNameError {
    /// It is a URL of a scheme that is not known.
    Unknown(String),
    /// The program was built without the feature that the target needs.
    NotBuilt(&'static str),
    /// It holds a password.
    Password,
}

impl fmt::Display for TargetNameError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TargetNameError::Unknown(scheme) => write!(
                out,
                "`{scheme}` is no target; write FILE, sqlite:FILE, postgresql://USER@HOST/DATABASE or elasticsearch+https://HOST:PORT/INDEX"
            ),
            TargetNameError::NotBuilt(feature) => write!(
                out,
                "this program was built without the feature `{feature}`; build it with `--features {feature}`"
            ),
            TargetNameError::Password => out.write_str(
                "a password in an argument is seen by every user of the machine; put it into the environment (PGPASSWORD, ~/.pgpass, URLSPOOL_ELASTICSEARCH_API_KEY)",
            ),
        }
    }
}

impl std::error::Error for TargetNameError {}

impl TargetName {
    /// Parses the name of a target. A text without `://` and without a known prefix is the path of a `SQLite` file.
    ///
    /// # Errors
    ///
    /// The scheme is not known, or the program was built without it.
    pub fn parse(text: &str) -> Result<TargetName, TargetNameError> {
        if let Some(path) = text.strip_prefix("sqlite:") {
            return Ok(TargetName::Sqlite(path.into()));
        }
        match text.split_once("://") {
            None => Ok(TargetName::Sqlite(text.into())),
            Some(("postgresql" | "postgres", rest)) => postgres(text, rest),
            Some(("elasticsearch+http" | "elasticsearch+https", _)) => {
                Err(TargetNameError::NotBuilt("elasticsearch"))
            }
            Some((scheme, _)) => Err(TargetNameError::Unknown(format!("{scheme}://"))),
        }
    }
}

/// The target of a `PostgreSQL` URL, whose part after the scheme is `rest`.
fn postgres(url: &str, rest: &str) -> Result<TargetName, TargetNameError> {
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    let login = authority.rsplit_once('@').map(|(login, _)| login);
    if login.is_some_and(|login| login.contains(':')) || rest.contains("password=") {
        return Err(TargetNameError::Password);
    }
    #[cfg(feature = "postgres")]
    return Ok(TargetName::Postgres(url.to_owned()));
    #[cfg(not(feature = "postgres"))]
    {
        let _ = url;
        Err(TargetNameError::NotBuilt("postgres"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_a_file_of_sqlite() {
        for text in ["urls.db", "sqlite:urls.db"] {
            assert_eq!(
                TargetName::parse(text),
                Ok(TargetName::Sqlite("urls.db".into()))
            );
        }
        let secret = TargetName::parse("postgresql://me:pass@host/db");
        assert_eq!(secret, Err(TargetNameError::Password));
        let error = TargetName::parse("mysql://host/db").unwrap_err();
        assert!(error.to_string().contains("`mysql://` is no target"));
    }
}
