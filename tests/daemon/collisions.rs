//! Messages crafted to share one `message.digest`, and mailboxes with similar names.

use std::fs;

use urlspool_daemon::{SpoolReader, rebuild_state};

use super::mbox_message;
use super::tombstones::Scene;
use crate::scene::colliding_messages;

/// Returns the URLs of the records in the segments, in order, and the number of `gone` lines.
fn written(scene: &Scene) -> (Vec<String>, usize) {
    let (mut urls, mut digests, mut gone) = (Vec::new(), Vec::new(), 0);
    let mut segments: Vec<_> = fs::read_dir(&scene.config.output.dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension() == Some("jsonl".as_ref()))
        .collect();
    segments.sort();
    for line in segments
        .iter()
        .flat_map(|path| crate::scene::lines(&fs::read(path).unwrap()))
    {
        if line["type"] == "gone" {
            gone += 1;
            continue;
        }
        urls.push(line["url"].as_str().unwrap().to_owned());
        digests.push(line["message"]["digest"].clone());
    }
    digests.dedup();
    assert!(digests.len() <= 1, "the messages do not collide");
    urls.sort();
    (urls, gone)
}

#[test]
fn the_urls_of_both_of_two_messages_with_one_digest_are_written() {
    let [first, second] = colliding_messages();
    let mut scene = Scene::new();
    let all = ["http://benign.example/"; 2]
        .into_iter()
        .chain(["http://evil.example/payload"]);
    let all: Vec<String> = all.map(str::to_owned).collect();
    fs::write(scene.path("md/new/1.M1.host"), &first).unwrap();
    scene.work();
    fs::write(scene.path("md/new/2.M2.host"), &second).unwrap();
    scene.work();
    assert_eq!(written(&scene), (all.clone(), 0));
    // Loaded rows share one digest. They stay as long as one of the messages exists.
    scene.remove("md/new/1.M1.host");
    scene.work();
    assert_eq!(written(&scene), (all.clone(), 0));
    // A state rebuilt from the output alone still knows both.
    fs::remove_dir_all(&scene.config.state.dir).unwrap();
    rebuild_state(&scene.config, &mut scene.host).unwrap();
    fs::write(scene.path("md/new/1.M1.host"), &first).unwrap();
    scene.work();
    assert_eq!(written(&scene), (all.clone(), 0));
    for name in ["md/new/1.M1.host", "md/new/2.M2.host"] {
        scene.remove(name);
        scene.work();
    }
    assert_eq!(written(&scene), (all, 1));
}

#[test]
fn the_secret_key_is_its_owners_alone_and_without_it_a_state_is_refused() {
    use std::os::unix::fs::PermissionsExt;

    let mut scene = Scene::new();
    scene.write("inbox", &mbox_message(1, 1));
    scene.work();
    let keys = [
        scene.config.state.dir.join("key"),
        scene.config.output.dir.join(".key"),
    ];
    let read = |key| fs::read(key).unwrap();
    assert_eq!(read(&keys[0]), read(&keys[1]));
    // If the keys are restored with wider permissions, the next start narrows them.
    for key in &keys {
        fs::set_permissions(key, fs::Permissions::from_mode(0o644)).unwrap();
    }
    rebuild_state(&scene.config, &mut scene.host).unwrap();
    for key in &keys {
        assert_eq!(key.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        fs::remove_file(key).unwrap();
    }
    let error = rebuild_state(&scene.config, &mut scene.host).unwrap_err();
    assert!(error.to_string().contains("the secret key"), "{error}");
}

#[test]
fn a_state_with_other_tables_is_refused() {
    let mut scene = Scene::new();
    scene.write("inbox", &mbox_message(1, 1));
    scene.work();
    let state = &scene.config.state.dir;
    let db = rusqlite::Connection::open(state.join("state.db")).unwrap();
    // Development versions kept positions in mboxes in another table.
    db.pragma_update(None, "application_id", 0x7572_6C77)
        .unwrap();
    db.execute_batch("ALTER TABLE file DROP COLUMN position")
        .unwrap();
    drop(db);
    let opened = SpoolReader::open(scene.config.clone(), &mut scene.host);
    let error = opened.err().unwrap();
    assert!(error.to_string().contains("development version"), "{error}");
}
