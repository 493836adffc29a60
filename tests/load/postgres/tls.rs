//! Connections by TLS. The certificates are made by `openssl`.

use std::fs;
use std::process::Command;

use super::server::PostgresServer;
use super::{loaded, refused};
use crate::load::{MAIL, records};
use crate::scene::Folder;

/// An authority, and the certificate of a server that it signed.
struct Authority {
    folder: Folder,
}

impl Authority {
    /// An authority whose server is named `localhost`; `None` if `openssl` is not installed.
    fn new() -> Option<Authority> {
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
            "req -x509 -newkey rsa:2048 -nodes -days 30 -subj /CN=authority -keyout root.key -out root.crt",
            "req -new -newkey rsa:2048 -nodes -subj /CN=localhost -keyout server.key -out server.csr",
            "x509 -req -in server.csr -CA root.crt -CAkey root.key -CAcreateserial -days 30 -extfile server.ext -out server.crt",
        ] {
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
        Some(Authority { folder })
    }

    fn root(&self) -> String {
        self.folder.path("root.crt").display().to_string()
    }

    /// A server that accepts connections by hosts only if they are encrypted.
    fn server(&self) -> Option<PostgresServer> {
        let file = |name: &str| fs::read(self.folder.path(name)).unwrap();
        let hosts = b"local all all trust\nhostssl all all all trust\n";
        let files = [
            ("server.crt", &*file("server.crt")),
            ("server.key", &*file("server.key")),
            ("pg_hba.conf", hosts),
        ];
        PostgresServer::start("ssl=on", &files)
    }
}

#[test]
fn connections_are_encrypted_and_certificates_checked_as_the_target_says() {
    let Some(authority) = Authority::new() else {
        return;
    };
    let Some(server) = authority.server() else {
        return;
    };
    let other = Authority::new().unwrap();
    let folder = Folder::new();
    let lines = records(&folder, "a.mbox", MAIL);
    let (root, wrong) = (authority.root(), other.root());
    let encrypted = [
        ("localhost", String::new()),
        ("localhost", "sslmode=prefer".to_owned()),
        ("127.0.0.1", "sslmode=require".to_owned()),
        // The authority is checked, the name is not.
        ("127.0.0.1", format!("sslmode=require&sslrootcert={root}")),
        (
            "localhost",
            format!("sslrootcert={root}&sslmode=verify-full&connect_timeout=9"),
        ),
    ];
    for (host, parameters) in encrypted {
        loaded(&server.target_at(host, &parameters), &lines);
    }
    loaded(&server.target(), &lines);
    assert_eq!(server.psql("SELECT count(*) FROM urls"), "4");
    let not_trusted = [
        ("localhost", "sslmode=verify-full".to_owned()),
        (
            "localhost",
            format!("sslmode=verify-full&sslrootcert={wrong}"),
        ),
        ("localhost", format!("sslmode=require&sslrootcert={wrong}")),
        (
            "127.0.0.1",
            format!("sslmode=verify-full&sslrootcert={root}"),
        ),
    ];
    for (host, parameters) in not_trusted {
        refused(
            &server.target_at(host, &parameters),
            &lines,
            "invalid peer certificate",
        );
    }
    refused(
        &server.target_at("localhost", "sslmode=disable"),
        &lines,
        "no encryption",
    );
    refused(
        &server.target_at("localhost", "sslmode=allow"),
        &lines,
        "`sslmode=allow`",
    );
    let missing = "sslmode=verify-full&sslrootcert=/no/such.crt";
    refused(
        &server.target_at("localhost", missing),
        &lines,
        "cannot read /no/such.crt",
    );
}

#[test]
fn a_server_without_tls_is_refused_if_it_is_required() {
    let Some(server) = PostgresServer::start("", &[]) else {
        return;
    };
    let folder = Folder::new();
    let lines = records(&folder, "a.mbox", MAIL);
    for mode in ["require", "verify-full"] {
        let target = server.target_at("localhost", &format!("sslmode={mode}"));
        refused(&target, &lines, "server does not support TLS");
    }
    for mode in ["prefer", "disable"] {
        loaded(
            &server.target_at("localhost", &format!("sslmode={mode}")),
            &lines,
        );
    }
}
