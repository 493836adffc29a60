//! TLS connections to the checking server.

use std::fs;

use super::count;
use crate::load::authority::{Authority, NO_CERTIFICATE};
use crate::load::checking_server::{API_KEY, CheckingServer};
use crate::load::{MAIL, records};
use crate::scene::{Ended, Folder, ended, urlspool};

fn load_into(target: &str, input: &[u8]) -> Ended {
    let mut command = urlspool(["load", "--into", target]);
    ended(
        command.env("URLSPOOL_ELASTICSEARCH_API_KEY", API_KEY),
        input,
    )
}

#[track_caller]
fn refused(target: &str, input: &[u8], reason: &str) {
    let ended = load_into(target, input);
    assert_eq!(ended.status, Some(2), "{target}: {}", ended.stderr);
    assert!(ended.stderr.contains(reason), "{target}: {}", ended.stderr);
}

#[test]
fn the_authority_of_the_server_must_be_the_named_one() {
    let (Some(authority), Some(other)) = (Authority::new(), Authority::new()) else {
        return;
    };
    let (folder, server) = (
        Folder::new(),
        CheckingServer::start_encrypted(1, &authority),
    );
    let input = records(&folder, "a.mbox", MAIL);
    let target = server.target("mail");
    let named = |root: &str| format!("{target}?sslrootcert={root}");
    // No system authority has signed the server's certificate.
    refused(&target, &input, "invalid peer certificate");
    refused(&target, &input, "?sslrootcert=FILE");
    let by_address = named(&authority.root()).replace("localhost", "127.0.0.1");
    for target in [named(&other.root()), by_address] {
        refused(&target, &input, "invalid peer certificate");
        let ended = load_into(&target, &input);
        assert!(!ended.stderr.contains("=FILE"), "{}", ended.stderr);
    }
    refused(&named("/no/such.crt"), &input, "cannot read /no/such.crt");
    let empty = folder.file("empty.crt", "");
    refused(&named(&empty), &input, "has no certificates of authorities");
    let wrong = folder.file("wrong.crt", NO_CERTIFICATE);
    refused(
        &named(&wrong),
        &input,
        &format!("certificate 1 in {wrong} cannot be read"),
    );
    let mixed = fs::read_to_string(authority.root()).unwrap() + NO_CERTIFICATE;
    let mixed = folder.file("mixed.crt", mixed);
    refused(
        &named(&mixed),
        &input,
        &format!("certificate 2 in {mixed} cannot be read"),
    );
    // No request reached an untrusted server.
    assert_eq!(server.state().requests, 0);
    let ended = load_into(&named(&authority.root()), &input);
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    assert_eq!(count(&server), 4);
    server.check();
}
