//! Certificate authorities for TLS connections, created with `openssl`.

use std::path::PathBuf;
use std::process::Command;

use crate::scene::Folder;

/// PEM block whose bytes are not a certificate.
pub(crate) const NO_CERTIFICATE: &str =
    "-----BEGIN CERTIFICATE-----\nbm8gY2VydGlmaWNhdGU=\n-----END CERTIFICATE-----\n";

/// An authority, and the server certificate that it signed.
pub(crate) struct Authority {
    folder: Folder,
}

impl Authority {
    /// Creates an authority for `localhost`, or returns `None` without `openssl`.
    pub(crate) fn new() -> Option<Authority> {
        if Command::new("openssl").arg("version").output().is_err() {
            eprintln!("SKIPPED: openssl is not installed");
            return None;
        }
        let folder = Folder::new();
        folder.write(
            "server.ext",
            "subjectAltName=DNS:localhost\nbasicConstraints=CA:FALSE\n",
        );
        for args in [
            "req -x509 -newkey rsa:2048 -nodes -days 30 -subj /CN=authority -keyout root.key -out \
             root.crt",
            "req -new -newkey rsa:2048 -nodes -subj /CN=localhost -keyout server.key -out \
             server.csr",
            "x509 -req -in server.csr -CA root.crt -CAkey root.key -CAcreateserial -days 30 \
             -extfile server.ext -out server.crt",
        ] {
            run_openssl(&folder, args);
        }
        Some(Authority { folder })
    }

    /// Returns the path of the authority's certificate.
    pub(crate) fn root(&self) -> String {
        self.folder.path("root.crt").display().to_string()
    }

    /// Returns the path of a file: `server.crt`, `server.key`.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.path(name)
    }
}

fn run_openssl(folder: &Folder, args: &str) {
    let made = Command::new("openssl")
        .args(args.split(' '))
        .current_dir(folder.root())
        .output()
        .unwrap();
    assert!(
        made.status.success(),
        "{}",
        String::from_utf8_lossy(&made.stderr)
    );
}
