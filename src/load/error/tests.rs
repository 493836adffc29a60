//! The messages of the errors.

use super::*;
use crate::record::{LineError, LineFault};

#[track_caller]
fn check(error: impl Into<LoadError>, message: &str) {
    assert_eq!(error.into().to_string(), message);
}

#[track_caller]
fn check_file(reason: UnusableFileReason, message: &str) {
    let file = "mail/urls".into();
    check(UnusableFile { file, reason }, message);
}

#[track_caller]
fn check_server(reason: UnusableServerReason, message: &str) {
    let server = "https://a.example".to_owned();
    check(UnusableServer { server, reason }, message);
}

fn stated_error() -> ServerError {
    ServerError::Stated {
        kind: "blocked".to_owned(),
        reason: "read-only".to_owned(),
    }
}

#[test]
fn files_that_cannot_be_used_are_named_with_the_way_out() {
    check_file(
        UnusableFileReason::Unreadable("denied".to_owned()),
        "cannot read mail/urls: denied; `urlspool load --into mail/urls` makes a database",
    );
    check_file(
        UnusableFileReason::LeftLog {
            log: "mail/urls-wal".into(),
        },
        "mail/urls-wal stands where the log of the new database mail/urls would be written and removed; move it away, or load into another file",
    );
    check_file(
        UnusableFileReason::Folder,
        "mail/urls is a folder; name a file, such as mail/urls/urls.db",
    );
    check_file(
        UnusableFileReason::NoRegularFile,
        "mail/urls is no regular file, which a database needs; name a new file",
    );
    check_file(
        UnusableFileReason::Empty,
        "mail/urls is empty; `urlspool load --into mail/urls` fills it",
    );
    check_file(
        UnusableFileReason::NoDatabase,
        "mail/urls is not a database of SQLite; name a new file, or one that was loaded",
    );
    check_file(
        UnusableFileReason::TableVersion {
            found: 7,
            needed: 1,
        },
        "mail/urls has tables of version 7; this program needs version 1; load into a new file",
    );
    check_file(
        UnusableFileReason::OtherProgram,
        "mail/urls is the database of another program; load into a new file",
    );
}

#[test]
fn servers_that_cannot_be_used_are_named_with_the_way_out() {
    check_server(
        UnusableServerReason::Parameters("bad port".to_owned()),
        "https://a.example: bad port",
    );
    check_server(
        UnusableServerReason::Connection("bad password".to_owned()),
        "https://a.example: bad password",
    );
    check_server(
        UnusableServerReason::UnknownAuthority("UnknownIssuer".to_owned()),
        "https://a.example: UnknownIssuer; this machine does not know the authority of the server's certificate: name its file by ?sslrootcert=FILE after the index",
    );
    check_server(
        UnusableServerReason::NoPermission(ServerError::Status(401)),
        "https://a.example: it answers with HTTP status 401; a key with the right to write comes from URLSPOOL_ELASTICSEARCH_API_KEY",
    );
    check_server(
        UnusableServerReason::Redirect,
        "https://a.example redirects to another place; name that place",
    );
    check_server(
        UnusableServerReason::TableVersion {
            found: 7,
            needed: 1,
        },
        "https://a.example has tables of version 7; this program needs version 1; load into a new database",
    );
    check_server(
        UnusableServerReason::OtherProgram {
            table: "urls".to_owned(),
        },
        "https://a.example has a table or view `urls` of another program; load into a new database, or create a schema and name it in the target: ?options=-csearch_path%3DSCHEMA",
    );
}

#[test]
fn inputs_and_indexes_that_cannot_be_used_are_named_with_the_way_out() {
    check(
        UnusableError::IndexVersion {
            index: "urls".to_owned(),
            found: 7,
            needed: 1,
        },
        "the index urls has version 7; this program needs version 1; load into a new index",
    );
    check(
        UnusableError::OtherIndex {
            index: "urls".to_owned(),
        },
        "the index urls was not created by `urlspool load`; load into a new index",
    );
    check(
        UnusableError::ReplacingSegment {
            input: "0000000001.jsonl".to_owned(),
        },
        "0000000001.jsonl is a segment, which holds only what was new in its files; --replace needs the whole scan of a file",
    );
    check(
        UnusableError::NoFolder,
        "--follow needs a folder of segments, and there is none among the paths",
    );
    check(
        UnusableError::InputIsTarget {
            file: "a.jsonl".into(),
        },
        "a.jsonl is both an input and the target; load into another file",
    );
    let error = LineError::NoRecord(LineFault::NoType);
    let message = format!("a.jsonl, line 3: {error}");
    let (input, line) = ("a.jsonl".to_owned(), 3);
    check(UnusableError::Record { input, line, error }, &message);
}

#[test]
fn contradictions_name_the_segment_and_its_sidecar() {
    let input = || "0000000001.jsonl".to_owned();
    check(
        InconsistentError::OtherSegment {
            input: input(),
            seq: 1,
            instance: "abc".to_owned(),
            epoch: 2,
            hash: "0f".to_owned(),
            loaded_hash: "f0".to_owned(),
        },
        "0000000001.jsonl: segment 1 of instance abc, epoch 2, has the hash 0f, but one with the hash f0 was loaded; the output of a restored state must be loaded into a new database",
    );
    for (omitted, effect) in [
        (OmittedStep::Load, "nothing of it was loaded"),
        (OmittedStep::Removal, "it was not removed"),
    ] {
        check(
            InconsistentError::Sidecar {
                input: input(),
                sidecar: "0000000001.meta".into(),
                omitted,
            },
            &format!(
                "0000000001.jsonl is not what its sidecar 0000000001.meta describes; {effect}"
            ),
        );
    }
}

#[test]
fn a_log_that_cannot_be_read_is_named_after_its_database() {
    check(
        LoadIoError::UnreadableLog {
            file: "urls.db".into(),
        },
        "urls.db has changes in urls.db-wal that can be read only by a user who may write in its folder; run this once as that user, or copy both files elsewhere",
    );
}

#[test]
fn the_error_of_a_server_has_its_kind_and_reason() {
    check(
        LoadIoError::Refused(stated_error()),
        "the server refuses: blocked: read-only",
    );
    check(
        UnreachableError::Busy {
            server: "https://a.example".to_owned(),
            error: stated_error(),
        },
        "https://a.example: blocked: read-only",
    );
    check(
        UnreachableError::BusyForDocuments(stated_error()),
        "blocked: read-only",
    );
}
