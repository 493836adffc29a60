//! `urlspool browse`: pages on which people look through a loaded database.
//!
//! The pages need no script and no outside resource, and none of their links leads to a URL of the
//! archive. `server.rs` speaks HTTP, `request.rs` reads requests, `selection.rs` asks the database,
//! `raw.rs` reads the files that were scanned, `answer.rs` finds the page of a request, and
//! `pages.rs` writes it.

mod answer;
mod pages;
mod raw;
mod request;
mod selection;
mod server;

use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};

use crate::load::{LoadError, open_to_read};
use crate::sink::random_bytes;

/// A database that is served.
#[derive(Debug)]
pub(crate) struct Browser {
    server: server::Server,
    address: SocketAddr,
    token: Option<String>,
}

/// The reason for which a database cannot be served.
#[derive(Debug)]
pub(crate) enum BrowseError {
    /// The database cannot be read.
    Database(LoadError),
    /// The address cannot be listened on.
    Listen(io::Error),
}

impl From<LoadError> for BrowseError {
    fn from(error: LoadError) -> BrowseError {
        BrowseError::Database(error)
    }
}

impl Browser {
    /// Opens the database at `path`, and listens on an address. On one that other machines reach,
    /// all pages are beneath a random token, and files are shown only below `files`, which is the
    /// folder of the database if it is not named.
    ///
    /// # Errors
    ///
    /// The database cannot be read, or the address cannot be listened on.
    pub(crate) fn open(
        path: &Path,
        files: Option<&Path>,
        listen: SocketAddr,
    ) -> Result<Browser, BrowseError> {
        // Before anything listens.
        drop(open_to_read(path)?);
        let token = if listen.ip().is_loopback() {
            None
        } else {
            Some(random_token().map_err(BrowseError::Listen)?)
        };
        let folder = path.parent().map(|folder| Path::new(".").join(folder));
        let files = files
            .map(PathBuf::from)
            .or(folder.filter(|_| token.is_some()));
        let path = PathBuf::from(path);
        let server = server::Server::bind(path, files, listen, token.clone());
        let server = server.map_err(BrowseError::Listen)?;
        let address = server.address().map_err(BrowseError::Listen)?;
        Ok(Browser {
            server,
            address,
            token,
        })
    }

    /// Returns the URL of the first page for a browser on this machine.
    #[must_use]
    pub(crate) fn url(&self) -> String {
        self.url_at(match self.address.ip() {
            // They stand for all addresses of this machine; no browser opens them.
            IpAddr::V4(Ipv4Addr::UNSPECIFIED) => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(Ipv6Addr::UNSPECIFIED) => Ipv6Addr::LOCALHOST.into(),
            ip => ip,
        })
    }

    /// Returns `true` if it listens on all addresses of this machine.
    #[must_use]
    pub(crate) fn is_on_all_addresses(&self) -> bool {
        self.address.ip().is_unspecified()
    }

    /// Returns the URL of the first page for a browser on another machine, if it listens on all
    /// addresses of this one and this one has an address in a network.
    #[must_use]
    pub(crate) fn url_elsewhere(&self) -> Option<String> {
        let ip =
            server::network_address(self.address.ip()).filter(|_| self.is_on_all_addresses())?;
        Some(self.url_at(ip))
    }

    fn url_at(&self, ip: IpAddr) -> String {
        let address = SocketAddr::new(ip, self.address.port());
        match &self.token {
            Some(token) => format!("http://{address}/{token}/"),
            None => format!("http://{address}/"),
        }
    }

    /// Serves pages until the process ends. `failed` receives errors of accepting clients.
    ///
    /// # Errors
    ///
    /// A thread cannot be started, or the database cannot be opened again.
    pub(crate) fn serve(self, failed: impl Fn(&io::Error)) -> Result<Infallible, BrowseError> {
        self.server.serve(failed)
    }
}

/// Returns 128 random bits as hexadecimal digits.
fn random_token() -> io::Result<String> {
    Ok(data_encoding::HEXLOWER.encode(&random_bytes::<16>()?))
}
