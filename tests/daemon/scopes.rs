//! The scope in which a message is written once: `dedupe` and `kind` of a known spool, which cannot change; its `path`, and the
//! names of an mbox.
//!
//! `URLSPOOL_SCOPE_HISTORIES` sets the number of random lists of actions (default 20).

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use urlspool::internals::config::DedupeScope;
use urlspool::internals::daemon::rebuild_state;
use urlspool::internals::origin::SourceKind;

use super::cli::{code, configure, once, program};
use super::lives::Lives;
use super::tombstones::{Scene, mbox};
use super::{mbox_message, message, read_segments};
use crate::scene::{Folder, Rng, when_unlocked};

/// The messages of the two mailboxes of an example, and how often each is written.
fn written(lives: &Lives, messages: &[u64]) -> Vec<usize> {
    messages.iter().map(|n| lives.times_written(*n)).collect()
}

/// Its messages are written again, because the spool is their scope.
#[test]
fn under_another_path_a_news_spool_is_a_new_one() {
    let mut scene = Scene::new();
    scene.config.spool[0].kind = Some(SourceKind::News);
    for group in ["comp/x", "alt/y"] {
        fs::create_dir_all(scene.path(group)).unwrap();
    }
    for (name, n) in [
        ("comp/x/1", 1),
        ("comp/x/2", 2),
        ("comp/x/3", 3),
        ("alt/y/4", 4),
    ] {
        scene.write(name, &message(n, 1));
    }
    let check = |scene: &mut Scene, times: [usize; 4], gone: [usize; 4]| {
        scene.work();
        let lives = Lives::read(&[&scene.config.output.dir]);
        let times_gone = [1, 2, 3, 4].map(|n| lives.times_gone(n));
        assert_eq!(
            (written(&lives, &[1, 2, 3, 4]), times_gone),
            (times.to_vec(), gone)
        );
    };
    check(&mut scene, [1, 1, 1, 1], [0; 4]);
    let whole = scene.config.spool[0].path.clone();
    scene.config.spool[0].path = whole.join("comp");
    scene.remove("comp/x/3");
    check(&mut scene, [2, 2, 1, 1], [0; 4]);
    scene.remove("comp/x/1");
    check(&mut scene, [2, 2, 1, 1], [1, 0, 0, 0]);
    // What the first spool has written is not written again, and what it misses is gone.
    scene.config.spool[0].path = whole;
    check(&mut scene, [2, 2, 1, 1], [2, 0, 1, 0]);
    scene.remove("comp/x/2");
    check(&mut scene, [2, 2, 1, 1], [2, 1, 1, 0]);
}

/// Message 1 moves out of the folder that is watched meanwhile.
#[test]
fn nothing_is_gone_that_a_narrowed_spool_leaves_out() {
    for (dedupe, gone) in [(DedupeScope::Mailbox, 1), (DedupeScope::Spool, 0)] {
        let mut scene = Scene::new();
        scene.config.spool[0].dedupe = dedupe;
        fs::create_dir(scene.path("sub")).unwrap();
        scene.write("sub/b", &mbox(&[1, 2]));
        scene.write("a", &mbox(&[3]));
        scene.check(&[1, 2, 3], 0);
        let whole = scene.config.spool[0].path.clone();
        scene.config.spool[0].path = whole.join("sub");
        scene.write("sub/b", &mbox(&[2]));
        scene.write("a", &mbox(&[3, 1]));
        scene.work();
        scene.config.spool[0].path = whole;
        scene.work();
        let lives = Lives::read(&[&scene.config.output.dir]);
        let present: BTreeSet<u64> = lives.present().into_iter().map(|(_, n)| n).collect();
        assert_eq!(present, [1, 2, 3].into());
        assert_eq!(lives.gone_digests.len(), gone, "{dedupe:?}: {lives:?}");
    }
}

#[test]
fn a_spool_is_the_same_however_it_is_spelled() {
    let scopes = [DedupeScope::Mailbox, DedupeScope::Spool];
    for (tombstones, dedupe) in [false, true].into_iter().zip(scopes) {
        let mut scene = Scene::new();
        scene.config.output.tombstones = tombstones;
        scene.config.spool[0].dedupe = dedupe;
        symlink(scene.folder.root(), scene.folder.path("link")).unwrap();
        let spellings = [
            "spool/../spool",
            "./spool/",
            "link/spool",
            "spool/md/..",
            "spool",
        ];
        for spelling in spellings {
            scene.config.spool[0].path = scene.folder.path(spelling);
            scene.write("a", &mbox(&[1, 2]));
            scene.write("md/new/3.M1.host", &message(3, 1));
            fs::create_dir_all(scene.path("mh")).unwrap();
            scene.write("mh/4", &message(4, 1));
            let lives = scene.check(&[1, 2, 3, 4], 0);
            assert_eq!(written(&lives, &[1, 2, 3, 4]), [1; 4], "{spelling}");
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
        self.scene.config.spool[0].path = self.scene.folder.path(path);
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
        let mut scene = Scene::new();
        scene.config.spool[0].dedupe =
            [DedupeScope::Mailbox, DedupeScope::Spool][(history % 2) as usize];
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

/// Lets the configuration in `root` end with these lines.
fn set_scope(root: &Path, scope: &str) {
    let text = fs::read_to_string(root.join("c.toml")).unwrap();
    let end = text.find("[[spool]]").unwrap();
    let spool = format!("[[spool]]\npath = \"{}/spool\"\n{scope}", root.display());
    fs::write(root.join("c.toml"), text[..end].to_owned() + &spool).unwrap();
}

#[test]
fn a_start_with_another_kind_or_dedupe_is_refused_with_both_ways_out() {
    let folder = Folder::in_memory();
    let root = folder.root();
    configure(root, "");
    fs::write(root.join("spool/a"), mbox(&[1, 2])).unwrap();
    fs::write(root.join("spool/b"), mbox(&[1, 3])).unwrap();
    assert_eq!(code(&once(root, &[])), 0);
    for (key, was, is) in [("dedupe", "mailbox", "spool"), ("kind", "auto", "mbox")] {
        set_scope(root, &format!("{key} = \"{is}\"\n"));
        for rebuild in [&[][..], &["--rebuild-state"]] {
            let refused = once(root, rebuild);
            let why = String::from_utf8_lossy(&refused.stderr).into_owned();
            let ways = format!(
                "{key} = \"{was}\", and the configuration has \"{is}\"; keep \"{was}\", or name new"
            );
            assert!(code(&refused) == 2 && why.contains(&ways), "{why}");
        }
    }
    // The first way out.
    set_scope(root, "");
    fs::write(root.join("spool/b"), mbox(&[1, 3, 4])).unwrap();
    assert_eq!(code(&once(root, &[])), 0);
    let first = read_segments(&root.join("out"));
    assert!(first.ids.len() == 10 && first.urls["http://h.example/1-a.html"] == 2);
    // The second one.
    let text = fs::read_to_string(root.join("c.toml")).unwrap();
    let text = text
        .replace("/out\"", "/out2\"")
        .replace("/state\"", "/state2\"");
    fs::write(root.join("c.toml"), text + "dedupe = \"spool\"\n").unwrap();
    assert_eq!(code(&once(root, &[])), 0);
    let [first, second] = [first, read_segments(&root.join("out2"))].map(|written| {
        (
            written.ids.into_iter().collect::<BTreeSet<_>>(),
            written.urls,
        )
    });
    assert_eq!(first.0, second.0);
    assert!(second.1.values().all(|times| *times == 1), "{:?}", second.1);
}

#[test]
fn a_reload_with_another_scope_leaves_the_old_configuration_in_force() {
    let folder = Folder::in_memory();
    let root = folder.root();
    configure(root, "");
    fs::write(root.join("spool/a"), mbox(&[1, 2])).unwrap();
    let mut daemon = program(root, &["watch"])
        .stderr(fs::File::create(root.join("log")).unwrap())
        .spawn()
        .unwrap();
    let log = || fs::read_to_string(root.join("log")).unwrap();
    let until = |what: &str, holds: &dyn Fn() -> bool| {
        let start = Instant::now();
        while !holds() {
            assert!(
                start.elapsed() < Duration::from_secs(30),
                "{what}: {}",
                log()
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    until("the daemon is ready", &|| log().contains("watching"));
    // Also what else has changed.
    let text = fs::read_to_string(root.join("c.toml")).unwrap();
    fs::write(root.join("c.toml"), text.replace("\"100ms\"", "\"1h\"")).unwrap();
    set_scope(root, "dedupe = \"spool\"\n");
    let hang_up = Command::new("kill")
        .args(["-HUP", &daemon.id().to_string()])
        .status();
    assert!(hang_up.unwrap().success());
    until("the reload is refused", &|| {
        log().contains("the old configuration stays in force: spool ")
    });
    fs::write(root.join("spool/b"), mbox(&[1, 3])).unwrap();
    let out = root.join("out");
    until("the mail is written", &|| {
        out.exists() && read_segments(&out).ids.len() == 8
    });
    assert_eq!(read_segments(&out).urls["http://h.example/1-a.html"], 2);
    daemon.kill().unwrap();
    daemon.wait().unwrap();
}
