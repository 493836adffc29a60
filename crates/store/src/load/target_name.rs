//! Names of targets: `urls.db`, `sqlite:urls.db`, `postgresql://user@host/db`,
//! `elasticsearch+https://host:9200/index`.
//!
//! Also credentials for servers. They come from the environment, never from arguments, and are
//! never shown.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use super::LoadError;
use super::decoded_path;
use urlspool_text::grammar::decode;
use urlspool_text::limits::{LOAD_CONNECT_SECONDS, LOAD_REPLY_SECONDS};

/// Database or index to load into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TargetName {
    /// A `SQLite` file.
    Sqlite(PathBuf),
    /// A `PostgreSQL` database, as a URL.
    Postgres(String),
    /// An index of an Elasticsearch or `OpenSearch` server.
    Elasticsearch {
        /// The server.
        server: IndexServer,
        /// Name of the index.
        index: String,
    },
}

/// An index server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexServer {
    /// Its URL, without a trailing slash.
    pub url: String,
    /// User whose password is in the environment or a file; `None` for an API key.
    pub user: Option<String>,
    /// Password file. If `None`, the password is taken from the environment.
    pub password_file: Option<PathBuf>,
    /// Certificate files that authenticate the client.
    pub client: Option<ClientFiles>,
    /// PEM file of trusted certificate authorities. If `None`, the system's authorities are
    /// trusted.
    pub root_file: Option<PathBuf>,
    /// Timeout in seconds for connecting, and for the answer to a cheap request.
    pub connect_seconds: u8,
}

/// A client certificate, as PEM files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientFiles {
    /// The certificate, optionally with its chain.
    pub certificate: PathBuf,
    /// Private key of the certificate.
    pub key: PathBuf,
}

impl TargetName {
    /// Parses a target name. A text without `://` and without a known prefix is the path of a
    /// `SQLite` file.
    ///
    /// # Errors
    ///
    /// The text names no file, the scheme is unknown, or the program was built without support for
    /// it.
    pub fn parse(text: &str) -> Result<TargetName, LoadError> {
        if let Some(path) = text.strip_prefix("sqlite:") {
            return sqlite(path);
        }
        let reason = match text.split_once("://") {
            Some(("postgresql" | "postgres", rest)) => return postgres(text, rest),
            Some(("elasticsearch+http", rest)) => return elasticsearch("http", rest),
            Some(("elasticsearch+https", rest)) => return elasticsearch("https", rest),
            Some((scheme, _)) => format!(
                "`{scheme}://` is not a target; write FILE, sqlite:FILE, \
                 postgresql://USER@HOST/DATABASE or elasticsearch+https://HOST:PORT/INDEX"
            ),
            None if is_connection_text(text) => {
                "a server is named by a URL: write postgresql://USER@HOST/DATABASE, with other \
                 parameters after a `?`; sqlite:FILE is a file of any name"
                    .to_owned()
            }
            None => match (unknown_scheme(text), table_ending(text)) {
                (Some(scheme), _) => format!(
                    "`{scheme}:` is not a target; write FILE, postgresql://USER@HOST/DATABASE or \
                     elasticsearch+https://HOST:PORT/INDEX; sqlite:FILE is a file of any name"
                ),
                (None, Some(ending)) => format!(
                    "`.{ending}` is not a database; write a table with `urlspool scan -o {text} \
                     PATH`, or name the database urls.db, or sqlite:{text}"
                ),
                (None, None) => return sqlite(text),
            },
        };
        Err(LoadError::unusable(reason))
    }
}

/// Returns `true` for `keyword=value` pairs, with which PostgreSQL's programs name a database.
fn is_connection_text(text: &str) -> bool {
    const KEYWORDS: [&str; 6] = ["host", "hostaddr", "port", "dbname", "user", "service"];
    let mut pairs = text
        .split_ascii_whitespace()
        .filter_map(|word| word.split_once('='));
    pairs.any(|(keyword, _)| KEYWORDS.contains(&keyword))
}

/// Returns the scheme if the name starts like a URL. A single letter, or a name with a slash before
/// the colon, is not a scheme.
fn unknown_scheme(text: &str) -> Option<&str> {
    let (scheme, _) = text.split_once(':')?;
    let mut chars = scheme.chars();
    let is_scheme = 1 < scheme.len()
        && scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && chars.all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    is_scheme.then_some(scheme)
}

/// Returns the extension if it belongs to a table format, which can be written but not loaded.
fn table_ending(text: &str) -> Option<&'static str> {
    let (_, ending) = text.rsplit_once('.')?;
    ["csv", "tsv", "parquet"]
        .into_iter()
        .find(|table| ending.eq_ignore_ascii_case(table))
}

/// Returns the target for a `SQLite` file name.
fn sqlite(path: &str) -> Result<TargetName, LoadError> {
    match path {
        "" | ":memory:" => Err(LoadError::unusable(
            "a database is a file; write its name, such as urls.db",
        )),
        path => Ok(TargetName::Sqlite(path.into())),
    }
}

/// Parses a server timeout; `None` if the value is not allowed.
fn connect_seconds(text: &str) -> Option<u8> {
    let seconds: u8 = text.parse().ok()?;
    (1..=LOAD_REPLY_SECONDS)
        .contains(&u64::from(seconds))
        .then_some(seconds)
}

/// Returns the target for a `PostgreSQL` URL, where `rest` is the part after the scheme.
fn postgres(url: &str, rest: &str) -> Result<TargetName, LoadError> {
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    let login = authority.rsplit_once('@').map(|(login, _)| login);
    if login.is_some_and(|login| login.contains(':')) || rest.contains("password=") {
        return Err(has_password());
    }
    let query = rest.split_once('?').map_or("", |(_, query)| query);
    let timeouts = query
        .split('&')
        .filter_map(|text| text.strip_prefix("connect_timeout="));
    let timeouts: Vec<&str> = timeouts.collect();
    if 1 < timeouts.len() || timeouts.iter().any(|text| connect_seconds(text).is_none()) {
        return Err(LoadError::unusable(format!(
            "the target takes one ?connect_timeout=SECONDS, from 1 to {LOAD_REPLY_SECONDS}"
        )));
    }
    if !cfg!(feature = "postgres") {
        return Err(not_built("postgres"));
    }
    Ok(TargetName::Postgres(url.to_owned()))
}

/// Returns the target for an Elasticsearch URL: a server, an optional path, the index after the
/// last slash, and optional parameters.
fn elasticsearch(scheme: &str, rest: &str) -> Result<TargetName, LoadError> {
    let (place, query) = rest
        .split_once('?')
        .map_or((rest, None), |(place, query)| (place, Some(query)));
    let (server, index) = place.rsplit_once('/').ok_or_else(no_index)?;
    let (login, server) = match server.split_once('@') {
        Some((login, server)) if !login.contains('/') => (Some(login), server),
        _ => (None, server),
    };
    let user = login.map(user_of).transpose()?;
    let host = server.split('/').next().unwrap_or_default();
    // A password may contain `@`.
    if host.contains('@') {
        return Err(has_password());
    }
    if host.is_empty() || !is_index_name(index) {
        return Err(no_index());
    }
    let given = query.map(|query| parameters(scheme, query)).transpose()?;
    let given = given.unwrap_or_default();
    let [password_file, root_file, certificate, key] =
        ["passfile", "sslrootcert", "sslcert", "sslkey"]
            .map(|name| given.get(name).map(|path| decoded_path(path)));
    if certificate.is_some() != key.is_some() {
        return Err(LoadError::unusable(
            "sslcert=FILE and sslkey=FILE must be used together: a certificate and its key",
        ));
    }
    if password_file.is_some() && user.is_none() {
        return Err(LoadError::unusable(
            "passfile=FILE has the password of a user: elasticsearch+https://USER@HOST:PORT/INDEX",
        ));
    }
    if !cfg!(feature = "elasticsearch") {
        return Err(not_built("elasticsearch"));
    }
    let seconds = given.get("connect_timeout").copied();
    let server = IndexServer {
        url: format!("{scheme}://{server}"),
        user,
        password_file,
        client: Option::zip(certificate, key)
            .map(|(certificate, key)| ClientFiles { certificate, key }),
        root_file: root_file.filter(|file| file.as_os_str() != MACHINE_AUTHORITIES),
        connect_seconds: seconds
            .and_then(connect_seconds)
            .unwrap_or(LOAD_CONNECT_SECONDS as u8),
    };
    let index = index.to_owned();
    Ok(TargetName::Elasticsearch { server, index })
}

/// Returns the user name before the `@`, in which `%` and two digits can represent any byte.
///
/// # Errors
///
/// The login contains a password, or the user name is empty or invalid.
fn user_of(login: &str) -> Result<String, LoadError> {
    if login.contains(':') {
        return Err(has_password());
    }
    let user = String::from_utf8(decode(login.as_bytes())).unwrap_or_default();
    // In the header that is sent, a colon ends the user name (RFC 7617, section 2).
    if user.is_empty() || user.contains(|found: char| found == ':' || found.is_control()) {
        return Err(LoadError::unusable(
            "the user before the @ is empty or has an invalid character; write special characters \
             as `%` and two digits, such as %40 for @",
        ));
    }
    Ok(user)
}

fn no_index() -> LoadError {
    LoadError::unusable(
        "an index name has lower-case letters, digits, `-`, `_` and `.`: \
         elasticsearch+https://HOST:PORT/INDEX",
    )
}

fn has_password() -> LoadError {
    LoadError::unusable(
        "every user of the machine can see a password in an argument; use PGPASSWORD, ~/.pgpass, \
         URLSPOOL_ELASTICSEARCH_PASSWORD or URLSPOOL_ELASTICSEARCH_API_KEY",
    )
}

fn not_built(feature: &str) -> LoadError {
    LoadError::unusable(format!(
        "this program was built without the feature `{feature}`; build it with `--features \
         {feature}`"
    ))
}

/// Parses the query of an Elasticsearch URL. Each parameter may occur once.
fn parameters<'q>(scheme: &str, query: &'q str) -> Result<BTreeMap<&'q str, &'q str>, LoadError> {
    let mut given = BTreeMap::new();
    for parameter in query.split('&') {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        let is_valid = match name {
            "passfile" => !value.is_empty(),
            "sslrootcert" | "sslcert" | "sslkey" => scheme == "https" && !value.is_empty(),
            "connect_timeout" => connect_seconds(value).is_some(),
            _ => false,
        };
        if !is_valid || given.insert(name, value).is_some() {
            return Err(LoadError::unusable(format!(
                "`{name}` is not a parameter of this target, or its value is invalid; an index \
                 takes ?connect_timeout=SECONDS, from 1 to {LOAD_REPLY_SECONDS}, passfile=FILE, \
                 and elasticsearch+https also sslrootcert=FILE (or `system`) and sslcert=FILE with \
                 sslkey=FILE"
            )));
        }
    }
    Ok(given)
}

/// The value of `sslrootcert` that selects the system's authorities, as in PostgreSQL's programs.
/// Write `./system` for a file of this name.
pub(super) const MACHINE_AUTHORITIES: &str = "system";

/// Maximum length of an index name, in bytes. Servers accept 255, and the index of segments has a
/// longer name.
const INDEX_NAME_BYTES: usize = 240;

fn is_index_name(name: &str) -> bool {
    name.bytes()
        .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | 0x80..))
        && name.len() <= INDEX_NAME_BYTES
        && name.starts_with(|first: char| first.is_alphanumeric())
        && name == name.to_lowercase()
}

/// Credentials that the caller found in the environment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Credentials {
    /// `PostgreSQL` password (`PGPASSWORD`).
    pub postgres_password: Option<Secret>,
    /// `PostgreSQL` password file (`~/.pgpass`), read if there is no password.
    pub postgres_password_file: Option<PathBuf>,
    /// Encoded Elasticsearch API key (`URLSPOOL_ELASTICSEARCH_API_KEY`).
    pub elasticsearch_api_key: Option<Secret>,
    /// Password of the user named in an Elasticsearch target (`URLSPOOL_ELASTICSEARCH_PASSWORD`).
    pub elasticsearch_password: Option<Secret>,
}

/// A text that is never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps `text`.
    #[must_use]
    pub fn new(text: String) -> Secret {
        Secret(text)
    }

    /// Returns the text.
    #[must_use]
    pub fn text(&self) -> &str {
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

    #[test]
    fn a_path_is_a_file_of_sqlite() {
        for text in ["urls.db", "./duckdb:x", "C:urls.db", "a b=c.db"] {
            let expected = TargetName::Sqlite(text.into());
            assert_eq!(TargetName::parse(text).unwrap(), expected);
        }
        for text in ["urls.db", "duckdb:x", "host=db"] {
            let found = TargetName::parse(&format!("sqlite:{text}")).unwrap();
            assert_eq!(found, TargetName::Sqlite(text.into()));
        }
    }

    #[test]
    fn text_that_names_no_target_is_refused_with_a_reason() {
        for (reason, names) in [
            (
                "a database is a file",
                &["", "sqlite:", ":memory:", "sqlite::memory:"][..],
            ),
            ("`mysql://` is not a target", &["mysql://host/db"]),
            ("`duckdb:` is not a target", &["duckdb:x"]),
            (
                "postgresql://USER@HOST/DATABASE",
                &["host=db dbname=urls", "dbname=urls", "user=me host=db"],
            ),
            (
                "a password in an argument",
                &["postgresql://me:pass@host/db"],
            ),
            (
                "?connect_timeout=SECONDS",
                &[
                    "postgresql://host/db?connect_timeout=0",
                    "postgresql://host/db?connect_timeout=-1",
                    "postgresql://host/db?a=b&connect_timeout=61",
                    "postgresql://host/db?connect_timeout=1&connect_timeout=2",
                ],
            ),
        ] {
            names.iter().for_each(|name| check_refused(name, reason));
        }
    }

    /// Checks that a text is refused as a target with this reason.
    #[track_caller]
    fn check_refused(text: &str, reason: &str) {
        let error = TargetName::parse(text).unwrap_err().to_string();
        assert!(error.contains(reason), "{text}: {error}");
    }

    #[test]
    fn the_name_of_an_index_is_refused_with_a_reason() {
        for (reason, names) in [
            (
                "an index name has",
                &[
                    "http://host:9200",
                    "http://host:9200/",
                    "http:///urls",
                    "http://host/Urls",
                    "http://host/_all",
                    "http://host/urls*",
                ][..],
            ),
            (
                "a password in an argument",
                &[
                    "https://me:pass@host/urls",
                    "https://me:@host/urls",
                    "https://me:p@ss@host/urls",
                    "https://me@b:c@host/urls",
                ],
            ),
            (
                "the user before the @",
                &[
                    "https://@host/urls",
                    "https://a%3Ab@host/urls",
                    "https://a%0A@host/urls",
                ],
            ),
            ("passfile=FILE has", &["https://host/urls?passfile=a"]),
            (
                "must be used together",
                &["https://host/urls?sslcert=a", "https://host/urls?sslkey=a"],
            ),
            ("`sslcert` is no", &["http://host/urls?sslcert=a&sslkey=b"]),
            (
                "`` is not a parameter",
                &["https://host/urls?", "https://host/urls?sslrootcert=a&"],
            ),
            (
                "`pipeline` is not a parameter",
                &["https://host/urls?sslrootcert=a&pipeline=x"],
            ),
            (
                "`sslrootcert` is not a parameter",
                &[
                    "https://host/urls?sslrootcert=",
                    "http://host/urls?sslrootcert=a.crt",
                    "https://host/urls?sslrootcert=a&sslrootcert=b",
                ],
            ),
            (
                "`connect_timeout` is not a parameter",
                &[
                    "http://host/urls?connect_timeout=0",
                    "http://host/urls?connect_timeout=61",
                    "http://host/urls?connect_timeout=1&connect_timeout=1",
                ],
            ),
        ] {
            for name in names {
                check_refused(&format!("elasticsearch+{name}"), reason);
            }
        }
    }

    #[test]
    #[cfg(feature = "elasticsearch")]
    fn the_index_is_between_the_last_slash_and_the_parameters() {
        let server = IndexServer {
            url: "https://host:9200/search".to_owned(),
            user: None,
            password_file: None,
            client: None,
            root_file: None,
            connect_seconds: 30,
        };
        let with_files = IndexServer {
            user: Some("m@x".to_owned()),
            password_file: Some("p w".into()),
            client: Some(ClientFiles {
                certificate: "c".into(),
                key: "k".into(),
            }),
            root_file: Some("/etc/a b.crt".into()),
            connect_seconds: 7,
            ..server.clone()
        };
        for (text, server) in [
            ("host:9200/search/urls-1996", server.clone()),
            ("host:9200/search/urls-1996?sslrootcert=system", server),
            (
                "m%40x@host:9200/search/urls-1996?passfile=p%20w&sslcert=c&sslkey=k&\
                 sslrootcert=/etc/a%20b.crt&connect_timeout=7",
                with_files,
            ),
        ] {
            let found = TargetName::parse(&format!("elasticsearch+https://{text}")).unwrap();
            let index = "urls-1996".to_owned();
            assert_eq!(found, TargetName::Elasticsearch { server, index });
        }
    }
}
