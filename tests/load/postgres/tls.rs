//! TLS connections.

use std::fs;

use super::server::PostgresServer;
use super::{loaded, refused};
use crate::load::authority::{Authority, NO_CERTIFICATE};
use crate::load::{MAIL, records};
use crate::scene::{Folder, ended, urlspool};

#[test]
fn connections_are_encrypted_and_certificates_checked_as_the_target_says() {
    let Some(authority) = Authority::new() else {
        return;
    };
    let Some(server) = encrypted_server(&authority) else {
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
    refused(
        &server.target_at("localhost", "sslmode=require&sslrootcert=system"),
        &lines,
        "needs `sslmode=verify-full`",
    );
    let no_certificate = folder.file("wrong.crt", NO_CERTIFICATE);
    refused(
        &server.target_at("localhost", &format!("sslrootcert={no_certificate}")),
        &lines,
        &format!("certificate 1 in {no_certificate} cannot be read"),
    );
    for parameters in ["sslmode=verify-full", "sslrootcert=system"] {
        let target = server.target_at("localhost", parameters);
        refused(&target, &lines, "invalid peer certificate");
        let mut command = urlspool(["load", "--into", &target]);
        let ended = ended(command.env("SSL_CERT_FILE", &root), &lines);
        assert_eq!(ended.status, Some(0), "{parameters}: {}", ended.stderr);
    }
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

/// Starts a server that accepts only TLS on TCP connections.
fn encrypted_server(authority: &Authority) -> Option<PostgresServer> {
    let file = |name: &str| fs::read(authority.file(name)).unwrap();
    let hosts = b"local all all trust\nhostssl all all all trust\n";
    let files = [
        ("server.crt", &*file("server.crt")),
        ("server.key", &*file("server.key")),
        ("pg_hba.conf", hosts),
    ];
    PostgresServer::start("ssl=on", &files)
}
