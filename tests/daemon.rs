//! The daemon's promise: every message's records exactly once, whatever happens.
//!
//! `history` runs lists of actions in this process against a simple model, `trouble` single ones with a clock that jumps;
//! the others run the real program: `kills` at random moments, `damage` over files of its own that were changed behind
//! its back, `spools` over what programs do to mailboxes. What needs root or strace is in `tests/tools`.

mod cli;
mod damage;
mod history;
mod kills;
mod spools;
mod trouble;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// An empty folder of its own, in memory where there is such a place, removed when it is dropped.
pub(crate) struct Place(PathBuf);

impl Place {
    pub(crate) fn new(name: &str) -> Place {
        let memory = Path::new("/dev/shm");
        let base = if memory.is_dir() {
            memory.to_owned()
        } else {
            std::env::temp_dir()
        };
        let path = base.join(format!("urlspool-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Place(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // A test that fails leaves what it has seen.
        if !std::thread::panicking() {
            let _ = fs::remove_dir_all(&self.0);
        }
    }
}

/// Numbers that look random and are the same for the same seed.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % most
    }
}

/// What the sealed segments hold: how often each URL, whether its message was torn, and each line's id.
pub(crate) struct Given {
    pub(crate) urls: BTreeMap<String, u32>,
    pub(crate) torn: Vec<String>,
    pub(crate) ids: Vec<String>,
}

/// Reads all sealed segments. Every line must parse.
pub(crate) fn given(out: &Path) -> Given {
    given_in(&[out])
}

/// The same of several folders.
pub(crate) fn given_in(folders: &[&Path]) -> Given {
    let mut given = Given {
        urls: BTreeMap::new(),
        torn: Vec::new(),
        ids: Vec::new(),
    };
    for entry in folders
        .iter()
        .flat_map(|folder| fs::read_dir(folder).unwrap())
    {
        let path = entry.unwrap().path();
        if path.extension() != Some("jsonl".as_ref()) {
            continue;
        }
        let octets = fs::read(&path).unwrap();
        assert!(octets.ends_with(b"\n"), "{}: a torn line", path.display());
        for line in octets
            .split(|&byte| byte == b'\n')
            .filter(|line| !line.is_empty())
        {
            let record: serde_json::Value = serde_json::from_slice(line).unwrap();
            let url = record["url"].as_str().unwrap().to_owned();
            given.ids.push(record["id"].as_str().unwrap().to_owned());
            if record["truncated_tail"] == true {
                given.torn.push(url);
            } else {
                *given.urls.entry(url).or_default() += 1;
            }
        }
    }
    given
}

/// The text of message `n`, with a URL near its start and one near its end.
pub(crate) fn message(n: u64, filler: u64) -> String {
    let words = "some words of no interest at all, to fill the line\n".repeat(filler as usize);
    format!(
        "From: a@b.example\nSubject: number {n}\nMessage-ID: <{n}@x.example>\n\n\
         see http://h.example/{n}-a.html now\n{words}and http://h.example/{n}-b.html too\n"
    )
}
