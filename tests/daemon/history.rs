//! Random lists of actions, run against the daemon in this process and against a model of its output.
//!
//! With tombstones, the model also predicts which messages are gone, see `history/absences.rs`.
//!
//! `URLSPOOL_HISTORIES` sets their number (default 15). A list that fails is shortened as far as it still fails.

mod absences;
mod action;
mod model;

use std::fs;
use std::path::Path;

use self::action::{Action, Tombstones, action};
use self::model::Model;
use crate::scene::{Folder, Rng};

fn run(actions: &[Action], tombstones: Tombstones) -> Result<(), String> {
    let folder = Folder::in_memory();
    let mut model = Model::new(folder.root(), tombstones);
    for &action in actions {
        model.run(action);
    }
    match tombstones {
        Tombstones::Off => model.check(&folder.path("out")),
        Tombstones::On => model.check_gone(&folder.path("out")),
    }
}

/// Removes each action without which the list still fails.
fn shrink(mut actions: Vec<Action>, tombstones: Tombstones) -> Vec<Action> {
    let mut at = 0;
    while at < actions.len() {
        let mut fewer = actions.clone();
        fewer.remove(at);
        if run(&fewer, tombstones).is_err() {
            actions = fewer;
        } else {
            at += 1;
        }
    }
    actions
}

fn run_histories(tombstones: Tombstones) {
    let number =
        |name: &str, usual: u64| std::env::var(name).map_or(usual, |value| value.parse().unwrap());
    let (histories, seed) = (number("URLSPOOL_HISTORIES", 15), number("URLSPOOL_SEED", 1));
    for history in seed..seed + histories {
        let mut rng = Rng::seeded(history);
        let actions: Vec<Action> = (0..60).map(|_| action(&mut rng, tombstones)).collect();
        if run(&actions, tombstones).is_err() {
            let actions = shrink(actions, tombstones);
            panic!(
                "seed {history}: {}: {actions:?}",
                run(&actions, tombstones).unwrap_err()
            );
        }
    }
}

#[test]
fn each_url_is_written_once_after_any_history() {
    run_histories(Tombstones::Off);
}

#[test]
fn each_message_is_gone_once_after_any_history() {
    run_histories(Tombstones::On);
}

/// File systems on disks reuse inodes at once; those in memory give each file an inode of its own.
#[test]
fn a_new_file_with_a_reused_inode_is_another_file() {
    const FILES: usize = 300;
    let folder = Folder::in_memory();
    let mut model = Model::new(folder.root(), Tombstones::Off);
    let spool = Folder::below(Path::new(env!("CARGO_TARGET_TMPDIR")));
    model.root = spool.root().to_owned();
    model.config.spool[0].path = model.root.clone();
    for _ in 0..FILES {
        // Files with the same size and time: only the file system distinguishes them.
        model.clock = 1_000_000_000;
        let entry = model.entry(3);
        model.append(entry.text.as_bytes());
        model.inbox.push(entry);
        model.settle();
        fs::remove_file(model.root.join("inbox")).unwrap();
        model.inbox.clear();
    }
    assert_eq!(model.check(&folder.path("out")), Ok(()));
    assert_eq!(model.must.len(), FILES);
}
