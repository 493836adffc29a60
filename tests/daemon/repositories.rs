//! Watched git repositories: new commits, deletions, rewritten branches, with a simulated clock.

use std::fs;

use super::message;
use super::tombstones::Scene;
use crate::git_repository::{Change, git, has_git, repository};

/// Writes a new history of the scene's repository `list.git`. If it starts with the previous
/// commits, the branch grows; otherwise, it is rewritten.
fn write(scene: &Scene, changes: &[Change<'_>]) {
    let path = scene.path("list.git");
    repository(path.to_str().unwrap(), changes);
}

fn messages(numbers: &[u64]) -> Vec<String> {
    numbers.iter().map(|n| message(*n, 1)).collect()
}

fn scene(with_tombstones: bool) -> Scene {
    let mut scene = Scene::new();
    scene.config.output.tombstones = with_tombstones;
    scene
}

#[test]
fn new_commits_yield_records_and_a_rewritten_branch_is_read_again() {
    if !has_git() {
        return;
    }
    let mut scene = scene(false);
    let texts = messages(&[1, 2, 3, 4, 5]);
    let written = |numbers: &[usize]| -> Vec<Change<'_>> {
        let change = |n: &usize| Change::Write("m", &texts[n - 1]);
        numbers.iter().map(change).collect()
    };
    write(&scene, &written(&[1, 2]));
    scene.check(&[1, 2], 0);
    assert_eq!(scene.host.logged("skipped"), 0);
    // The same commits, and one more.
    write(&scene, &written(&[1, 2, 3]));
    scene.check(&[1, 2, 3], 0);
    assert_eq!(scene.host.logged("rewritten"), 0);
    // Earlier commits are not read again: the blob of one is removed, and no error follows.
    let list = scene.path("list.git");
    let list = list.to_str().unwrap();
    let blob = String::from_utf8(git(&["-C", list, "rev-parse", "HEAD~2:m"], b"")).unwrap();
    fs::remove_file(format!(
        "{list}/objects/{}/{}",
        &blob[..2],
        blob[2..].trim()
    ))
    .unwrap();
    // Without tombstones, a deletion writes no line.
    let mut changes = written(&[1, 2, 3]);
    changes.push(Change::Delete(&texts[1]));
    changes.push(Change::Write("m", &texts[3]));
    write(&scene, &changes);
    scene.check(&[1, 2, 3, 4], 0);
    write(&scene, &written(&[1, 3, 5]));
    scene.check(&[1, 2, 3, 4, 5], 0);
    assert_eq!(scene.host.logged("its branch was rewritten"), 1);
    write(&scene, &written(&[1, 3, 5, 2]));
    let lives = scene.check(&[1, 2, 3, 4, 5], 0);
    for n in 1..=5 {
        assert_eq!(lives.times_written(n), 1, "{n}");
    }
}

#[test]
fn deleted_and_rewritten_messages_are_gone() {
    if !has_git() {
        return;
    }
    let mut scene = scene(true);
    let texts = messages(&[1, 2, 3, 4]);
    let write_m = |n: usize| Change::Write("m", &texts[n - 1]);
    write(&scene, &[write_m(1), write_m(2)]);
    scene.check(&[1, 2], 0);
    let deletion = || Change::Delete(&texts[0]);
    write(&scene, &[write_m(1), write_m(2), deletion()]);
    scene.check(&[2], 1);
    write(&scene, &[write_m(1), write_m(2), deletion(), write_m(3)]);
    scene.check(&[2, 3], 1);
    // Writes the deleted message again.
    write(
        &scene,
        &[write_m(1), write_m(2), deletion(), write_m(3), write_m(1)],
    );
    let lives = scene.check(&[1, 2, 3], 1);
    assert_eq!((lives.times_written(1), lives.times_gone(1)), (2, 1));
    write(&scene, &[write_m(3), write_m(4)]);
    scene.check(&[3, 4], 3);
    fs::remove_dir_all(scene.path("list.git")).unwrap();
    scene.check(&[], 5);
}

#[test]
fn a_repository_without_mail_is_not_retried_after_a_failure() {
    if !has_git() {
        return;
    }
    let mut scene = scene(false);
    write(&scene, &[]);
    let config = scene.path("list.git/config");
    let sound = fs::read(&config).unwrap();
    fs::write(&config, "[broken\n").unwrap();
    scene.scan_after(0);
    assert_eq!(scene.status().failing, 1);
    fs::write(&config, sound).unwrap();
    scene.run(10);
    assert_eq!(scene.status().failing, 0);
}
