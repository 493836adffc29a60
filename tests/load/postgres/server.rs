//! A `PostgreSQL` server on a socket in a temporary folder and on a local port.

use std::ffi::OsStr;
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::scene::Folder;

/// A server that runs until it is dropped.
pub(super) struct PostgresServer {
    folder: Folder,
    programs: PathBuf,
    port: u16,
}

/// Returns the folder of `initdb` if it is installed.
fn programs() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").ok()?.flatten();
    let mut folders: Vec<_> = versions
        .map(|version| version.path().join("bin"))
        .filter(|folder| folder.join("initdb").is_file())
        .collect();
    folders.sort();
    folders.pop()
}

/// Runs a program in `folder` as the folder's owner, because the server refuses to run as root.
#[track_caller]
fn run(folder: &Path, command: &mut Command) -> String {
    if rustix::process::geteuid().is_root() {
        let owner = fs::metadata(folder).unwrap();
        command.uid(owner.uid()).gid(owner.gid());
    }
    let output = command.current_dir(folder).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(
        output.status.success(),
        "{command:?}: {}",
        text(&output.stderr)
    );
    text(&output.stdout)
}

/// Returns the user and group `postgres`, or `nobody`.
fn unprivileged() -> (u32, u32) {
    let users = fs::read_to_string("/etc/passwd").unwrap();
    let find = |name: &str| {
        let line = users
            .lines()
            .find(|line| line.split(':').next() == Some(name))?;
        let mut numbers = line
            .split(':')
            .skip(2)
            .map(|number| number.parse().unwrap());
        Some((numbers.next()?, numbers.next()?))
    };
    find("postgres").or_else(|| find("nobody")).unwrap()
}

impl PostgresServer {
    /// Starts a server with these lines in its configuration, or returns `None` if PostgreSQL is
    /// not installed. The server asks for no password on the socket or, if it has TLS, on TLS
    /// connections.
    pub(super) fn start(configuration: &str, files: &[(&str, &[u8])]) -> Option<PostgresServer> {
        let Some(programs) = programs() else {
            eprintln!("SKIPPED: PostgreSQL is not installed");
            return None;
        };
        let folder = Folder::new();
        if rustix::process::geteuid().is_root() {
            let (user, group) = unprivileged();
            chown(folder.root(), Some(user), Some(group)).unwrap();
        }
        let port = TcpListener::bind("localhost:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let server = PostgresServer {
            folder,
            programs,
            port,
        };
        server.program(
            "initdb",
            ["-D", "data", "-A", "trust", "-E", "UTF8", "-U", "u", "-N"],
        );
        for (name, bytes) in files {
            // Other users must not be able to read keys.
            let path = server.folder.write(format!("data/{name}"), bytes);
            let owner = fs::metadata(server.folder.root()).unwrap();
            chown(&path, Some(owner.uid()), Some(owner.gid())).unwrap();
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
            fs::set_permissions(&path, mode).unwrap();
        }
        let settings = format!(
            "{configuration}\nlisten_addresses='localhost'\nport={port}\n\
             unix_socket_directories='{}'\nfsync=off\n",
            server.folder.root().display()
        );
        let path = server.folder.path("data/postgresql.conf");
        fs::write(&path, fs::read_to_string(&path).unwrap() + &settings).unwrap();
        server.program("pg_ctl", ["-D", "data", "-w", "-l", "log", "start"]);
        Some(server)
    }

    #[track_caller]
    fn program<A: AsRef<OsStr>>(&self, name: &str, args: impl IntoIterator<Item = A>) -> String {
        run(
            self.folder.root(),
            Command::new(self.programs.join(name)).args(args),
        )
    }

    /// Returns the process id of the server.
    pub(super) fn pid(&self) -> String {
        let file = fs::read_to_string(self.folder.path("data/postmaster.pid")).unwrap();
        file.lines().next().unwrap().to_owned()
    }

    /// Returns the target on the socket.
    pub(super) fn target(&self) -> String {
        let (folder, port) = (self.folder.root().display(), self.port);
        format!("postgresql:///postgres?host={folder}&port={port}&user=u")
    }

    /// Returns the target on a host, with these parameters.
    pub(super) fn target_at(&self, host: &str, parameters: &str) -> String {
        format!("postgresql://u@{host}:{}/postgres?{parameters}", self.port)
    }

    /// Runs statements, and returns the output of psql.
    #[track_caller]
    pub(super) fn psql(&self, sql: &str) -> String {
        let folder = self.folder.root().display().to_string();
        let port = self.port.to_string();
        let args = [
            "-XAtq",
            "-v",
            "ON_ERROR_STOP=1",
            "-h",
            &folder,
            "-p",
            &port,
            "-U",
            "u",
            "-d",
            "postgres",
            "-c",
            sql,
        ];
        self.program("psql", args).trim().to_owned()
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        self.program("pg_ctl", ["-D", "data", "-m", "immediate", "stop"]);
    }
}
