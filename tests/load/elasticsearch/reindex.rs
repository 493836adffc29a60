//! Versions of an index behind an alias: what a load creates, and `load --reindex`.

use serde_json::json;

use super::{count, gone, load, load_command, loaded, stored};
use crate::load::checking_server::{CheckingServer, Faults};
use crate::load::kept_segments::{end_of, follow, is_empty, wait_until};
use crate::load::segments::segment;
use crate::load::{MAIL, records};
use crate::scene::{Folder, lines};

/// The indexes of records, in order.
fn indexes(server: &CheckingServer) -> Vec<String> {
    let state = server.state();
    let names = state.documents.indexes.keys();
    names
        .filter(|name| !name.ends_with("-segments"))
        .cloned()
        .collect()
}

fn index_behind(server: &CheckingServer, name: &str) -> String {
    server.state().documents.index_of(name).to_owned()
}

#[test]
fn a_load_creates_the_first_version_behind_an_alias() {
    let (folder, server) = (Folder::new(), CheckingServer::start(1));
    loaded(&server, &[], &records(&folder, "a.mbox", MAIL));
    assert_eq!(indexes(&server), ["mail-v1"]);
    assert_eq!(index_behind(&server, "mail"), "mail-v1");
    assert_eq!(count(&server), 4);
    server.check();
}

#[test]
fn the_alias_moves_to_a_copy() {
    let (folder, server) = (Folder::new(), CheckingServer::start(1));
    let input = records(&folder, "a.mbox", MAIL);
    segment(&folder, 1, &input);
    let out = folder.path("out").display().to_string();
    loaded(&server, &[&out], b"");
    let before = stored(&server);
    let report = loaded(&server, &["--reindex"], b"");
    assert!(
        report.contains("mail leads to mail-v2 with 4 documents; mail-v1 has them too"),
        "{report}"
    );
    assert_eq!(index_behind(&server, "mail"), "mail-v2");
    assert_eq!(stored(&server), before);
    // The copy has what the segment brought, and takes more.
    let report = loaded(&server, &[&out], b"");
    assert!(report.contains("1 segment known before"), "{report}");
    loaded(&server, &[], gone(&lines(&input)[0]).as_bytes());
    assert_eq!(count(&server), 1);
    loaded(&server, &["--reindex"], b"");
    assert_eq!(indexes(&server), ["mail-v1", "mail-v2", "mail-v3"]);
    assert_eq!(count(&server), 1);
    server.check();
}

#[test]
fn an_index_of_the_name_itself_is_taken_over() {
    let (folder, server) = (Folder::new(), CheckingServer::start(1));
    let input = records(&folder, "a.mbox", MAIL);
    loaded(&server, &[], &input);
    // As version 0.1 made it.
    let mut state = server.state();
    let mut old = state.documents.indexes.remove("mail-v1").unwrap();
    old.forget_aliases();
    state.documents.indexes.insert("mail".to_owned(), old);
    drop(state);
    assert!(loaded(&server, &[], &input).contains("0 of them new"));
    assert_eq!(indexes(&server), ["mail"]);
    let report = loaded(&server, &["--reindex"], b"");
    assert!(
        report.contains("the index that was called mail is gone"),
        "{report}"
    );
    assert_eq!(indexes(&server), ["mail-v1"]);
    assert!(loaded(&server, &[], &input).contains("0 of them new"));
    assert_eq!(count(&server), 4);
    server.check();
}

#[test]
fn a_copy_that_is_not_whole_changes_nothing() {
    let (folder, server) = (Folder::new(), CheckingServer::start(1));
    loaded(&server, &[], &records(&folder, "a.mbox", MAIL));
    server.state().documents.loses_copies = true;
    let failed = load(&server, &["--reindex"], b"");
    assert_eq!(failed.status, Some(74), "{}", failed.stderr);
    assert!(
        failed
            .stderr
            .contains("mail-v1 has 4 documents, and its copy mail-v2 has 3"),
        "{}",
        failed.stderr
    );
    server.state().documents.copy_failures = json!([{"cause": {"reason": "a bad document"}}]);
    let failed = load(&server, &["--reindex"], b"");
    assert!(
        failed.stderr.contains("a bad document"),
        "{}",
        failed.stderr
    );
    assert_eq!(indexes(&server), ["mail-v1"]);
    assert_eq!(index_behind(&server, "mail"), "mail-v1");
    assert_eq!(count(&server), 4);
    assert!(
        server.state().documents.of("mail-segments").is_empty(),
        "the lock is left"
    );
    server.check();
}

#[test]
fn faults_leave_the_alias_at_a_whole_index() {
    let (folder, server) = (Folder::new(), CheckingServer::start(3));
    loaded(&server, &[], &records(&folder, "a.mbox", MAIL));
    let before = stored(&server);
    for _ in 0..20 {
        server.state().faults = Faults {
            refused_requests: 20,
            cut_connections: 20,
            ..Faults::default()
        };
        let _ = load(&server, &["--reindex"], b"");
        server.state().faults = Faults::default();
        server
            .state()
            .documents
            .indexes
            .get_mut("mail-segments")
            .unwrap()
            .documents
            .remove("lock");
        assert_eq!(stored(&server), before);
    }
    assert_ne!(
        index_behind(&server, "mail"),
        "mail-v1",
        "no copy succeeded"
    );
    server.check();
}

#[test]
fn what_cannot_be_copied_is_refused() {
    let (folder, server) = (Folder::new(), CheckingServer::start(1));
    let missing = load(&server, &["--reindex"], b"");
    assert_eq!(missing.status, Some(2), "{}", missing.stderr);
    assert!(
        missing.stderr.contains("a load creates it"),
        "{}",
        missing.stderr
    );
    for option in ["--follow", "--delete-segments", "--replace"] {
        let both = load(&server, &["--reindex", option], b"");
        assert_eq!(both.status, Some(2), "{}", both.stderr);
    }
    server
        .state()
        .documents
        .store("mail", "1", json!({"text": "a note"}));
    let other = load(&server, &["--reindex"], b"");
    assert_eq!(other.status, Some(2), "{}", other.stderr);
    assert!(
        other.stderr.contains("not created by `urlspool load`"),
        "{}",
        other.stderr
    );
    assert_eq!(indexes(&server), ["mail"]);
    let database = folder.path("urls.db").display().to_string();
    let tables = crate::scene::ended(
        &mut crate::scene::urlspool(["load", "--reindex", "--into", &database]),
        b"",
    );
    assert_eq!(tables.status, Some(2), "{}", tables.stderr);
    assert!(!folder.path("urls.db").exists());
}

#[test]
fn a_load_that_follows_goes_on_in_the_copy() {
    let (folder, server) = (Folder::new(), CheckingServer::start(1));
    segment(&folder, 1, &records(&folder, "a.mbox", MAIL));
    let child = follow(load_command(&server, &[]), &folder);
    let out = folder.path("out");
    wait_until("segment 1 is removed", || is_empty(&out));
    loaded(&server, &["--reindex"], b"");
    segment(&folder, 2, &records(&folder, "b.mbox", MAIL));
    wait_until("segment 2 is removed", || is_empty(&out));
    assert_eq!(index_behind(&server, "mail"), "mail-v2");
    assert_eq!(count(&server), 8);
    let pid = i32::try_from(child.id()).unwrap();
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert_eq!(end_of(child).status, Some(0));
    server.check();
}
