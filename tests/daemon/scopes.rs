//! Changes of the scope in which a message is written once: of `dedupe`, `kind` and `path` of a spool, and of the names of an mbox.
//! Nothing that is there is gone or written again; what goes is gone.
//!
//! `URLSPOOL_SCOPE_HISTORIES` sets the number of random lists of actions (default 20).

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use urlspool::internals::config::{DedupeScope, Spool};
use urlspool::internals::daemon::rebuild_state;
use urlspool::internals::origin::SourceKind;

use super::cli::{code, configure, program};
use super::lives::Lives;
use super::tombstones::{Scene, mbox};
use super::{mbox_message, message};
use crate::scene::{Folder, Rng, when_unlocked};

/// The messages of the two mailboxes of an example, and how often each is written.
fn written(lives: &Lives, messages: &[u64]) -> Vec<usize> {
    messages.iter().map(|n| lives.times_written(*n)).collect()
}

#[test]
fn a_wider_scope_repeats_nothing_and_its_messages_can_be_gone() {
    let mut scene = Scene::new();
    scene.write("a", &mbox(&[1, 2]));
    scene.write("b", &mbox(&[1, 3]));
    scene.check(&[1, 2, 3], 0);
    scene.config.spool[0].dedupe = DedupeScope::Spool;
    scene.check(&[1, 2, 3], 0);
    scene.write("b", &mbox(&[1, 3, 4, 2]));
    let lives = scene.check(&[1, 2, 3, 4], 0);
    assert_eq!(written(&lives, &[1, 2, 3, 4]), [2, 1, 1, 1]);
    // `a` was not read again: message 1 is still one of that mailbox, and gone from the other.
    scene.write("b", &mbox(&[4]));
    scene.check(&[1, 2, 4], 2);
    scene.write("a", &mbox(&[2]));
    let lives = scene.check(&[2, 4], 3);
    assert_eq!(lives.times_gone(1), 2);
    scene.write("a", &mbox(&[2, 1]));
    scene.check(&[1, 2, 4], 3);
}

#[test]
fn a_narrower_scope_repeats_nothing_and_its_messages_can_be_gone() {
    let mut scene = Scene::new();
    scene.config.spool[0].dedupe = DedupeScope::Spool;
    scene.write("a", &mbox(&[1, 2]));
    scene.write("b", &mbox(&[1, 3]));
    scene.check(&[1, 2, 3], 0);
    scene.config.spool[0].dedupe = DedupeScope::Mailbox;
    scene.check(&[1, 2, 3], 0);
    scene.write("b", &mbox(&[1, 3, 4]));
    let lives = scene.check(&[1, 2, 3, 4], 0);
    assert_eq!(written(&lives, &[1, 2, 3, 4]), [1, 1, 1, 1]);
    // The records of message 1 name the mailbox `a`. They stand as long as `b` has it.
    scene.write("a", &mbox(&[2]));
    scene.check(&[1, 2, 3, 4], 0);
    scene.write("b", &mbox(&[3, 4]));
    scene.check(&[2, 3, 4], 1);
    // A new message is written for each mailbox.
    scene.write("a", &mbox(&[2, 5]));
    scene.write("b", &mbox(&[3, 4, 5]));
    let lives = scene.check(&[2, 3, 4, 5], 1);
    assert_eq!(lives.times_written(5), 2);
}

#[test]
fn without_tombstones_a_changed_scope_repeats_nothing() {
    use DedupeScope::{Mailbox, Spool};
    for (before, after, times) in [(Mailbox, Spool, 2), (Spool, Mailbox, 1)] {
        let mut scene = Scene::new();
        scene.config.output.tombstones = false;
        scene.config.spool[0].dedupe = before;
        scene.write("a", &mbox(&[1, 2]));
        scene.write("b", &mbox(&[1, 3]));
        scene.write("md/new/7.M1.host", &message(7, 1));
        scene.check(&[1, 2, 3, 7], 0);
        scene.config.spool[0].dedupe = after;
        scene.write("b", &mbox(&[1, 3, 4]));
        scene.write("md/new/8.M1.host", &message(7, 1));
        let lives = scene.check(&[1, 2, 3, 4, 7], 0);
        assert_eq!(written(&lives, &[1, 2, 3, 4, 7]), [times, 1, 1, 1, 1]);
        scene.config.spool[0].dedupe = before;
        scene.write("a", &mbox(&[1, 2, 5]));
        let lives = scene.check(&[1, 2, 3, 4, 5, 7], 0);
        assert_eq!(written(&lives, &[1, 2, 3, 4, 5, 7]), [times, 1, 1, 1, 1, 1]);
    }
}

/// Files without messages belong to the spool, but not to a scope in which messages are written once.
#[test]
fn a_file_that_is_skipped_after_a_changed_scope_repeats_nothing() {
    for tombstones in [false, true] {
        let mut scene = Scene::new();
        scene.config.output.tombstones = tombstones;
        scene.config.spool[0].dedupe = DedupeScope::Spool;
        scene.write("a", &mbox(&[1, 2]));
        scene.check(&[1, 2], 0);
        scene.config.spool[0].dedupe = DedupeScope::Mailbox;
        scene.write("index", &"\u{1}\0\u{2}\0\u{3}\0".repeat(100));
        scene.check(&[1, 2], 0);
        scene.write("a", &mbox(&[3, 1, 2]));
        let lives = scene.check(&[1, 2, 3], 0);
        assert_eq!(written(&lives, &[1, 2, 3]), [1; 3]);
    }
}

#[test]
fn another_kind_repeats_nothing_and_its_messages_can_be_gone() {
    for kind in [SourceKind::News, SourceKind::Message] {
        let mut scene = Scene::new();
        fs::create_dir(scene.path("mh")).unwrap();
        for n in 1..=3 {
            scene.write(&format!("mh/{n}"), &message(n, 1));
        }
        scene.write("md/new/4.M1.host", &message(4, 1));
        scene.check(&[1, 2, 3, 4], 0);
        scene.config.spool[0].kind = Some(kind);
        scene.check(&[1, 2, 3, 4], 0);
        // Files that are read again.
        for n in 1..=2 {
            scene.write(&format!("mh/{n}"), &message(n, 1));
        }
        scene.rename("md/new/4.M1.host", "md/cur/9.M1.host:2,S");
        scene.write("mh/5", &message(5, 1));
        let lives = scene.check(&[1, 2, 3, 4, 5], 0);
        assert_eq!(written(&lives, &[1, 2, 3, 4, 5]), [1; 5], "{kind:?}");
        scene.remove("mh/1");
        scene.remove("mh/3");
        scene.remove("md/cur/9.M1.host:2,S");
        scene.check(&[2, 5], 3);
    }
}

#[test]
fn a_news_spool_that_is_narrowed_or_widened_repeats_nothing() {
    let mut scene = Scene::new();
    scene.config.spool[0].kind = Some(SourceKind::News);
    for group in ["comp/x", "alt/y"] {
        fs::create_dir_all(scene.path(group)).unwrap();
    }
    for n in 1..=3 {
        scene.write(&format!("comp/x/{n}"), &message(n, 1));
    }
    scene.write("alt/y/4", &message(4, 1));
    scene.check(&[1, 2, 3, 4], 0);
    let whole = scene.config.spool[0].path.clone();
    scene.config.spool[0].path = whole.join("comp");
    for n in 1..=2 {
        scene.write(&format!("comp/x/{n}"), &message(n, 1));
    }
    scene.write("comp/x/5", &message(5, 1));
    // A cross-post.
    scene.write("comp/x/6", &message(4, 1));
    let lives = scene.check(&[1, 2, 3, 4, 5], 0);
    assert_eq!(written(&lives, &[1, 2, 3, 4, 5]), [1; 5]);
    scene.remove("comp/x/1");
    scene.remove("comp/x/3");
    scene.check(&[2, 4, 5], 2);
    scene.config.spool[0].path = whole;
    scene.write("comp/x/2", &message(2, 1));
    scene.write("alt/y/7", &message(5, 1));
    let lives = scene.check(&[2, 4, 5], 2);
    assert_eq!(written(&lives, &[2, 4, 5]), [1; 3]);
    for name in ["comp/x/5", "comp/x/6", "alt/y/4"] {
        scene.remove(name);
    }
    scene.check(&[2, 5], 3);
    scene.remove("alt/y/7");
    scene.check(&[2], 4);
}

/// Message 1 was written for a mailbox of the folder, and is now in one outside of it, with others.
#[test]
fn nothing_is_gone_that_a_narrowed_spool_leaves_out() {
    let mut scene = Scene::new();
    scene.config.spool[0].dedupe = DedupeScope::Spool;
    fs::create_dir(scene.path("sub")).unwrap();
    scene.write("sub/b", &mbox(&[1, 2, 5]));
    scene.check(&[1, 2, 5], 0);
    scene.write("a", &mbox(&[3, 1, 4]));
    scene.write("sub/b", &mbox(&[2, 5]));
    scene.check(&[1, 2, 3, 4, 5], 0);
    let whole = scene.config.spool[0].path.clone();
    // Message 5 goes while no daemon watches.
    scene.write("sub/b", &mbox(&[2]));
    scene.config.spool[0].path = whole.join("sub");
    scene.check(&[1, 2, 3, 4], 1);
    scene.config.spool[0].path = whole;
    scene.check(&[1, 2, 3, 4], 1);
    scene.write("a", &mbox(&[3]));
    scene.check(&[2, 3], 3);
}

#[test]
fn a_message_that_grows_across_a_change_gives_its_new_urls_only() {
    use DedupeScope::{Mailbox, Spool};
    for (before, after) in [(Mailbox, Spool), (Spool, Mailbox)] {
        let mut scene = Scene::new();
        scene.config.spool[0].dedupe = before;
        let whole = mbox(&[1]);
        let (start, rest) = whole.split_at(whole.find("and http").unwrap());
        scene.write("a", start);
        scene.check(&[1], 0);
        scene.config.spool[0].dedupe = after;
        scene.write("a", &format!("{start}{rest}"));
        let lives = scene.check(&[1], 0);
        assert_eq!(lives.times_written(1), 1);
        scene.write("a", &mbox(&[2]));
        let lives = scene.check(&[2], 1);
        assert_eq!(lives.gone_digests, [2]);
    }
}

/// Message 1 was written for the mailbox `b`. When it comes back, its records stand, but no mailbox that is retired has it.
#[test]
fn a_message_that_returns_to_the_mailbox_that_its_records_name_is_not_repeated() {
    for is_narrowed in [false, true] {
        let mut scene = Scene::new();
        scene.config.spool[0].dedupe = DedupeScope::Spool;
        scene.write("a", &mbox(&[3]));
        scene.write("b", &mbox(&[1, 2]));
        scene.check(&[1, 2, 3], 0);
        scene.config.spool[0].dedupe = DedupeScope::Mailbox;
        scene.check(&[1, 2, 3], 0);
        scene.write("b", &mbox(&[2]));
        scene.write("a", &mbox(&[3, 1]));
        scene.check(&[1, 2, 3], 0);
        if is_narrowed {
            let whole = scene.config.spool[0].path.clone();
            scene.config.spool[0].path = whole.join("md");
            scene.work();
            scene.config.spool[0].path = whole;
        }
        // A copy first: the records stand as long as one of the two is there.
        scene.write("b", &mbox(&[2, 1]));
        scene.check(&[1, 2, 3], 0);
        scene.write("a", &mbox(&[3]));
        let lives = scene.check(&[1, 2, 3], 0);
        assert_eq!(written(&lives, &[1, 2, 3]), [1; 3], "{is_narrowed}");
        scene.write("b", &mbox(&[2]));
        scene.check(&[2, 3], 1);
        scene.write("b", &mbox(&[2, 1]));
        scene.check(&[1, 2, 3], 1);
        // To another mailbox it is moved like any other message.
        scene.write("b", &mbox(&[2]));
        scene.write("a", &mbox(&[3, 1]));
        scene.check(&[1, 2, 3], 2);
    }
}

#[test]
fn a_message_returns_to_its_mailbox_however_the_spool_is_spelled() {
    for (before, after) in [("spool/../spool", "spool"), ("spool", "./spool/")] {
        let mut scene = Scene::new();
        scene.config.spool[0].dedupe = DedupeScope::Spool;
        scene.config.spool[0].path = scene.folder.path(before);
        scene.write("a", &mbox(&[3]));
        scene.write("b", &mbox(&[1, 2]));
        scene.check(&[1, 2, 3], 0);
        scene.config.spool[0].dedupe = DedupeScope::Mailbox;
        scene.config.spool[0].path = scene.folder.path(after);
        scene.write("b", &mbox(&[2]));
        scene.write("a", &mbox(&[3, 1]));
        scene.check(&[1, 2, 3], 0);
        scene.write("b", &mbox(&[2, 1]));
        scene.write("a", &mbox(&[3]));
        let lives = scene.check(&[1, 2, 3], 0);
        assert_eq!(written(&lives, &[1, 2, 3]), [1; 3], "{after}");
        scene.write("b", &mbox(&[2]));
        scene.check(&[2, 3], 1);
    }
}

/// As messages of their own the files of the folder `mh` are a mailbox each.
#[test]
fn a_message_that_returns_to_its_folder_with_the_kind_of_the_spool_is_not_repeated() {
    let mut scene = Scene::new();
    fs::create_dir(scene.path("mh")).unwrap();
    scene.write("mh/1", &message(1, 1));
    scene.write("mh/2", &message(2, 1));
    scene.check(&[1, 2], 0);
    scene.config.spool[0].kind = Some(SourceKind::Message);
    scene.write("mh/1", &message(1, 1));
    scene.check(&[1, 2], 0);
    scene.config.spool[0].kind = None;
    scene.write("mh/5", &message(1, 1));
    scene.remove("mh/1");
    let lives = scene.check(&[1, 2], 0);
    assert_eq!(written(&lives, &[1, 2]), [1; 2]);
    scene.remove("mh/5");
    scene.check(&[2], 1);
}

#[test]
fn a_rebuild_keeps_what_older_scopes_hold() {
    let mut scene = Scene::new();
    scene.write("a", &mbox(&[1, 2]));
    scene.write("b", &mbox(&[1, 3]));
    scene.check(&[1, 2, 3], 0);
    scene.config.spool[0].dedupe = DedupeScope::Spool;
    scene.config.spool[0].path = scene.folder.path("spool/../spool");
    scene.write("b", &mbox(&[1, 3, 4]));
    scene.check(&[1, 2, 3, 4], 0);
    when_unlocked(|| rebuild_state(&scene.config, &mut scene.host)).unwrap();
    let lives = scene.check(&[1, 2, 3, 4], 0);
    assert_eq!(written(&lives, &[1, 2, 3, 4]), [2, 1, 1, 1]);
    scene.write("a", &mbox(&[2]));
    scene.write("b", &mbox(&[3, 4]));
    scene.check(&[2, 3, 4], 2);
    scene.write("a", &mbox(&[5]));
    scene.check(&[3, 4, 5], 3);
}

/// Removes from all sidecars what earlier versions did not write: the spools, and which mailboxes are retired.
fn forget_spools(scene: &Scene) {
    let mut found = 0;
    for folder in ["out", "state/sidecars"] {
        for entry in fs::read_dir(scene.folder.path(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension() != Some("meta".as_ref()) {
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            let mut sidecar: serde_json::Value = serde_json::from_str(&text).unwrap();
            found += usize::from(sidecar.as_object_mut().unwrap().remove("spools").is_some());
            for mailbox in sidecar["mailboxes"].as_array_mut().unwrap() {
                mailbox.as_object_mut().unwrap().remove("retired");
            }
            fs::write(&path, format!("{sidecar}\n")).unwrap();
        }
    }
    assert!(0 < found, "no sidecar names spools");
}

/// A file has positions in two scopes then, of which the older one names no holder. It was read again and again.
#[test]
fn a_rebuild_from_sidecars_without_spools_ends() {
    let mut scene = Scene::new();
    fs::create_dir(scene.path("sub")).unwrap();
    scene.write("a", &mbox(&[1, 2]));
    scene.write("sub/b", &mbox(&[1, 3]));
    scene.check(&[1, 2, 3], 0);
    let whole = scene.config.spool[0].path.clone();
    scene.config.spool[0].path = whole.join("sub");
    scene.work();
    forget_spools(&scene);
    scene.config.spool[0].path = whole;
    scene.config.spool[0].dedupe = DedupeScope::Spool;
    when_unlocked(|| rebuild_state(&scene.config, &mut scene.host)).unwrap();
    // Messages that were read in the older scope may be written again. The end is what counts.
    scene.work();
    scene.write("a", &mbox(&[2, 4]));
    scene.work();
    let lives = Lives::read(&[&scene.config.output.dir]);
    assert_eq!(lives.times_written(4), 1);
}

#[test]
fn a_spool_is_the_same_however_it_is_spelled() {
    for tombstones in [false, true] {
        let mut scene = Scene::new();
        scene.config.output.tombstones = tombstones;
        symlink(scene.folder.root(), scene.folder.path("link")).unwrap();
        let spellings = [
            "spool/../spool",
            "./spool/",
            "link/spool",
            "spool/md/..",
            "spool",
        ];
        for dedupe in [DedupeScope::Mailbox, DedupeScope::Spool] {
            scene.config.spool[0].dedupe = dedupe;
            for spelling in spellings {
                scene.config.spool[0].path = scene.folder.path(spelling);
                scene.write("a", &mbox(&[1, 2]));
                scene.write("md/new/3.M1.host", &message(3, 1));
                fs::create_dir_all(scene.path("mh")).unwrap();
                scene.write("mh/4", &message(4, 1));
                let lives = scene.check(&[1, 2, 3, 4], 0);
                assert_eq!(written(&lives, &[1, 2, 3, 4]), [1; 4], "{spelling}");
            }
        }
        // A message that has grown when the spelling changes.
        let whole = message(5, 1);
        let (start, rest) = whole.split_at(whole.find("and http").unwrap());
        scene.write("mh/5", start);
        scene.check(&[1, 2, 3, 4, 5], 0);
        scene.config.spool[0].path = scene.folder.path("spool/../spool");
        scene.write("mh/5", &format!("{start}{rest}"));
        let lives = scene.check(&[1, 2, 3, 4, 5], 0);
        assert_eq!(lives.times_written(5), 1);
        if tombstones {
            scene.write("a", &mbox(&[2]));
            scene.remove("mh/4");
            scene.check(&[2, 3, 5], 2);
        }
    }
}

#[test]
fn a_spool_whose_link_leads_elsewhere_is_the_same() {
    let mut scene = Scene::new();
    scene.write("a", &mbox(&[1, 2]));
    let (link, moved) = (scene.folder.path("link"), scene.folder.path("moved"));
    symlink(scene.path(""), &link).unwrap();
    scene.config.spool[0].path = link.clone();
    scene.check(&[1, 2], 0);
    fs::rename(scene.path(""), &moved).unwrap();
    fs::remove_file(&link).unwrap();
    symlink(&moved, &link).unwrap();
    fs::write(moved.join("a"), mbox(&[1, 2, 3])).unwrap();
    let lives = scene.check(&[1, 2, 3], 0);
    assert_eq!(written(&lives, &[1, 2, 3]), [1; 3]);
}

#[test]
fn messages_of_an_mbox_with_two_names_can_be_gone() {
    let mut scene = Scene::new();
    scene.write("a", &mbox(&[1, 2, 3]));
    fs::hard_link(scene.path("a"), scene.path("b")).unwrap();
    let lives = scene.check(&[1, 2, 3], 0);
    assert_eq!(written(&lives, &[1, 2, 3]), [2; 3]);
    // In place, under both names.
    scene.write("a", &mbox(&[1, 3]));
    let lives = scene.check(&[1, 3], 2);
    assert_eq!(lives.times_gone(2), 2);
    scene.remove("b");
    let lives = scene.check(&[1, 3], 4);
    assert_eq!((lives.times_gone(1), lives.times_gone(3)), (1, 1));
    scene.write("a", &mbox(&[1, 3, 4]));
    let lives = scene.check(&[1, 3, 4], 4);
    assert_eq!(written(&lives, &[1, 3, 4]), [2, 2, 1]);
}

/// The unchanged mbox was read again at each scan, once for each name.
#[test]
fn an_mbox_with_two_names_is_read_once_for_each() {
    let mut scene = Scene::new();
    scene.write("a", &mbox(&[1]));
    fs::hard_link(scene.path("a"), scene.path("b")).unwrap();
    scene.check(&[1], 0);
    scene.scan_after(0);
    scene.scan_after(60);
    let daemon = scene.daemon.take().unwrap();
    let status = serde_json::to_value(daemon.status(scene.host.time())).unwrap();
    assert_eq!(status["counts"]["files_read"], 0, "{status}");
    daemon.close().unwrap();
}

/// A spool with mailboxes of all kinds, whose configuration changes while mail comes, moves and goes.
struct History {
    scene: Scene,
    rng: Rng,
    /// The messages of the mboxes `a` and `b`, and of the Maildir `md`.
    mailboxes: [Vec<u64>; 3],
    last: u64,
}

impl History {
    fn act(&mut self) {
        let at = self.rng.below(3_u64) as usize;
        match self.rng.below(9) {
            0..=2 => {
                self.last += 1;
                self.mailboxes[at].push(self.last);
                self.write(at);
            }
            3 => {
                // A copy, or a move.
                let other = self.rng.below(3_u64) as usize;
                if let Some(index) = self.any(at) {
                    let n = self.mailboxes[at][index];
                    if !self.mailboxes[other].contains(&n) {
                        self.mailboxes[other].push(n);
                        self.write(other);
                    }
                    if self.rng.below(2) == 0 && other != at {
                        self.mailboxes[at].remove(index);
                        self.write(at);
                    }
                }
            }
            4 => {
                if let Some(index) = self.any(at) {
                    self.mailboxes[at].remove(index);
                    self.write(at);
                }
            }
            5 => {
                let seconds = self.rng.below(100);
                self.scene.scan_after(seconds);
            }
            _ => self.configure(),
        }
    }

    fn any(&mut self, at: usize) -> Option<usize> {
        let len = self.mailboxes[at].len() as u64;
        (0 < len).then(|| self.rng.below(len) as usize)
    }

    fn write(&mut self, at: usize) {
        let numbers = self.mailboxes[at].clone();
        if at < 2 {
            return self.scene.write(["a", "b"][at], &mbox(&numbers));
        }
        let name = |n: u64| format!("md/new/{n}.M1.host");
        for n in 1..=self.last {
            let exists = self.scene.path(&name(n)).exists();
            match (exists, numbers.contains(&n)) {
                (false, true) => self.scene.write(&name(n), &message(n, 1)),
                (true, false) => self.scene.remove(&name(n)),
                _ => {}
            }
        }
    }

    fn configure(&mut self) {
        if let Some(daemon) = self.scene.daemon.take() {
            daemon.close().unwrap();
        }
        let path = ["spool", "spool/../spool", "link/spool"][self.rng.below(3_u64) as usize];
        let dedupe = [DedupeScope::Mailbox, DedupeScope::Spool][self.rng.below(2_u64) as usize];
        self.scene.config.spool[0] = Spool {
            path: self.scene.folder.path(path),
            kind: None,
            dedupe,
        };
        if self.rng.below(8) == 0 {
            let Scene { config, host, .. } = &mut self.scene;
            when_unlocked(|| rebuild_state(config, host)).unwrap();
        }
    }
}

#[test]
fn the_output_equals_the_spool_after_any_history_of_scopes() {
    let number =
        |name: &str, usual: u64| std::env::var(name).map_or(usual, |value| value.parse().unwrap());
    let seed = number("URLSPOOL_SEED", 1);
    for history in seed..seed + number("URLSPOOL_SCOPE_HISTORIES", 20) {
        let scene = Scene::new();
        symlink(scene.folder.root(), scene.folder.path("link")).unwrap();
        // An empty spool counts as absent.
        fs::write(scene.path("keep"), mbox_message(0, 1)).unwrap();
        let mut run = History {
            scene,
            rng: Rng::seeded(history),
            mailboxes: Default::default(),
            last: 0,
        };
        for _ in 0..40 {
            run.act();
        }
        let lives = run.scene.settle();
        let mut living: BTreeSet<u64> = run.mailboxes.iter().flatten().copied().collect();
        living.insert(0);
        let written: BTreeSet<u64> = lives.present().into_iter().map(|(_, n)| n).collect();
        let wrong: Vec<_> = living.symmetric_difference(&written).collect();
        assert!(
            wrong.is_empty(),
            "seed {history}: {wrong:?} of {living:?}: {:?}",
            lives.events
        );
    }
}

#[test]
fn a_reload_that_changes_the_scope_loses_and_repeats_nothing() {
    let folder = Folder::in_memory();
    let root = folder.root();
    configure(root, "");
    let config = fs::read_to_string(root.join("c.toml")).unwrap();
    let config = config
        .replace("[state]", "tombstones = true\n[state]")
        .replace(
            "[metrics]",
            "gone_after = \"300ms\"\nsweep = \"500ms\"\n[metrics]",
        );
    let write_config = |config: &str, more: &str| {
        fs::write(root.join("c.toml"), format!("{config}{more}")).unwrap();
    };
    write_config(&config, "");
    let write = |name: &str, numbers: &[u64]| {
        fs::write(root.join("spool").join(name), mbox(numbers)).unwrap();
    };
    write("a", &[1, 2]);
    write("b", &[1, 3]);
    let mut daemon = program(root, &["watch"])
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let read = || {
        let out = root.join("out");
        if out.exists() {
            Lives::read(&[&out])
        } else {
            Lives::default()
        }
    };
    let until = |what: &str, holds: &dyn Fn(&Lives) -> bool| {
        let start = Instant::now();
        while !holds(&read()) {
            assert!(
                start.elapsed() < Duration::from_secs(30),
                "{what}: {:?}",
                read()
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    until("the mail is read", &|lives| lives.present().len() == 4);
    write_config(&config, "dedupe = \"spool\"\n");
    let hang_up = Command::new("kill")
        .args(["-HUP", &daemon.id().to_string()])
        .status();
    assert!(hang_up.unwrap().success());
    std::thread::sleep(Duration::from_millis(500));
    write("b", &[1, 3, 4]);
    until("the new message is read", &|lives| {
        lives.times_written(4) == 1
    });
    std::thread::sleep(Duration::from_secs(2));
    let lives = read();
    assert_eq!(written(&lives, &[1, 2, 3, 4]), [2, 1, 1, 1]);
    assert!(lives.gone_digests.is_empty(), "{lives:?}");
    write("b", &[3, 4]);
    write("a", &[2]);
    until("a message is gone", &|lives| lives.times_gone(1) == 2);
    daemon.kill().unwrap();
    daemon.wait().unwrap();
    // Relative, in another folder.
    let relative = fs::read_to_string(root.join("c.toml")).unwrap();
    let spool = format!("path = \"{}/spool\"", root.display());
    assert!(relative.contains(&spool));
    fs::write(
        root.join("c.toml"),
        relative.replace(&spool, "path = \"spool/../spool/\""),
    )
    .unwrap();
    write("b", &[3, 4, 5]);
    let mut command = program(root, &["watch", "--once"]);
    assert_eq!(code(&command.current_dir(root).output().unwrap()), 0);
    assert_eq!(written(&read(), &[1, 2, 3, 4, 5]), [2, 1, 1, 1, 1]);
}
