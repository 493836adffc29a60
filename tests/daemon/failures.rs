//! Unreadable and missing files, truncated mailboxes, rebuilt state, with a simulated clock.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use urlspool_daemon::{DaemonEvent, DaemonHost, SpoolReader, Status, rebuild_state};
use urlspool_files::config::{Config, DedupeScope, Spool};
use urlspool_record::extract::Unique;

use super::{mbox_message, message, read_segments};
use crate::scene::{Folder, TestHost, assert_contains, scan, when_unlocked};

const DAY_MS: u64 = 86_400_000;

fn config(root: &Path, spools: &[PathBuf]) -> Config {
    let mut config = Config::default();
    config.output.dir = root.join("out");
    config.output.seal_interval = Duration::from_millis(1);
    config.state.dir = root.join("state");
    config.state.commit_interval = Duration::from_millis(1);
    let spool = |path: &PathBuf| Spool {
        path: path.clone(),
        kind: None,
        dedupe: DedupeScope::Mailbox,
    };
    config.spool = spools.iter().map(spool).collect();
    config
}

fn open(config: &Config, host: &mut dyn DaemonHost) -> SpoolReader {
    when_unlocked(|| SpoolReader::open(config.clone(), host)).unwrap()
}

/// Advances the clock by `ms` milliseconds and runs the daemon whenever it is due.
fn pass(daemon: &mut SpoolReader, host: &mut TestHost, ms: u64) -> Status {
    let end = host.ms + ms;
    while host.ms < end {
        let next = daemon.work(host).unwrap();
        host.ms = next.ms.clamp(host.ms + 1, end);
    }
    daemon.status(host.time())
}

/// Returns a file with readable metadata and unreadable content: one without permissions, or a
/// write-only kernel file for root, who is not bound by permissions.
fn unreadable_file(folder: &Folder) -> PathBuf {
    let path = folder.write("unreadable", "text");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o0)).unwrap();
    if fs::read(&path).is_err() {
        return path;
    }
    let buses = fs::read_dir("/sys/bus").expect("sysfs is mounted");
    buses
        .flatten()
        .map(|bus| bus.path().join("drivers_probe"))
        .find(|path| path.is_file())
        .expect("a bus has a file that can only be written")
}

#[test]
fn an_unreadable_file_delays_no_other_and_is_quarantined_after_a_day() {
    let folder = Folder::in_memory();
    let unreadable = unreadable_file(&folder);
    let spool = folder.path("spool");
    fs::create_dir_all(&spool).unwrap();
    let mut host = TestHost::default();
    let mut daemon = open(
        &config(folder.root(), &[unreadable.clone(), spool.clone()]),
        &mut host,
    );
    fs::write(spool.join("1"), message(1, 1)).unwrap();
    let status = pass(&mut daemon, &mut host, 60_000);
    // The other spool is read.
    assert_eq!(read_segments(&folder.path("out")).ids.len(), 2);
    assert_eq!((status.failing, status.quarantined), (1, 0), "{status:?}");
    let tries = |status: &Status| status.failures[0].tries;
    assert!((5..=7).contains(&tries(&status)), "{status:?}");
    let status = pass(&mut daemon, &mut host, 87_000_000);
    assert_eq!((status.failing, status.quarantined), (0, 1), "{status:?}");
    let name = unreadable.display().to_string();
    assert!(status.failures[0].path == name && status.failures[0].quarantined);
    assert_eq!(
        host.logged("Permission denied"),
        2,
        "once at the first failure, once at the quarantine: {:?}",
        host.log
    );
    assert!(status.metrics().contains("urlspool_quarantined_files 1\n"));
    let later = pass(&mut daemon, &mut host, 86_400_000);
    assert_eq!(tries(&later), tries(&status), "it is not retried");
}

/// Regression: after a restart, the wait began again. The ctime counts as rounded up to a second.
#[test]
fn a_file_settles_by_its_ctime_or_without_a_date_after_the_first_check() {
    for (has_date, settled_ms) in [(true, 3_000), (false, 5_000)] {
        let (folder, mut host) = (Folder::in_memory(), TestHost::default());
        let article = folder.write("spool/1", message(1, 1));
        let changed = u64::try_from(article.metadata().unwrap().ctime()).unwrap();
        host.unix_time = has_date.then_some(changed + 3);
        let mut daemon = open(&config(folder.root(), &[folder.path("spool")]), &mut host);
        let mut read_after = |ms| pass(&mut daemon, &mut host, ms).counts.messages_read;
        assert_eq!([read_after(settled_ms), read_after(100)], [0, 1]);
    }
}

/// Regression: each time the last message of an mbox had grown, all of them were counted again.
#[test]
fn filtered_urls_of_a_growing_message_are_counted_once() {
    let (folder, mut host) = (Folder::in_memory(), TestHost::default());
    let spool = folder.path("spool");
    fs::create_dir(&spool).unwrap();
    let mut config = config(folder.root(), std::slice::from_ref(&spool));
    config.extract.host = vec!["ok.example".to_owned()];
    let mut daemon = open(&config, &mut host);
    let mut text = "From a@b Thu Jan  1 00:00:00 2026\nFrom: a@b.example\n\n".to_owned();
    for n in 1..=3 {
        text += &format!("http://no.example/{n} http://ok.example/{n}\n");
        fs::write(spool.join("inbox"), &text).unwrap();
        daemon.handle(DaemonEvent::Overflow, host.time());
        let counts = pass(&mut daemon, &mut host, 60_000).counts;
        assert_eq!((counts.records, counts.filtered), (n, n));
    }
}

#[test]
fn duplicates_of_a_growing_message_are_counted_once() {
    let (folder, mut host) = (Folder::in_memory(), TestHost::default());
    let spool = folder.path("spool");
    fs::create_dir(&spool).unwrap();
    let mut config = config(folder.root(), std::slice::from_ref(&spool));
    config.extract.unique = Unique::Message;
    let mut daemon = open(&config, &mut host);
    let mut text = "From a@b Thu Jan  1 00:00:00 2026\nFrom: a@b.example\n\n".to_owned();
    for n in 1..=3 {
        text += &format!("http://a.example/{n} http://a.example/{n} http://a.example/{n}\n");
        fs::write(spool.join("inbox"), &text).unwrap();
        daemon.handle(DaemonEvent::Overflow, host.time());
        let counts = pass(&mut daemon, &mut host, 60_000).counts;
        assert_eq!((counts.records, counts.duplicates), (n, 2 * n));
    }
}

/// Advances the clock day by day, with a rescan on each day.
fn days(daemon: &mut SpoolReader, host: &mut TestHost, days: u64) -> Status {
    let mut status = daemon.status(host.time());
    for _ in 0..days {
        host.ms += DAY_MS;
        daemon.handle(DaemonEvent::Overflow, host.time());
        status = pass(daemon, host, 60_000);
    }
    status
}

/// Returns the number of rows of tables of the state. No daemon may hold it.
fn rows(root: &Path, tables: [&str; 3]) -> [i64; 3] {
    let db = rusqlite::Connection::open(root.join("state/state.db")).unwrap();
    tables.map(|table| {
        db.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| {
            row.get(0)
        })
        .unwrap()
    })
}

const TABLES: [&str; 3] = ["seen", "file", "mailbox"];

fn mbox(n: u64) -> String {
    mbox_message(n, 1)
}

/// Lets a daemon read two mboxes and a Maildir with three messages, two of them equal.
fn read_spool(root: &Path, host: &mut TestHost) -> (PathBuf, SpoolReader) {
    let spool = root.join("spool");
    for folder in ["md/new", "md/cur", "md/tmp"] {
        fs::create_dir_all(spool.join(folder)).unwrap();
    }
    fs::write(spool.join("a"), mbox(1) + &mbox(2)).unwrap();
    fs::write(spool.join("b"), mbox(3)).unwrap();
    for (name, n) in [("x", 4), ("y", 5), ("z", 5)] {
        fs::write(
            spool.join(format!("md/cur/{name}.M1.host:2,")),
            message(n, 1),
        )
        .unwrap();
    }
    let mut daemon = open(&config(root, std::slice::from_ref(&spool)), host);
    pass(&mut daemon, host, 60_000);
    assert_eq!(read_segments(&root.join("out")).ids.len(), 10);
    (spool, daemon)
}

#[test]
fn the_state_of_a_missing_file_is_purged_after_thirty_days() {
    let (folder, mut host) = (Folder::in_memory(), TestHost::default());
    let root = folder.root();
    let (spool, mut daemon) = read_spool(root, &mut host);
    let (mbox, mail) = (spool.join("a"), spool.join("md/cur/x.M1.host:2,"));
    let (old_mbox, old_mail) = (fs::read(&mbox).unwrap(), fs::read(&mail).unwrap());
    fs::remove_file(&mbox).unwrap();
    fs::remove_file(&mail).unwrap();
    fs::remove_file(spool.join("md/cur/y.M1.host:2,")).unwrap();
    days(&mut daemon, &mut host, 30);
    fs::write(&mbox, &old_mbox).unwrap();
    fs::write(&mail, &old_mail).unwrap();
    days(&mut daemon, &mut host, 1);
    // Both were restored from a backup.
    assert_eq!(read_segments(&root.join("out")).ids.len(), 10);

    fs::remove_file(&mbox).unwrap();
    fs::remove_file(&mail).unwrap();
    let status = days(&mut daemon, &mut host, 33);
    assert_contains(&status.metrics(), "urlspool_forgotten_total 9\n");
    daemon.close().unwrap();
    // One message of the Maildir was in two files and is still in one.
    assert_eq!(rows(root, TABLES), [2, 2, 2]);
    let mut daemon = open(&config(root, std::slice::from_ref(&spool)), &mut host);
    fs::rename(
        spool.join("md/cur/z.M1.host:2,"),
        spool.join("md/cur/w.M1.host:2,"),
    )
    .unwrap();
    fs::write(&mail, &old_mail).unwrap();
    pass(&mut daemon, &mut host, 60_000);
    // Only the purged message is new.
    assert_eq!(read_segments(&root.join("out")).ids.len(), 12);
}

#[test]
fn no_state_is_purged_when_a_mount_is_absent_or_the_clock_jumps() {
    let (folder, mut host) = (Folder::in_memory(), TestHost::default());
    let root = folder.root();
    let (spool, mut daemon) = read_spool(root, &mut host);
    let aside = root.join("aside");
    fs::rename(&spool, &aside).unwrap();
    for is_there in [false, true] {
        if is_there {
            fs::create_dir(&spool).unwrap();
        }
        let status = days(&mut daemon, &mut host, 40);
        assert!(!status.spools[0].present, "{is_there} {status:?}");
    }
    fs::remove_dir(&spool).unwrap();
    fs::rename(&aside, &spool).unwrap();
    let status = days(&mut daemon, &mut host, 2);
    assert!(status.spools[0].present, "{status:?}");
    daemon.close().unwrap();
    assert_eq!(rows(root, TABLES), [5, 5, 3]);

    // At most one day counts between two runs, even if the system clock jumps.
    fs::remove_file(spool.join("a")).unwrap();
    for year in 0..4 {
        let mut host = TestHost {
            unix_time: Some(1_000_000_000 + year * 31_536_000),
            ..TestHost::default()
        };
        let mut daemon = open(&config(root, std::slice::from_ref(&spool)), &mut host);
        for _ in 0..20 {
            daemon.work(&mut host).unwrap();
            host.ms += 1_000;
        }
        daemon.close().unwrap();
    }
    assert_eq!(rows(root, TABLES)[1], 5, "purged after four starts");
}

#[test]
fn a_rebuilt_state_has_the_read_positions() {
    let (folder, mut host) = (Folder::in_memory(), TestHost::default());
    let root = folder.root();
    let (spool, mut daemon) = read_spool(root, &mut host);
    // An incomplete message, ingested because its writer seems to have died.
    let whole = mbox(6);
    let (start, rest) = whole.split_at(whole.len() - 30);
    append(&spool.join("a"), start);
    days(&mut daemon, &mut host, 1);
    daemon.close().unwrap();
    let before = read_segments(&root.join("out")).ids.len();
    assert!(before > 10, "the incomplete message was ingested");

    let config = config(root, std::slice::from_ref(&spool));
    let mut rebuilt = || when_unlocked(|| rebuild_state(&config, &mut host)).unwrap();
    rebuilt();
    rebuilt();
    let mut daemon = open(&config, &mut host);
    let counts = pass(&mut daemon, &mut host, 60_000).counts;
    // No file is read again.
    assert_eq!([counts.files_read, counts.messages_read], [0, 0]);
    append(&spool.join("a"), rest);
    append(&spool.join("b"), &mbox(7));
    days(&mut daemon, &mut host, 1);
    daemon.close().unwrap();
    let written = read_segments(&root.join("out"));
    let whole: Vec<_> = written
        .urls
        .values()
        .copied()
        .chain(written.torn.iter().map(|_| 1))
        .collect();
    assert!(
        written.ids.len() >= before + 3 && whole.iter().all(|times| *times == 1),
        "{:?} {:?}",
        written.urls,
        written.torn
    );
    assert!(
        written.urls.contains_key("http://h.example/6-b.html"),
        "{:?}",
        written.urls
    );
}

#[test]
fn an_mbox_truncated_between_two_runs_is_reported_once() {
    let (folder, mut host) = (Folder::in_memory(), TestHost::default());
    let root = folder.root();
    let (spool, mut daemon) = read_spool(root, &mut host);
    let (inbox, report) = (spool.join("a"), "while the daemon was not watching");
    let long = |n: u64| format!("From a@b Mon Jan  1 00:00:00 1996\n{}\n", message(n, 40));
    // While the daemon runs, this is normal operation.
    fs::write(&inbox, long(6) + &long(7)).unwrap();
    days(&mut daemon, &mut host, 1);
    fs::write(&inbox, mbox(10)).unwrap();
    days(&mut daemon, &mut host, 1);
    append(&inbox, &(long(6) + &long(7)));
    days(&mut daemon, &mut host, 1);
    daemon.close().unwrap();
    assert_eq!(host.logged(report), 0, "{:?}", host.log);

    let again = |host: &mut TestHost| {
        let mut daemon = open(&config(root, std::slice::from_ref(&spool)), host);
        days(&mut daemon, host, 1);
        daemon.close().unwrap();
        host.logged(report)
    };
    fs::write(&inbox, mbox(10) + &long(6)).unwrap();
    // Its last message was deleted.
    assert_eq!(again(&mut host), 0, "{:?}", host.log);
    fs::write(&inbox, mbox(8)).unwrap();
    assert_eq!([again(&mut host), again(&mut host)], [1, 1]);
    fs::write(&inbox, "").unwrap();
    assert_eq!([again(&mut host), again(&mut host)], [2, 2]);
    append(&inbox, &mbox(9));
    assert_eq!(again(&mut host), 2, "{:?}", host.log);
    let written = read_segments(&root.join("out")).urls;
    assert!(
        (6..=10).all(|n| written[&format!("http://h.example/{n}-a.html")] == 1),
        "{written:?}"
    );
}

#[test]
fn an_mbox_without_blank_lines_that_grows_in_pieces_has_the_records_of_a_scan() {
    let text: String = (1..=6)
        .map(|n| mbox(n).replace("too\n\n", "too\n"))
        .collect();
    let ids = |record: &serde_json::Value| record["id"].as_str().unwrap().to_owned();
    let scanned: BTreeSet<String> = scan(&text, &[]).records.iter().map(ids).collect();
    assert_eq!(scanned.len(), 12);
    for bytes in [text.len(), 700, 97, 31] {
        let (folder, mut host) = (Folder::in_memory(), TestHost::default());
        let inbox = folder.write("spool/a", "");
        let spool = inbox.parent().unwrap().to_owned();
        let mut daemon = open(&config(folder.root(), &[spool]), &mut host);
        for piece in text.as_bytes().chunks(bytes) {
            append(&inbox, str::from_utf8(piece).unwrap());
            daemon.handle(DaemonEvent::Overflow, host.time());
            pass(&mut daemon, &mut host, 50);
        }
        days(&mut daemon, &mut host, 1);
        daemon.close().unwrap();
        let written = read_segments(&folder.path("out")).ids;
        assert_eq!(
            (written.len(), BTreeSet::from_iter(written)),
            (12, scanned.clone()),
            "{bytes}"
        );
    }
}

fn append(path: &Path, text: &str) {
    std::io::Write::write_all(
        &mut fs::OpenOptions::new().append(true).open(path).unwrap(),
        text.as_bytes(),
    )
    .unwrap();
}
