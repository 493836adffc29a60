//! Sockets in the file system: bound for owner and group, removed when the daemon ends.

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

/// The name of a bound socket. It is removed when this is dropped, unless another socket has taken its place. As long as the
/// socket listens, no other has its inode number.
#[derive(Debug)]
pub(super) struct SocketFile {
    path: PathBuf,
    dev: u64,
    ino: u64,
}

/// A socket that listens, and its name.
pub(super) struct BoundSocket {
    pub(super) listener: UnixListener,
    pub(super) file: SocketFile,
}

impl BoundSocket {
    /// Creates a socket for the owner and the group, as far as the umask allows. Replaces one at which nobody listens.
    ///
    /// # Errors
    ///
    /// The error of the system; `EADDRINUSE` if another process listens there.
    pub(super) fn bind(path: &Path) -> io::Result<BoundSocket> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        if UnixStream::connect(path).is_err() && fs::symlink_metadata(path).is_ok() {
            fs::remove_file(path)?;
        }
        let listener = UnixListener::bind(path)?;
        let metadata = fs::symlink_metadata(path)?;
        let file = SocketFile {
            path: path.to_owned(),
            dev: metadata.dev(),
            ino: metadata.ino(),
        };
        // The group needs the right to write, or it cannot connect. The umask of a daemon removes it from the bound socket.
        let group = (metadata.mode() & 0o040) >> 1;
        fs::set_permissions(
            path,
            fs::Permissions::from_mode(metadata.mode() & 0o640 | group),
        )?;
        Ok(BoundSocket { listener, file })
    }
}

impl SocketFile {
    /// The path of the socket.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        let is_own = fs::symlink_metadata(&self.path)
            .is_ok_and(|found| found.dev() == self.dev && found.ino() == self.ino);
        if is_own {
            // Nobody listens there any more, so the next start replaces a name that cannot be removed.
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_is_removed_by_its_owner_only() {
        let path = std::env::temp_dir().join(format!("urlspool-socket-{}", std::process::id()));
        let bound = BoundSocket::bind(&path).unwrap();
        assert_eq!(path.metadata().unwrap().mode() & 0o117, 0);
        let taken = BoundSocket::bind(&path).err().unwrap();
        assert_eq!(taken.kind(), io::ErrorKind::AddrInUse);
        fs::remove_file(&path).unwrap();
        let next = BoundSocket::bind(&path).unwrap();
        drop(bound.file);
        assert!(path.exists(), "the socket of the next daemon");
        drop(next.file);
        assert!(!path.exists());
        drop(bound.listener);
    }
}
