//! Reasons why a server cannot be used as it is.

use std::fmt;

use super::server_error::ServerError;

/// A server, or a database of one, that cannot be used as it is, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnusableServer {
    /// The URL of the server or the database.
    pub server: String,
    /// The reason.
    pub reason: UnusableServerReason,
}

/// The reason why a server cannot be used as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnusableServerReason {
    /// The parameters of the URL cannot be used.
    Parameters(String),
    /// The server is not trusted, or refuses the connection, and will not do otherwise later.
    Connection(String),
    /// This machine does not know the authority of the server's certificate: the error of TLS.
    UnknownAuthority(String),
    /// The server does not permit the request.
    NoPermission(ServerError),
    /// The server redirects: the user should name the other place.
    Redirect,
    /// The tables are those of another version of this program.
    TableVersion {
        /// The version of the tables.
        found: i64,
        /// The version that this program needs.
        needed: i64,
    },
    /// The database has a table or view of another program.
    OtherProgram {
        /// The name of the table or view, which is that of one of ours.
        table: String,
    },
}

impl fmt::Display for UnusableServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let server = &self.server;
        match &self.reason {
            UnusableServerReason::Parameters(reason) | UnusableServerReason::Connection(reason) => {
                write!(f, "{server}: {reason}")
            }
            UnusableServerReason::UnknownAuthority(reason) => write!(
                f,
                "{server}: {reason}; this machine does not know the authority of the server's certificate: name its file by \
                 ?sslrootcert=FILE after the index"
            ),
            UnusableServerReason::NoPermission(error) => write!(
                f,
                "{server}: {error}; a key with the right to write comes from URLSPOOL_ELASTICSEARCH_API_KEY"
            ),
            UnusableServerReason::Redirect => {
                write!(f, "{server} redirects to another place; name that place")
            }
            UnusableServerReason::TableVersion { found, needed } => write!(
                f,
                "{server} has tables of version {found}; this program needs version {needed}; load into a new database"
            ),
            UnusableServerReason::OtherProgram { table } => write!(
                f,
                "{server} has a table or view `{table}` of another program; load into a new database, or create a schema and name it in the \
                 target: ?options=-csearch_path%3DSCHEMA"
            ),
        }
    }
}

impl std::error::Error for UnusableServer {}
