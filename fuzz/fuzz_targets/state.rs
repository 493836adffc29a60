//! The daemon's state: its database and sidecars, damaged. The daemon opens them or refuses. It
//! never panics, and never changes or removes a sealed segment.
#![no_main]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use urlspool_files::config::Config;
use urlspool_daemon::{
    DaemonError, DaemonEvent, DaemonHost, LogRecord, MonotonicTime, ReaderHost, SpoolReader,
    rebuild_state,
};

struct Host {
    ms: u64,
}

impl DaemonHost for Host {
    fn now(&mut self) -> MonotonicTime {
        MonotonicTime { ms: self.ms }
    }
    fn unix_time(&mut self) -> Option<u64> {
        Some(1_000_000_000)
    }
    fn log(&mut self, _: &LogRecord<'_>) {}
}

impl ReaderHost for Host {
    fn event(&mut self) -> Option<DaemonEvent> {
        None
    }
    fn folder_appeared(&mut self, _: &Path, _: &Path) -> bool {
        true
    }
    fn progress(&mut self, _: &SpoolReader) {}
}

/// Reads all mail, and seals it.
fn once(reader: SpoolReader, host: &mut Host) -> Result<(), DaemonError> {
    let mut reader = reader;
    for _ in 0..100 {
        let next = reader.work(host)?;
        if reader.is_done(host.now()) {
            break;
        }
        host.ms = next.ms.max(host.ms + 1);
    }
    reader.close()
}

type Tree = BTreeMap<PathBuf, Vec<u8>>;

fn root() -> PathBuf {
    let memory = Path::new("/dev/shm");
    let parent = if memory.is_dir() {
        memory.to_owned()
    } else {
        std::env::temp_dir()
    };
    parent.join(format!("urlspool-fuzz-state-{}", std::process::id()))
}

fn config() -> Config {
    let root = root();
    let root = root.display();
    let text = format!(
        "[output]\ndir = \"{root}/out\"\n[state]\ndir = \"{root}/state\"\n[watch]\nsettle \
         = \"0s\"\n[metrics]\nlisten = \"\"\n\
         [[spool]]\npath = \"{root}/spool\"\n"
    );
    Config::parse(&text).expect("the configuration is right")
}

/// Returns all files below a folder.
fn tree(folder: &Path) -> Tree {
    let mut tree = Tree::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(bytes) = fs::read(&path) {
                tree.insert(path, bytes);
            }
        }
    }
    tree
}

fn write(tree: &Tree) {
    let _ = fs::remove_dir_all(root());
    for (path, bytes) in tree {
        fs::create_dir_all(path.parent().expect("it has a folder")).expect("a folder can be made");
        fs::write(path, bytes).expect("a file can be written");
    }
}

/// A state with two sealed segments and an open one.
static SOUND: LazyLock<Tree> = LazyLock::new(|| {
    let _ = fs::remove_dir_all(root());
    for number in 0..3 {
        let folder = root().join("spool/md/new");
        fs::create_dir_all(&folder).expect("a folder can be made");
        fs::create_dir_all(root().join("spool/md/cur")).expect("a folder can be made");
        fs::create_dir_all(root().join("spool/md/tmp")).expect("a folder can be made");
        let message = format!("From: a@b\nMessage-ID: <{number}@x>\n\nhttp://{number}.example/\n");
        fs::write(folder.join(format!("{number}.M1.h")), message).expect("a file can be written");
        let mut host = Host {
            ms: number * 1_000_000,
        };
        let reader = SpoolReader::open(config(), &mut host).expect("a sound state opens");
        once(reader, &mut host).expect("a sound state is read");
    }
    tree(&root())
});

fn sealed(tree: &Tree) -> Vec<(&PathBuf, &Vec<u8>)> {
    let out = root().join("out");
    tree.iter()
        .filter(|(path, _)| {
            path.parent() == Some(&out) && path.extension().is_some_and(|ending| ending == "jsonl")
        })
        .collect()
}

/// Damages a file: truncates it, or overwrites bytes.
fn damage(tree: &mut Tree, edits: &[u8]) {
    let state: Vec<PathBuf> = tree
        .keys()
        .filter(|path| {
            path.starts_with(root().join("state"))
                || path.extension().is_some_and(|ending| ending == "meta")
        })
        .cloned()
        .collect();
    for edit in edits.chunks_exact(5) {
        let path = &state[usize::from(edit[0] >> 2) % state.len()];
        let bytes = tree.get_mut(path).expect("it is there");
        let at = usize::from(edit[1]) << 8 | usize::from(edit[2]);
        match edit[0] & 3 {
            0 => bytes.truncate(at),
            1 => bytes.extend_from_slice(&edit[3..]),
            _ if at < bytes.len() => bytes[at] = edit[3] ^ edit[4],
            _ => {}
        }
    }
}

fuzz_target!(|edits: &[u8]| {
    let sound = &*SOUND;
    let mut damaged = sound.clone();
    damage(&mut damaged, edits);
    let before = sealed(sound);
    assert!(before.len() >= 2, "no segment is sealed");
    write(&damaged);
    let mut host = Host { ms: 9_000_000 };
    if let Ok(reader) = SpoolReader::open(config(), &mut host) {
        let _ = once(reader, &mut host);
    }
    let after = tree(&root());
    for (path, bytes) in &before {
        assert_eq!(
            after.get(*path),
            Some(*bytes),
            "{} was changed",
            path.display()
        );
    }
    write(&damaged);
    let _ = rebuild_state(&config(), &mut host);
    let after = tree(&root());
    for (path, bytes) in &before {
        assert_eq!(
            after.get(*path),
            Some(*bytes),
            "{} was changed by a rebuild",
            path.display()
        );
    }
});
