//! Logins: users with passwords, API keys and client certificates. No output contains a secret.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use data_encoding::BASE64;

use super::count;
use crate::load::checking_server::CheckingServer;
use crate::load::{MAIL, records};
use crate::scene::{Ended, Folder, ended, urlspool};

const PASSWORD: &str = "open:s€same @1";

/// Environment variables.
type Variables<'v> = &'v [(&'v str, &'v str)];

/// Returns the target with a user before the host.
fn with_user(target: &str, user: &str) -> String {
    target.replacen("://", &format!("://{user}@"), 1)
}

/// Loads, and checks that the output contains no secret.
#[track_caller]
fn load(target: &str, variables: Variables<'_>, input: &[u8]) -> Ended {
    let mut command = urlspool(["load", "-v", "--into", target]);
    command.envs(variables.iter().copied());
    let ended = ended(&mut command, input);
    let encoded = BASE64.encode(format!("jane:{PASSWORD}").as_bytes());
    for secret in [PASSWORD, "s€same", &encoded, "a-key-that-is-secret"] {
        let output = [&*ended.stdout, ended.stderr.as_bytes()].concat();
        let output = String::from_utf8_lossy(&output);
        assert!(!output.contains(secret), "{output}");
    }
    ended
}

#[track_caller]
fn refused(target: &str, variables: Variables<'_>, input: &[u8], reason: &str) {
    let ended = load(target, variables, input);
    ended.check(2, reason);
}

/// Starts a server for the user `jane`.
fn server_of_jane() -> CheckingServer {
    let server = CheckingServer::start(1);
    let encoded = BASE64.encode(format!("jane:{PASSWORD}").as_bytes());
    server.state().authorization = Some(format!("Basic {encoded}"));
    server
}

#[test]
fn a_password_comes_from_the_environment_or_a_file() {
    let (folder, server) = (Folder::new(), server_of_jane());
    let input = records(&folder, "a.mbox", MAIL);
    let target = with_user(&server.target("mail"), "jane");
    let given: Variables<'_> = &[
        ("URLSPOOL_ELASTICSEARCH_PASSWORD", PASSWORD),
        ("URLSPOOL_ELASTICSEARCH_API_KEY", "a-key-that-is-secret"),
    ];
    let done = load(&target, given, &input);
    assert_eq!(done.status, Some(0), "{}", done.stderr);
    let file = folder.file("password", format!("{PASSWORD}\r\nanother line\n"));
    let with_file = format!("{target}?passfile={file}");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    refused(&with_file, &[], &input, "chmod 600");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let done = load(&with_file, &[], &input);
    assert_eq!(done.status, Some(0), "{}", done.stderr);
    assert_eq!(count(&server), 4);
    server.check();
}

#[test]
fn no_secret_is_in_a_message() {
    let (folder, server) = (Folder::new(), server_of_jane());
    let input = records(&folder, "a.mbox", MAIL);
    let (plain, password) = (server.target("mail"), "URLSPOOL_ELASTICSEARCH_PASSWORD");
    let target = with_user(&plain, "jane");
    refused(
        &target,
        &[],
        &input,
        "there is no password for the user jane",
    );
    refused(&target, &[(password, "")], &input, "there is no password");
    refused(
        &with_user(&plain, "joan"),
        &[(password, PASSWORD)],
        &input,
        "missing credentials",
    );
    let key = ("URLSPOOL_ELASTICSEARCH_API_KEY", "a-key-that-is-secret");
    refused(&plain, &[key], &input, "missing credentials");
    let argument = with_user(&plain, &format!("jane:{PASSWORD}"));
    refused(&argument, &[], &input, "a password in an argument");
    for (name, text, reason) in [
        ("none", "", "has no password"),
        ("empty", "\nopen", "has no password"),
        ("long", &*"x".repeat(5_000), "more than 4096 bytes"),
    ] {
        let file = folder.file(name, text);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        refused(&format!("{target}?passfile={file}"), &[], &input, reason);
    }
    let missing = format!("{target}?passfile=/no/such");
    refused(
        &missing,
        &[(password, PASSWORD)],
        &input,
        "cannot read the password in /no/such",
    );
    server.state().is_away = true;
    let away = load(&target, &[(password, PASSWORD)], &input);
    assert_eq!(away.status, Some(69), "{}", away.stderr);
}
