//! The scope in which a message is written once: `dedupe` and `kind` of a known spool, which cannot
//! change, its `path`, and the names of an mbox.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use urlspool_files::config::DedupeScope;
use urlspool_text::origin::SourceKind;

use super::cli::{code, configured, once};
use super::lives::Lives;
use super::spools::files_read;
use super::tombstones::{Scene, mbox};
use super::{message, read_segments};

/// Returns how often each message was written, summed over both mailboxes of an example.
fn written(lives: &Lives, messages: &[u64]) -> Vec<usize> {
    messages.iter().map(|n| lives.times_written(*n)).collect()
}

/// The messages are written again, because their scope is the spool.
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
    // Messages written by the first spool are not written again, and the missing ones are gone.
    scene.config.spool[0].path = whole;
    check(&mut scene, [2, 2, 1, 1], [2, 0, 1, 0]);
    scene.remove("comp/x/2");
    check(&mut scene, [2, 2, 1, 1], [2, 1, 1, 0]);
}

/// Message 1 leaves the watched folder in the meantime.
#[test]
fn messages_outside_a_narrowed_spool_are_not_gone() {
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
        // A message grows while the spelling changes.
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
fn messages_of_an_mbox_with_two_names_can_be_gone() {
    let mut scene = Scene::new();
    scene.write("a", &mbox(&[1, 2, 3]));
    fs::hard_link(scene.path("a"), scene.path("b")).unwrap();
    let lives = scene.check(&[1, 2, 3], 0);
    assert_eq!(written(&lives, &[1, 2, 3]), [2; 3]);
    assert_eq!(files_read(&mut scene), 0, "it is unchanged");
    // Rewritten in place, under both names.
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

/// Replaces the end of the configuration in `root` by these lines.
pub(super) fn set_scope(root: &Path, scope: &str) {
    let text = fs::read_to_string(root.join("c.toml")).unwrap();
    let end = text.find("[[spool]]").unwrap();
    let spool = format!("[[spool]]\npath = \"{}/spool\"\n{scope}", root.display());
    fs::write(root.join("c.toml"), text[..end].to_owned() + &spool).unwrap();
}

#[test]
fn a_start_with_another_kind_or_dedupe_is_refused_with_both_ways_out() {
    let folder = configured();
    let root = folder.root();
    fs::write(root.join("spool/a"), mbox(&[1, 2])).unwrap();
    fs::write(root.join("spool/b"), mbox(&[1, 3])).unwrap();
    assert_eq!(code(&once(root, &[])), 0);
    for (key, was, is) in [("dedupe", "mailbox", "spool"), ("kind", "auto", "mbox")] {
        set_scope(root, &format!("{key} = \"{is}\"\n"));
        for rebuild in [&[][..], &["--rebuild-state"]] {
            let refused = once(root, rebuild);
            let why = String::from_utf8_lossy(&refused.stderr).into_owned();
            let ways = format!(
                "{key} = \"{was}\", but the configuration has \"{is}\"; keep \"{was}\", or set new"
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
    // The second way out.
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
