//! Messages that are gone from their mailboxes, with tombstones: single cases, with a simulated clock.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use urlspool::config::{Config, DedupeScope, Spool};
use urlspool::daemon::{DaemonEvent, SpoolReader, rebuild_state};

use super::lives::{LifeEvent, Lives};
use super::{mbox_message, message};
use crate::scene::{Folder, TestHost, done, when_unlocked};

/// A spool, and a daemon that watches it.
struct Scene {
    folder: Folder,
    config: Config,
    host: TestHost,
    daemon: Option<SpoolReader>,
    /// The modification time of the next file that is written, in seconds.
    clock: u64,
}

impl Scene {
    fn new() -> Scene {
        let folder = Folder::in_memory();
        let mut config = Config::default();
        config.output.dir = folder.path("out");
        config.output.tombstones = true;
        config.state.dir = folder.path("state");
        config.spool = vec![Spool {
            path: folder.path("spool"),
            kind: None,
            dedupe: DedupeScope::Mailbox,
        }];
        for name in ["new", "cur", "tmp"] {
            fs::create_dir_all(folder.path(format!("spool/md/{name}"))).unwrap();
        }
        Scene {
            folder,
            config,
            host: TestHost::default(),
            daemon: None,
            clock: 1_000_000_000,
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path(format!("spool/{name}"))
    }

    fn write(&mut self, name: &str, text: &str) {
        let mut file = fs::File::create(self.path(name)).unwrap();
        file.write_all(text.as_bytes()).unwrap();
        self.clock += 1;
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(self.clock))
            .unwrap();
    }

    fn remove(&self, name: &str) {
        fs::remove_file(self.path(name)).unwrap();
    }

    fn rename(&self, from: &str, to: &str) {
        fs::rename(self.path(from), self.path(to)).unwrap();
    }

    /// Lets the daemon scan once, after `seconds`.
    fn scan_after(&mut self, seconds: u64) {
        self.host.ms += seconds * 1_000;
        let mut daemon = match self.daemon.take() {
            Some(daemon) => daemon,
            None => {
                when_unlocked(|| SpoolReader::open(self.config.clone(), &mut self.host)).unwrap()
            }
        };
        daemon.handle(DaemonEvent::Overflow, self.host.time());
        daemon.work(&mut self.host).unwrap();
        self.daemon = Some(daemon);
    }

    /// Lets the daemon work until nothing is left to do, and stops it. Returns the lines about each message.
    fn settle(&mut self) -> Lives {
        self.scan_after(0);
        let mut daemon = self.daemon.take().unwrap();
        for _ in 0..400 {
            self.host.ms += 1_000;
            daemon.work(&mut self.host).unwrap();
            if daemon.is_done(self.host.time()) {
                break;
            }
        }
        assert!(
            daemon.is_done(self.host.time()),
            "{:?}",
            daemon.status(self.host.time())
        );
        daemon.close().unwrap();
        let lives = Lives::read(&[&self.config.output.dir]);
        assert_eq!(lives.check_order(), Ok(()));
        lives
    }

    /// Checks which messages are written and not gone, and how many `gone` lines there are.
    #[track_caller]
    fn check(&mut self, present: &[u64], gone: usize) -> Lives {
        let lives = self.settle();
        let found: BTreeSet<u64> = lives.present().into_iter().map(|(_, n)| n).collect();
        assert_eq!(found, present.iter().copied().collect());
        assert_eq!(lives.gone_digests.len(), gone, "{lives:?}");
        lives
    }
}

fn mbox(numbers: &[u64]) -> String {
    numbers.iter().map(|n| mbox_message(*n, 1)).collect()
}

fn gzip(text: &str) -> Vec<u8> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    writer.write_all(text.as_bytes()).unwrap();
    writer.finish().unwrap()
}

#[test]
fn a_deleted_message_is_gone_and_a_restored_one_is_written_again() {
    let mut scene = Scene::new();
    scene.write("md/new/1.M1.host", &message(1, 1));
    scene.write("md/new/2.M1.host", &message(2, 1));
    scene.check(&[1, 2], 0);
    scene.remove("md/new/1.M1.host");
    scene.check(&[2], 1);
    // The same name and size: the file is known, its message is not.
    scene.write("md/new/1.M1.host", &message(1, 1));
    let lives = scene.check(&[1, 2], 1);
    let mailbox = scene.path("md").display().to_string();
    assert_eq!(
        lives.events[&(mailbox, 1)],
        [LifeEvent::Written, LifeEvent::Gone, LifeEvent::Written]
    );
}

#[test]
fn a_message_without_urls_gives_no_line() {
    let mut scene = Scene::new();
    scene.write("md/new/1.M1.host", "Subject: x\n\nnothing\n");
    scene.check(&[], 0);
    scene.remove("md/new/1.M1.host");
    scene.check(&[], 0);
}

#[test]
fn a_renamed_file_holds_its_message() {
    let mut scene = Scene::new();
    scene.write("md/new/1.M1.host", &message(1, 1));
    scene.check(&[1], 0);
    scene.rename("md/new/1.M1.host", "md/cur/1.M1.host:2,S");
    scene.check(&[1], 0);
    // A server may give it another name, too.
    scene.rename("md/cur/1.M1.host:2,S", "md/cur/9.M9.host:2,RS");
    scene.check(&[1], 0);
}

#[test]
fn messages_that_are_expunged_from_an_mbox_are_gone() {
    let mut scene = Scene::new();
    scene.write("inbox", &mbox(&[1, 2, 3, 4]));
    scene.check(&[1, 2, 3, 4], 0);
    // In place.
    scene.write("inbox", &mbox(&[1, 3, 4]));
    scene.check(&[1, 3, 4], 1);
    // The last one, and by a rename.
    scene.write("inbox.new", &mbox(&[1, 3]));
    scene.rename("inbox.new", "inbox");
    scene.check(&[1, 3], 2);
    scene.write("inbox", "");
    scene.check(&[], 4);
    // Restored from a backup.
    scene.write("inbox", &mbox(&[1, 2, 3, 4]));
    scene.check(&[1, 2, 3, 4], 4);
    scene.remove("inbox");
    scene.check(&[], 8);
}

#[test]
fn a_rotated_mbox_holds_its_messages() {
    let mut scene = Scene::new();
    let text = mbox(&[1, 2]);
    scene.write("inbox", &text);
    scene.check(&[1, 2], 0);
    scene.rename("inbox", "inbox.1");
    scene.write("inbox", &mbox(&[3]));
    scene.check(&[1, 2, 3], 0);
    fs::write(scene.path("inbox.1.gz"), gzip(&text)).unwrap();
    scene.remove("inbox.1");
    scene.check(&[1, 2, 3], 0);
    // The old file is missing for a while before the new one appears.
    scene.remove("inbox.1.gz");
    scene.scan_after(0);
    scene.scan_after(30);
    fs::write(scene.path("inbox.2.gz"), gzip(&text)).unwrap();
    scene.check(&[1, 2, 3], 0);
    scene.remove("inbox.2.gz");
    scene.check(&[3], 2);
}

#[test]
fn a_message_is_gone_from_the_folder_that_it_leaves() {
    for (dedupe, gone) in [(DedupeScope::Mailbox, 1), (DedupeScope::Spool, 0)] {
        let mut scene = Scene::new();
        scene.config.spool[0].dedupe = dedupe;
        scene.write("a", &mbox(&[1, 2]));
        scene.write("b", &mbox(&[3]));
        scene.check(&[1, 2, 3], 0);
        // The removal is seen before the copy, and the other way round.
        scene.write("a", &mbox(&[2]));
        scene.scan_after(0);
        scene.scan_after(20);
        scene.write("b", &mbox(&[3, 1]));
        scene.check(&[1, 2, 3], gone);
        scene.write("a", &mbox(&[2, 1]));
        scene.scan_after(20);
        scene.write("b", &mbox(&[3]));
        scene.check(&[1, 2, 3], 2 * gone);
    }
}

#[test]
fn an_mbox_that_is_renamed_is_another_mailbox() {
    let mut scene = Scene::new();
    scene.write("inbox", &mbox(&[1, 2]));
    scene.check(&[1, 2], 0);
    scene.rename("inbox", "saved");
    let lives = scene.check(&[1, 2], 2);
    assert_eq!((lives.times_gone(1), lives.times_gone(2)), (1, 1));
    scene.rename("saved", "inbox");
    scene.check(&[1, 2], 4);
    scene.write("inbox", &mbox(&[2]));
    scene.check(&[2], 5);
}

#[test]
fn a_message_that_grew_is_gone_with_both_digests() {
    let mut scene = Scene::new();
    let whole = mbox(&[1]);
    let (start, rest) = whole.split_at(whole.find("and http").unwrap());
    scene.write("inbox", start);
    scene.check(&[1], 0);
    scene.write("inbox", &format!("{start}{rest}"));
    scene.check(&[1], 0);
    // Still so after a rewrite and in another file.
    scene.write("inbox.1", &mbox(&[2, 1]));
    scene.write("inbox", "");
    scene.check(&[1, 2], 0);
    scene.write("inbox.1", &mbox(&[2]));
    let lives = scene.check(&[2], 1);
    assert_eq!(lives.gone_digests, [2]);
    scene.write("inbox", &whole);
    scene.check(&[1, 2], 1);
}

#[test]
fn nothing_is_gone_from_an_absent_spool() {
    let mut scene = Scene::new();
    scene.write("md/new/1.M1.host", &message(1, 1));
    scene.write("inbox", &mbox(&[2]));
    scene.check(&[1, 2], 0);
    let (spool, away) = (scene.path(""), scene.folder.path("away"));
    fs::rename(&spool, &away).unwrap();
    scene.check(&[1, 2], 0);
    // The empty mount point.
    fs::create_dir(&spool).unwrap();
    scene.scan_after(3_600);
    scene.check(&[1, 2], 0);
    fs::remove_dir(&spool).unwrap();
    fs::rename(&away, &spool).unwrap();
    scene.check(&[1, 2], 0);
}

#[test]
fn a_mailbox_that_cannot_be_read_hides_messages() {
    let mut scene = Scene::new();
    scene.write("inbox", &mbox(&[1, 2]));
    scene.write("other", &mbox(&[3, 4]));
    scene.check(&[1, 2, 3, 4], 0);
    // A mail program holds its lock.
    scene.write("inbox", &mbox(&[2]));
    scene.write("inbox.lock", "");
    scene.write("other", &mbox(&[4]));
    for _ in 0..20 {
        scene.scan_after(100);
    }
    scene.daemon.take().unwrap().close().unwrap();
    let lives = Lives::read(&[&scene.config.output.dir]);
    assert_eq!((lives.times_gone(1), lives.times_gone(3)), (0, 1));
    scene.remove("inbox.lock");
    scene.check(&[2, 4], 2);
}

#[test]
fn a_mailbox_that_is_rewritten_slowly_under_its_lock_loses_nothing() {
    let mut scene = Scene::new();
    scene.write("inbox", &mbox(&[1, 2]));
    scene.check(&[1, 2], 0);
    // It is empty before the mail program writes it again.
    scene.write("inbox.lock", "");
    scene.write("inbox", "");
    for _ in 0..20 {
        scene.scan_after(100);
    }
    scene.write("inbox", &mbox(&[2]));
    scene.remove("inbox.lock");
    let lives = scene.check(&[2], 1);
    assert_eq!(lives.times_gone(2), 0);
    // All messages are removed, and the lock is released later.
    scene.write("inbox.lock", "");
    scene.write("inbox", "");
    scene.scan_after(100);
    scene.remove("inbox.lock");
    scene.check(&[], 2);
}

#[test]
fn messages_that_are_gone_before_a_rebuild_are_written_after_it() {
    let mut scene = Scene::new();
    scene.write("inbox", &mbox(&[1, 2, 3]));
    scene.check(&[1, 2, 3], 0);
    scene.write("inbox", &mbox(&[2, 3]));
    scene.check(&[2, 3], 1);
    scene.write("inbox", &mbox(&[3]));
    when_unlocked(|| rebuild_state(&scene.config, &mut scene.host)).unwrap();
    scene.check(&[3], 2);
    scene.write("inbox", &mbox(&[1, 2, 3]));
    scene.check(&[1, 2, 3], 2);
}

#[test]
fn messages_that_were_read_before_tombstones_are_learnt() {
    let mut scene = Scene::new();
    scene.config.output.tombstones = false;
    scene.write("inbox", &mbox(&[1, 2]));
    scene.write("md/new/3.M1.host", &message(3, 1));
    scene.check(&[1, 2, 3], 0);
    scene.config.output.tombstones = true;
    scene.check(&[1, 2, 3], 0);
    scene.write("inbox", &mbox(&[2]));
    scene.remove("md/new/3.M1.host");
    scene.check(&[2], 2);
    // Switched off, the state knows nothing of that any more.
    scene.config.output.tombstones = false;
    scene.write("inbox", "");
    scene.check(&[2], 2);
}

#[test]
fn the_database_follows_the_spool() {
    let mut scene = Scene::new();
    scene.write("md/new/1.M1.host", &message(1, 1));
    scene.write("inbox", &mbox(&[1, 2, 3]));
    scene.check(&[1, 2, 3], 0);
    let out = scene.config.output.dir.display().to_string();
    let database = scene.folder.path("urls.db");
    let into = database.display().to_string();
    let load = || {
        done(&["load", "--into", &into, &out]);
        let db = rusqlite::Connection::open(&database).unwrap();
        let sql = "SELECT urls.url, citations, count(*) FROM links JOIN urls ON urls.link=links.id
             GROUP BY links.id ORDER BY urls.url";
        let mut statement = db.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| {
            let citations: (i64, i64) = (row.get(1)?, row.get(2)?);
            assert_eq!(citations.0, citations.1);
            Ok(format!("{} {}", row.get::<_, String>(0)?, citations.0))
        });
        rows.unwrap().map(Result::unwrap).collect::<Vec<_>>()
    };
    let rows = |of: &[(u64, u64)]| -> Vec<String> {
        let parts = of.iter().flat_map(|row| [(row, "a"), (row, "b")]);
        parts
            .map(|((n, times), part)| format!("http://h.example/{n}-{part}.html {times}"))
            .collect()
    };
    assert_eq!(load(), rows(&[(1, 2), (2, 1), (3, 1)]));
    scene.write("inbox", &mbox(&[3]));
    scene.check(&[1, 3], 2);
    assert_eq!(load(), rows(&[(1, 1), (3, 1)]));
    scene.write("inbox", &mbox(&[2, 3]));
    scene.remove("md/new/1.M1.host");
    scene.check(&[2, 3], 3);
    assert_eq!(load(), rows(&[(2, 1), (3, 1)]));
}
