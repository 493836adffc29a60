//! Names of targets: `urls.db`, `sqlite:urls.db`, `postgresql://user@host/db`,
//! `elasticsearch+https://host:9200/index`; and the credentials for servers, which come from the
//! environment, never from arguments, and are never shown.

use std::fmt;
use std::path::PathBuf;

use super::LoadError;
#[cfg(feature = "elasticsearch")]
use super::authority_file::decoded_path;
use crate::grammar::decode;
use crate::limits::{LOAD_CONNECT_SECONDS, LOAD_REPLY_SECONDS};

/// The database or index that records are loaded into.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TargetName {
    /// A file of `SQLite`.
    Sqlite(PathBuf),
    /// A database of a `PostgreSQL` server, as a URL.
    #[cfg(feature = "postgres")]
    Postgres(String),
    /// An index of an Elasticsearch or `OpenSearch` server.
    #[cfg(feature = "elasticsearch")]
    Elasticsearch {
        /// The server.
        server: IndexServer,
        /// The name of the index.
        index: String,
    },
}

/// A server of indexes.
#[cfg(feature = "elasticsearch")]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct IndexServer {
    /// Its URL, without a slash at its end.
    pub url: String,
    /// The user whose password the environment or a file has; `None` for an API key.
    pub user: Option<String>,
    /// The file of the password; that of the environment is used if it is `None`.
    pub password_file: Option<PathBuf>,
    /// The files by which the client shows who it is.
    pub client: Option<ClientFiles>,
    /// The file of the authorities that are trusted, in PEM; those of the machine if it is `None`.
    pub root_file: Option<PathBuf>,
    /// Time, in seconds, for a connection and for the answer to a request that is little work.
    pub connect_seconds: u8,
}

/// The files of a client's certificate, in PEM.
#[cfg(feature = "elasticsearch")]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClientFiles {
    /// The certificate, perhaps with its chain.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}

impl TargetName {
    /// Parses the name of a target. A text without `://` and without a known prefix is the path of
    /// a `SQLite` file.
    ///
    /// # Errors
    ///
    /// It names no file, the scheme is not known, or the program was built without it.
    pub fn parse(text: &str) -> Result<TargetName, LoadError> {
        if let Some(path) = text.strip_prefix("sqlite:") {
            return sqlite(path);
        }
        match text.split_once("://") {
            None if is_connection_text(text) => Err(LoadError::unusable(
                "a server is named by a URL: write postgresql://USER@HOST/DATABASE, with other \
                 parameters after a `?`; sqlite:FILE is a file of any name",
            )),
            None => match unknown_scheme(text) {
                Some(scheme) => Err(LoadError::unusable(format!(
                    "`{scheme}:` is no target; write FILE, postgresql://USER@HOST/DATABASE or \
                     elasticsearch+https://HOST:PORT/INDEX; sqlite:FILE is a file of any name"
                ))),
                None => match table_ending(text) {
                    Some(ending) => Err(LoadError::unusable(format!(
                        "a database is not named `.{ending}`: `urlspool scan -o {text} PATH` \
                         writes a table; name it urls.db, or sqlite:{text} if it is one"
                    ))),
                    None => sqlite(text),
                },
            },
            Some(("postgresql" | "postgres", rest)) => postgres(text, rest),
            Some(("elasticsearch+http", rest)) => elasticsearch("http", rest),
            Some(("elasticsearch+https", rest)) => elasticsearch("https", rest),
            Some((scheme, _)) => Err(LoadError::unusable(format!(
                "`{scheme}://` is no target; write FILE, sqlite:FILE, \
                 postgresql://USER@HOST/DATABASE or elasticsearch+https://HOST:PORT/INDEX"
            ))),
        }
    }
}

/// Returns `true` for keywords with values, by which PostgreSQL's own programs name a database.
fn is_connection_text(text: &str) -> bool {
    const KEYWORDS: [&str; 6] = ["host", "hostaddr", "port", "dbname", "user", "service"];
    let is_keyword = |word: &str| {
        let keyword = word.split_once('=').map(|(keyword, _)| keyword);
        keyword.is_some_and(|keyword| KEYWORDS.contains(&keyword))
    };
    text.split_ascii_whitespace().any(is_keyword)
}

/// Returns the scheme of a name that begins like a URL. A single letter, or a name with a slash
/// before the colon, is no scheme.
fn unknown_scheme(text: &str) -> Option<&str> {
    let (scheme, _) = text.split_once(':')?;
    let is_scheme = 1 < scheme.len()
        && scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    is_scheme.then_some(scheme)
}

/// Returns the ending of a name if it is one of tables, which are written and not loaded.
fn table_ending(text: &str) -> Option<&'static str> {
    let (_, ending) = text.rsplit_once('.')?;
    ["csv", "tsv", "parquet"]
        .into_iter()
        .find(|table| ending.eq_ignore_ascii_case(table))
}

/// The target of the name of a `SQLite` file.
fn sqlite(path: &str) -> Result<TargetName, LoadError> {
    match path {
        "" | ":memory:" => Err(LoadError::unusable(
            "a database is a file; write its name, such as urls.db",
        )),
        path => Ok(TargetName::Sqlite(path.into())),
    }
}

/// Parses a time for which a server may be silent; `None` if it is not allowed.
fn connect_seconds(text: &str) -> Option<u8> {
    let seconds: u8 = text.parse().ok()?;
    (1..=LOAD_REPLY_SECONDS)
        .contains(&u64::from(seconds))
        .then_some(seconds)
}

/// The target of a `PostgreSQL` URL, whose part after the scheme is `rest`.
fn postgres(url: &str, rest: &str) -> Result<TargetName, LoadError> {
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    let login = authority.rsplit_once('@').map(|(login, _)| login);
    if login.is_some_and(|login| login.contains(':')) || rest.contains("password=") {
        return Err(has_password());
    }
    let parameters = rest
        .split_once('?')
        .map_or("", |(_, query)| query)
        .split('&');
    let timeouts: Vec<&str> = parameters
        .filter_map(|text| text.strip_prefix("connect_timeout="))
        .collect();
    if 1 < timeouts.len() || timeouts.iter().any(|text| connect_seconds(text).is_none()) {
        return Err(LoadError::unusable(format!(
            "the target has one ?connect_timeout=SECONDS at most, from 1 to {LOAD_REPLY_SECONDS}"
        )));
    }
    #[cfg(feature = "postgres")]
    return Ok(TargetName::Postgres(url.to_owned()));
    #[cfg(not(feature = "postgres"))]
    {
        let _ = url;
        Err(not_built("postgres"))
    }
}

/// The target of an Elasticsearch URL: a server, perhaps with a path, an index after the last
/// slash, and perhaps a parameter.
fn elasticsearch(scheme: &str, rest: &str) -> Result<TargetName, LoadError> {
    let (place, query) = match rest.split_once('?') {
        Some((place, query)) => (place, Some(query)),
        None => (rest, None),
    };
    let (server, index) = place.rsplit_once('/').ok_or_else(no_index)?;
    let (login, server) = match server.split_once('@') {
        Some((login, server)) if !login.contains('/') => (Some(login), server),
        _ => (None, server),
    };
    let user = login.map(user_of).transpose()?;
    let host = server.split('/').next().unwrap_or_default();
    // A password may have an `@` in it.
    if host.contains('@') {
        return Err(has_password());
    }
    if host.is_empty() || !is_index_name(index) {
        return Err(no_index());
    }
    let parameters = match query {
        Some(query) => IndexParameters::parse(scheme, query)?,
        None => IndexParameters::default(),
    };
    if parameters.password_file.is_some() && user.is_none() {
        return Err(LoadError::unusable(
            "passfile=FILE has the password of a user: elasticsearch+https://USER@HOST:PORT/INDEX",
        ));
    }
    #[cfg(feature = "elasticsearch")]
    return Ok(TargetName::Elasticsearch {
        server: IndexServer {
            url: format!("{scheme}://{server}"),
            user,
            password_file: parameters.password_file.map(decoded_path),
            client: parameters.client.map(|(certificate, key)| ClientFiles {
                certificate: decoded_path(certificate),
                key: decoded_path(key),
            }),
            root_file: parameters.root_file.map(decoded_path),
            connect_seconds: parameters.connect_seconds,
        },
        index: index.to_owned(),
    });
    #[cfg(not(feature = "elasticsearch"))]
    {
        let _ = (user, parameters.root_file, parameters.client);
        Err(not_built("elasticsearch"))
    }
}

/// Returns the user before the `@` of a server, with `%` and two digits for any byte.
///
/// # Errors
///
/// There is a password, or no user.
fn user_of(login: &str) -> Result<String, LoadError> {
    if login.contains(':') {
        return Err(has_password());
    }
    let user = String::from_utf8(decode(login.as_bytes())).unwrap_or_default();
    // A colon ends the user in what is sent (RFC 7617, section 2).
    if user.is_empty() || user.contains(|found: char| found == ':' || found.is_control()) {
        return Err(LoadError::unusable(
            "the user before the @ is empty, or has a character that no user can have; write `%` \
             and two digits for those that end it, such as %40 for @",
        ));
    }
    Ok(user)
}

fn no_index() -> LoadError {
    LoadError::unusable(
        "an index is named by lower-case letters, digits, `-`, `_` and `.`, after the server: \
         elasticsearch+https://HOST:PORT/INDEX",
    )
}

fn has_password() -> LoadError {
    LoadError::unusable(
        "a password in an argument is seen by every user of the machine; put it into the \
         environment (PGPASSWORD, ~/.pgpass, URLSPOOL_ELASTICSEARCH_PASSWORD, \
         URLSPOOL_ELASTICSEARCH_API_KEY)",
    )
}

#[cfg(not(all(feature = "postgres", feature = "elasticsearch")))]
fn not_built(feature: &str) -> LoadError {
    LoadError::unusable(format!(
        "this program was built without the feature `{feature}`; build it with `--features \
         {feature}`"
    ))
}

/// The parameters of an Elasticsearch URL.
struct IndexParameters<'q> {
    /// The file of authorities that it names; `None` if it names those of the machine.
    root_file: Option<&'q str>,
    password_file: Option<&'q str>,
    /// The files of a certificate and its key.
    client: Option<(&'q str, &'q str)>,
    connect_seconds: u8,
}

impl Default for IndexParameters<'_> {
    fn default() -> Self {
        IndexParameters {
            root_file: None,
            password_file: None,
            client: None,
            connect_seconds: LOAD_CONNECT_SECONDS as u8,
        }
    }
}

impl<'q> IndexParameters<'q> {
    /// Parses the part of a URL after the `?`. Each parameter stands there once.
    fn parse(scheme: &str, query: &'q str) -> Result<IndexParameters<'q>, LoadError> {
        let (mut root_file, mut connect_seconds) = (None, None);
        let (mut password_file, mut certificate, mut key) = (None, None, None);
        for parameter in query.split('&') {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            let unusable = || {
                LoadError::unusable(format!(
                    "`{name}` is no parameter of this target, or has no value that it can have; an \
                     index has ?connect_timeout=SECONDS, from 1 to {LOAD_REPLY_SECONDS}, \
                     passfile=FILE, and elasticsearch+https also sslrootcert=FILE, where FILE may \
                     be `system`, and sslcert=FILE with sslkey=FILE"
                ))
            };
            let file = match name {
                "passfile" => Some(&mut password_file),
                "sslrootcert" if scheme == "https" => Some(&mut root_file),
                "sslcert" if scheme == "https" => Some(&mut certificate),
                "sslkey" if scheme == "https" => Some(&mut key),
                _ => None,
            };
            match (name, file) {
                (_, Some(file)) if !value.is_empty() && file.is_none() => *file = Some(value),
                ("connect_timeout", None) if connect_seconds.is_none() => {
                    connect_seconds = Some(self::connect_seconds(value).ok_or_else(unusable)?);
                }
                _ => return Err(unusable()),
            }
        }
        let defaults = IndexParameters::default();
        let client = match (certificate, key) {
            (Some(certificate), Some(key)) => Some((certificate, key)),
            (None, None) => None,
            _ => {
                return Err(LoadError::unusable(
                    "sslcert=FILE and sslkey=FILE are given together: a certificate and its key",
                ));
            }
        };
        Ok(IndexParameters {
            password_file,
            client,
            root_file: root_file.filter(|file| *file != MACHINE_AUTHORITIES),
            connect_seconds: connect_seconds.unwrap_or(defaults.connect_seconds),
        })
    }
}

/// The value of `sslrootcert` that names the authorities of the machine, as for `PostgreSQL`'s own
/// programs. A file of this name is `./system`.
pub(super) const MACHINE_AUTHORITIES: &str = "system";

/// Maximum size of the name of an index, in bytes: servers accept 255, and the index of segments
/// has a longer name.
const INDEX_NAME_BYTES: usize = 240;

fn is_index_name(name: &str) -> bool {
    let is_allowed =
        |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | 0x80..);
    name.bytes().all(is_allowed)
        && name.len() <= INDEX_NAME_BYTES
        && name.starts_with(|first: char| first.is_alphanumeric())
        && name == name.to_lowercase()
}

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
    /// The password of the user that a target of Elasticsearch names
    /// (`URLSPOOL_ELASTICSEARCH_PASSWORD`).
    pub elasticsearch_password: Option<Secret>,
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
        not(any(feature = "audit", feature = "postgres", feature = "elasticsearch")),
        expect(dead_code, reason = "only servers ask for secrets")
    )]
    pub(crate) fn text(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Secret")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that a text names no target, for a reason with these words.
    #[track_caller]
    fn check_refused(text: &str, reason: &str) {
        let error = TargetName::parse(text).unwrap_err().to_string();
        assert!(error.contains(reason), "{text}: {error}");
    }

    #[test]
    fn a_path_is_a_file_of_sqlite() {
        for text in ["urls.db", "sqlite:urls.db"] {
            let found = TargetName::parse(text).unwrap();
            assert_eq!(found, TargetName::Sqlite("urls.db".into()));
        }
        for text in ["", "sqlite:", ":memory:", "sqlite::memory:"] {
            check_refused(text, "a database is a file");
        }
        check_refused("postgresql://me:pass@host/db", "a password in an argument");
        check_refused(
            "elasticsearch+https://me:pass@host/urls",
            "a password in an argument",
        );
        for query in [
            "connect_timeout=0",
            "connect_timeout=-1",
            "a=b&connect_timeout=61",
            "connect_timeout=1&connect_timeout=2",
        ] {
            check_refused(
                &format!("postgresql://host/db?{query}"),
                "?connect_timeout=SECONDS",
            );
        }
        check_refused("mysql://host/db", "`mysql://` is no target");
        check_refused("duckdb:x", "`duckdb:` is no target");
        for text in ["host=db dbname=urls", "dbname=urls", "user=me host=db"] {
            check_refused(text, "postgresql://USER@HOST/DATABASE");
        }
        for text in ["./duckdb:x", "C:urls.db", "a b=c.db"] {
            let found = TargetName::parse(text).unwrap();
            assert_eq!(found, TargetName::Sqlite(text.into()));
        }
        for text in ["duckdb:x", "host=db"] {
            let found = TargetName::parse(&format!("sqlite:{text}")).unwrap();
            assert_eq!(found, TargetName::Sqlite(text.into()));
        }
    }

    #[test]
    fn an_index_stands_after_the_last_slash() {
        for text in [
            "elasticsearch+http://host:9200",
            "elasticsearch+http://host:9200/",
            "elasticsearch+http:///urls",
            "elasticsearch+http://host/Urls",
            "elasticsearch+http://host/_all",
            "elasticsearch+http://host/urls*",
        ] {
            check_refused(text, "an index is named by");
        }
        #[cfg(feature = "elasticsearch")]
        assert_eq!(
            TargetName::parse("elasticsearch+https://host:9200/search/urls-1996").unwrap(),
            TargetName::Elasticsearch {
                server: IndexServer {
                    url: "https://host:9200/search".to_owned(),
                    user: None,
                    password_file: None,
                    client: None,
                    root_file: None,
                    connect_seconds: 30,
                },
                index: "urls-1996".to_owned()
            }
        );
    }

    #[test]
    fn a_user_of_an_index_has_no_password_in_the_target() {
        for text in [
            "elasticsearch+https://me:pass@host/urls",
            "elasticsearch+https://me:@host/urls",
            "elasticsearch+https://me:p@ss@host/urls",
            "elasticsearch+https://me@b:c@host/urls",
        ] {
            check_refused(text, "a password in an argument");
        }
        for text in [
            "elasticsearch+https://@host/urls",
            "elasticsearch+https://a%3Ab@host/urls",
            "elasticsearch+https://a%0A@host/urls",
        ] {
            check_refused(text, "the user before the @");
        }
        check_refused(
            "elasticsearch+https://host/urls?passfile=a",
            "passfile=FILE has",
        );
        for query in ["sslcert=a", "sslkey=a"] {
            let text = format!("elasticsearch+https://host/urls?{query}");
            check_refused(&text, "are given together");
        }
        check_refused(
            "elasticsearch+http://host/urls?sslcert=a&sslkey=b",
            "`sslcert` is no",
        );
        #[cfg(feature = "elasticsearch")]
        assert_eq!(
            TargetName::parse(
                "elasticsearch+https://m%40x@host/urls?passfile=p%20w&sslcert=c&sslkey=k"
            )
            .unwrap(),
            TargetName::Elasticsearch {
                server: IndexServer {
                    url: "https://host".to_owned(),
                    user: Some("m@x".to_owned()),
                    password_file: Some("p w".into()),
                    client: Some(ClientFiles {
                        certificate: "c".into(),
                        key: "k".into(),
                    }),
                    root_file: None,
                    connect_seconds: 30,
                },
                index: "urls".to_owned()
            }
        );
    }

    #[test]
    fn the_parameter_of_an_index_names_a_file_of_authorities() {
        for (text, name) in [
            ("elasticsearch+https://host/urls?pipeline=x", "pipeline"),
            ("elasticsearch+https://host/urls?", ""),
            (
                "elasticsearch+https://host/urls?sslrootcert=",
                "sslrootcert",
            ),
            (
                "elasticsearch+http://host/urls?sslrootcert=a.crt",
                "sslrootcert",
            ),
            ("elasticsearch+https://host/urls?sslrootcert=a&x=b", "x"),
            (
                "elasticsearch+http://host/urls?connect_timeout=0",
                "connect_timeout",
            ),
            (
                "elasticsearch+http://host/urls?connect_timeout=61",
                "connect_timeout",
            ),
            (
                "elasticsearch+http://host/urls?connect_timeout=1&connect_timeout=1",
                "connect_timeout",
            ),
            ("elasticsearch+https://host/urls?sslrootcert=a&", ""),
            (
                "elasticsearch+https://host/urls?sslrootcert=a&sslrootcert=b",
                "sslrootcert",
            ),
        ] {
            check_refused(text, &format!("`{name}` is no parameter"));
        }
        #[cfg(feature = "elasticsearch")]
        assert_eq!(
            TargetName::parse("elasticsearch+https://host/urls?sslrootcert=system").unwrap(),
            TargetName::parse("elasticsearch+https://host/urls").unwrap()
        );
        #[cfg(feature = "elasticsearch")]
        assert_eq!(
            TargetName::parse(
                "elasticsearch+https://host/urls?sslrootcert=/etc/a%20b.crt&connect_timeout=7"
            )
            .unwrap(),
            TargetName::Elasticsearch {
                server: IndexServer {
                    url: "https://host".to_owned(),
                    user: None,
                    password_file: None,
                    client: None,
                    root_file: Some("/etc/a b.crt".into()),
                    connect_seconds: 7,
                },
                index: "urls".to_owned()
            }
        );
    }
}
