//! Tombstones: messages that disappear from their mailboxes, with a simulated clock.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use urlspool_daemon::{DaemonEvent, SpoolReader, Status, rebuild_state};
use urlspool_files::config::{Config, DedupeScope, Spool};

use super::lives::{LifeEvent, Lives};
use super::{mbox_message, message};
use crate::scene::{Folder, TestHost, done, when_unlocked};

/// A spool, and a daemon that watches it.
pub(super) struct Scene {
    pub(super) folder: Folder,
    pub(super) config: Config,
    pub(super) host: TestHost,
    pub(super) daemon: Option<SpoolReader>,
    /// Modification time of the next written file, in seconds.
    clock: u64,
}

impl Scene {
    pub(super) fn new() -> Scene {
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

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path(format!("spool/{name}"))
    }

    pub(super) fn write(&mut self, name: &str, text: &str) {
        let mut file = fs::File::create(self.path(name)).unwrap();
        file.write_all(text.as_bytes()).unwrap();
        self.clock += 1;
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(self.clock))
            .unwrap();
    }

    pub(super) fn remove(&self, name: &str) {
        fs::remove_file(self.path(name)).unwrap();
    }

    pub(super) fn rename(&self, from: &str, to: &str) {
        fs::rename(self.path(from), self.path(to)).unwrap();
    }

    /// Lets the daemon scan once, after `seconds`.
    pub(super) fn scan_after(&mut self, seconds: u64) {
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

    /// Lets the daemon finish all its work, and stops it.
    pub(super) fn work(&mut self) {
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
    }

    /// Lets the daemon work. Returns the lines about each message.
    pub(super) fn settle(&mut self) -> Lives {
        self.work();
        let lives = Lives::read(&[&self.config.output.dir]);
        assert_eq!(lives.check_order(), Ok(()));
        lives
    }

    /// Checks which messages are written and not gone, and the number of `gone` lines.
    #[track_caller]
    pub(super) fn check(&mut self, present: &[u64], gone: usize) -> Lives {
        let lives = self.settle();
        let found: BTreeSet<u64> = lives.present().into_iter().map(|(_, n)| n).collect();
        assert_eq!(found, present.iter().copied().collect());
        assert_eq!(lives.gone_digests.len(), gone, "{lives:?}");
        lives
    }
}

pub(super) fn mbox(numbers: &[u64]) -> String {
    numbers.iter().map(|n| mbox_message(*n, 1)).collect()
}

#[test]
fn a_deleted_message_is_gone_and_a_restored_one_is_written_again() {
    let mut scene = Scene::new();
    scene.write("md/new/1.M1.host", &message(1, 1));
    scene.write("md/new/2.M1.host", &message(2, 1));
    scene.check(&[1, 2], 0);
    scene.remove("md/new/1.M1.host");
    scene.check(&[2], 1);
    // Name and size are the same: the file is known, its message is not.
    scene.write("md/new/1.M1.host", &message(1, 1));
    let lives = scene.check(&[1, 2], 1);
    let mailbox = scene.path("md").display().to_string();
    assert_eq!(
        lives.events[&(mailbox, 1)],
        [LifeEvent::Written, LifeEvent::Gone, LifeEvent::Written]
    );
}

#[test]
fn an_mbox_in_a_maildir_is_read_once() {
    let mut scene = Scene::new();
    scene.write("md/new/1.M1.host", &message(1, 1));
    scene.write("md/new/2.M1.host", &mbox(&[2, 3]));
    scene.check(&[1, 2, 3], 0);
    scene.remove("md/new/1.M1.host");
    scene.check(&[2, 3], 1);
    scene.remove("md/new/2.M1.host");
    scene.check(&[], 3);
}

#[test]
fn messages_that_are_expunged_from_an_mbox_are_gone() {
    let mut scene = Scene::new();
    scene.write("inbox", &mbox(&[1, 2, 3, 4]));
    scene.check(&[1, 2, 3, 4], 0);
    // Rewritten in place.
    scene.write("inbox", &mbox(&[1, 3, 4]));
    scene.check(&[1, 3, 4], 1);
    // The last message, removed by a rename.
    scene.write("inbox.new", &mbox(&[1, 3]));
    scene.rename("inbox.new", "inbox");
    scene.check(&[1, 3], 2);
    scene.write("inbox", "");
    scene.check(&[], 4);
    // Restored from a backup.
    scene.write("inbox", &mbox(&[1, 2, 3, 4]));
    scene.check(&[1, 2, 3, 4], 4);
    // An empty folder may be the mount point of an unmounted disk.
    fs::remove_dir_all(scene.path("md")).unwrap();
    scene.remove("inbox");
    scene.check(&[1, 2, 3, 4], 4);
    scene.write("other", "");
    scene.check(&[], 8);
}

#[test]
fn a_message_whose_notification_was_lost_is_written() {
    let mut scene = Scene::new();
    scene.scan_after(0);
    scene.write("md/new/1.M1.host", &message(1, 1));
    scene.scan_after(1);
    scene.daemon.take().unwrap().close().unwrap();
    let lives = Lives::read(&[&scene.config.output.dir]);
    assert_eq!(lives.times_written(1), 1);
}

/// File systems on disks reuse inodes at once, but file systems in memory do not.
#[test]
fn a_new_file_with_a_reused_inode_is_another_file() {
    let mut scene = Scene::new();
    scene.config.output.tombstones = false;
    let spool = Folder::below(Path::new(env!("CARGO_TARGET_TMPDIR")));
    scene.config.spool[0].path = spool.root().to_owned();
    let numbers = 100..160;
    for n in numbers.clone() {
        // The files have equal size and time, so only the file system can distinguish them.
        let mut file = fs::File::create(spool.path("inbox")).unwrap();
        file.write_all(mbox(&[n]).as_bytes()).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(scene.clock))
            .unwrap();
        scene.work();
        fs::remove_file(spool.path("inbox")).unwrap();
    }
    scene.check(&numbers.collect::<Vec<_>>(), 0);
}

#[test]
fn a_message_is_gone_from_the_folder_that_it_leaves() {
    for (dedupe, gone) in [(DedupeScope::Mailbox, 1), (DedupeScope::Spool, 0)] {
        let mut scene = Scene::new();
        scene.config.spool[0].dedupe = dedupe;
        scene.write("a", &mbox(&[1, 2]));
        scene.write("b", &mbox(&[3]));
        scene.check(&[1, 2, 3], 0);
        // The daemon sees the removal before the copy, then the other way round.
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
fn a_message_that_grew_is_gone_with_both_digests() {
    let mut scene = Scene::new();
    let whole = mbox(&[1]);
    let (start, rest) = whole.split_at(whole.find("and http").unwrap());
    scene.write("inbox", start);
    scene.check(&[1], 0);
    scene.write("inbox", &format!("{start}{rest}"));
    scene.check(&[1], 0);
    // Still true after a rewrite and in another file.
    scene.write("inbox.1", &mbox(&[2, 1]));
    scene.write("inbox", "");
    scene.check(&[1, 2], 0);
    // A digest without records, after growth without URLs, is not named.
    scene.write("inbox", &format!("{whole}more words\n"));
    scene.check(&[1, 2], 0);
    scene.write("inbox", "");
    scene.check(&[1, 2], 0);
    scene.write("inbox.1", &mbox(&[2]));
    let lives = scene.check(&[2], 1);
    assert_eq!(lives.gone_digests, [2]);
    scene.write("inbox", &whole);
    scene.check(&[1, 2], 1);
}

#[test]
fn a_message_that_was_recorded_elsewhere_in_its_spool_may_grow() {
    let mut scene = Scene::new();
    scene.config.spool[0].dedupe = DedupeScope::Spool;
    scene.write("md/new/1.M1.host", &message(1, 1));
    scene.check(&[1], 0);
    let list = format!("From a@b Mon Jan  1 00:00:00 1996\n{}\n", message(1, 1));
    scene.write("list", &list);
    scene.check(&[1], 0);
    scene.write("list", &format!("{list}more http://h.example/1-c.html\n"));
    let lives = scene.check(&[1], 0);
    assert_eq!(lives.times_written(1), 1);
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
fn a_mailbox_rewritten_slowly_under_its_lock_loses_no_message() {
    let mut scene = Scene::new();
    scene.write("inbox", &mbox(&[1, 2]));
    scene.check(&[1, 2], 0);
    // The mailbox is empty until the mail program writes it again.
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

/// An mbox with CR line ends is read as a whole, once it has settled. So is an MMDF folder.
#[test]
fn messages_of_an_mbox_that_is_rotated_before_it_was_read_are_not_gone() {
    let cr = |numbers: &[u64]| mbox(numbers).replace('\n', "\r");
    let mut scene = Scene::new();
    scene.write("inbox", &cr(&[1, 2]));
    scene.check(&[1, 2], 0);
    scene.config.watch.settle = Duration::from_mins(5);
    scene.write("inbox", &cr(&[1, 2, 3]));
    scene.scan_after(1);
    // Long enough that a message missing since then cannot be in another new file.
    scene.scan_after(130);
    scene.write("inbox.1", &cr(&[1, 2, 3]));
    scene.remove("inbox");
    scene.scan_after(61);
    scene.check(&[1, 2, 3], 0);
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
    // With tombstones switched off, the state forgets the messages of each mailbox.
    scene.config.output.tombstones = false;
    scene.write("inbox", "");
    scene.check(&[2], 2);
}

/// Fields that programs add to stored messages, copied from real output.
const ANNOTATIONS: [&str; 14] = [
    "X-UIDL: 000000024a0b5c1d\n",
    "X-UID: 17\nX-Keywords: $label1 Junk            \n",
    "Replied: Mon, 23 Nov 2026 10:00:00 +0100\nReplied: b@c.example\n",
    "Forwarded: Mon, 23 Nov 2026 10:00:00 +0100\n",
    "Resent: c@d.example\n",
    "X-Label: lamps, wicks\n",
    "X-Account-Key: account1\nX-Mozilla-Keys: $label1\n",
    "X-Evolution: 00000011-0000\nX-Evolution-Source: pop://a@pop.example\n",
    "X-KMail-EncryptionState: N\nX-Length: 2411\n",
    "X-VM-v5-Data: ([nil nil nil nil nil nil nil nil nil]\n\t[\"1\" \"2\"])\n",
    "X-RMAIL-ATTRIBUTES: -A------\n",
    "X-Gnus-Mail-Source: file:/var/mail/a\nX-From-Line: a@b Mon Jan  1 00:00:00 1996\n",
    "X-TUID: mhtv0egAsKTi\n",
    "Status: RO\nX-Status: A\nContent-Length: 4\nLines: 3\n",
];

#[test]
fn fields_added_by_other_programs_neither_repeat_nor_remove_a_message() {
    let mut scene = Scene::new();
    fs::create_dir(scene.path("mh")).unwrap();
    let write = |scene: &mut Scene, fields: &str| {
        let annotated = |n| format!("{fields}{}", message(n, 1));
        scene.write("mh/1", &annotated(1));
        scene.write("md/cur/2.M1.host:2,S", &annotated(2));
        let after_the_first_field = message(3, 1).replacen('\n', &format!("\n{fields}"), 1);
        scene.write(
            "inbox",
            &format!(
                "From a@b Mon Jan  1 00:00:00 1996\n{after_the_first_field}\n{}",
                mbox_message(4, 1)
            ),
        );
    };
    write(&mut scene, "");
    let read = |scene: &mut Scene| {
        let lives = scene.check(&[1, 2, 3, 4], 0);
        assert!(lives.events.values().all(|events| events.len() == 1));
    };
    read(&mut scene);
    for fields in ANNOTATIONS {
        write(&mut scene, fields);
        read(&mut scene);
    }
    write(&mut scene, &ANNOTATIONS.concat());
    read(&mut scene);
}

#[test]
fn a_message_that_is_edited_far_from_its_start_leaves_no_rows_of_its_earlier_version() {
    let words = "more words\n".repeat(12_000);
    let edited = |url: &str| {
        let text = format!("and http://h.example/{url}\n{words}and http");
        message(1, 4_000).replace("and http", &text)
    };
    for (name, envelope) in [
        ("x.eml", ""),
        ("mh/1", ""),
        ("md/new/1.M1.host", ""),
        ("inbox", "From a@b Mon Jan  1 00:00:00 1996\n"),
    ] {
        let mut scene = Scene::new();
        fs::create_dir(scene.path("mh")).unwrap();
        let database = scene.folder.path("urls.db");
        let (into, out) = (
            database.display().to_string(),
            scene.config.output.dir.display().to_string(),
        );
        // A second mailbox, so that the spool never counts as empty.
        scene.write("other", &mbox(&[2]));
        for (number, version) in ["early", "later", "final", "later"].iter().enumerate() {
            // A Maildir file with the same name and size counts as unchanged.
            let more = if name.starts_with("md") { number } else { 0 };
            let version = format!("{version}{}", "r".repeat(more));
            scene.write(name, &format!("{envelope}{}\n", edited(&version)));
            scene.work();
            done(&["load", "--into", &into, &out]);
            let db = rusqlite::Connection::open(&database).unwrap();
            let sql = "SELECT url FROM urls WHERE url NOT LIKE '%/2-%' ORDER BY url";
            let mut statement = db.prepare(sql).unwrap();
            let urls = statement.query_map([], |row| row.get::<_, String>(0));
            let urls: Vec<String> = urls.unwrap().map(Result::unwrap).collect();
            let expected = ["1-a.html", "1-b.html", &version];
            assert_eq!(
                urls,
                expected.map(|path| format!("http://h.example/{path}")),
                "{name}"
            );
        }
    }
}

impl Scene {
    /// Lets the daemon work for `seconds`.
    pub(super) fn run(&mut self, seconds: u64) {
        self.scan_after(0);
        let daemon = self.daemon.as_mut().unwrap();
        for _ in 0..seconds {
            self.host.ms += 1_000;
            daemon.work(&mut self.host).unwrap();
        }
    }

    /// Returns the status of the running daemon.
    pub(super) fn status(&self) -> Status {
        self.daemon.as_ref().unwrap().status(self.host.time())
    }
}

/// The writer of an mbox truncates it under its lock, and dies before it writes the file again.
#[test]
fn an_empty_mbox_whose_writer_left_its_lock_is_named() {
    let mut scene = Scene::new();
    scene.write("inbox", &mbox(&[1, 2]));
    scene.write("other", &mbox(&[3]));
    scene.run(30);
    scene.write("inbox.lock", "");
    scene.write("inbox", "");
    scene.run(30);
    // The writer may still write it.
    assert_eq!(scene.status().spools[0].withheld.len(), 0);
    scene.run(400);
    let status = scene.status();
    let withheld = &status.spools[0].withheld;
    assert!(
        withheld.len() == 1 && withheld[0].path.ends_with("inbox"),
        "{status:?}"
    );
    assert!(withheld[0].why.contains("inbox.lock"), "{withheld:?}");
    scene.remove("inbox.lock");
    scene.check(&[3], 2);
    assert_eq!(
        scene
            .host
            .logged("are not reported as gone, because this file may hold them"),
        1
    );
}

#[test]
fn a_locked_file_keeps_its_known_messages() {
    let mut scene = Scene::new();
    scene.write("inbox", &mbox(&[1, 2]));
    scene.write("inbox.1", &mbox(&[3]));
    scene.run(30);
    scene.write("inbox.1", &mbox(&[3, 4]));
    scene.write("inbox.1.lock", "");
    scene.run(600);
    let status = scene.status();
    assert!(status.locks[0].path.ends_with("inbox.1"), "{status:?}");
    let gone = |scene: &Scene| Lives::read(&[&scene.config.output.dir]).gone_digests.len();
    // Long after the file's change, no message can have moved into it.
    scene.write("inbox", &mbox(&[1]));
    scene.run(400);
    assert_eq!(gone(&scene), 1);
    assert_eq!(scene.status().spools[0].withheld.len(), 0);
    // Soon after the file's change, a message may have moved into it.
    scene.write("inbox.1", &mbox(&[3, 4, 5]));
    scene.write("inbox", "");
    scene.run(400);
    assert_eq!(gone(&scene), 1);
    let status = scene.status();
    let withheld = &status.spools[0].withheld;
    assert!(
        withheld.len() == 1 && withheld[0].path.ends_with("inbox.1"),
        "{status:?}"
    );
    let line = "are not reported as gone, because this file may hold them";
    assert!(0 < scene.host.logged(line));
    // Now the file is read, and its messages are not gone.
    scene.remove("inbox.1.lock");
    scene.check(&[3, 4, 5], 2);
}
