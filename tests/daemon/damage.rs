//! Damage to state and segments: the daemon refuses to start, or loses and duplicates nothing.
//!
//! `URLSPOOL_FLIPS` is the number of times the database is damaged (default 12).

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Command, Stdio};

use super::cli::{PROGRAM, code, configure, configured, once, program};
use super::{mbox_message, message, read_segments};
use crate::scene::{Folder, Rng, wait_until};

/// Number of messages in each of the mbox and the Maildir.
const MESSAGES: u64 = 60;

fn mbox(n: u64) -> String {
    mbox_message(n, 2)
}

fn fill(root: &Path) {
    configure(root, "");
    // The mbox has no writer while the daemon runs.
    let config = fs::read_to_string(root.join("c.toml")).unwrap();
    let config = config.replace("settle = \"100ms\"", "settle = \"1ms\"");
    fs::write(root.join("c.toml"), config).unwrap();
    let spool = root.join("spool");
    for folder in ["md/new", "md/cur", "md/tmp"] {
        fs::create_dir_all(spool.join(folder)).unwrap();
    }
    fs::write(
        spool.join("inbox"),
        (1..=MESSAGES).map(mbox).collect::<String>(),
    )
    .unwrap();
    for n in MESSAGES + 1..=2 * MESSAGES {
        fs::write(spool.join(format!("md/new/{n}.M1.host")), message(n, 2)).unwrap();
    }
}

/// Rewrites the mbox so that its messages must be recognised by content, and adds a new message to
/// the mbox and the Maildir.
fn change(root: &Path) {
    let messages = (1..=MESSAGES)
        .chain([2 * MESSAGES + 1])
        .map(mbox)
        .collect::<String>();
    fs::write(
        root.join("spool/inbox"),
        messages.replace("\nSubject:", "\nStatus: RO\nSubject:"),
    )
    .unwrap();
    fs::write(
        root.join("spool/md/new/last.M1.host"),
        message(2 * MESSAGES + 2, 2),
    )
    .unwrap();
}

/// Returns `true` if both URLs of each message were written once.
fn is_exact(root: &Path, messages: u64) -> bool {
    let written = read_segments(&root.join("out"));
    written.urls.len() as u64 == 2 * messages && written.ids.len() as u64 == 2 * messages
}

/// Starts the daemon, and kills it after `messages` commits, before it seals the segment.
fn kill_after(root: &Path, messages: u64) {
    let config = fs::read_to_string(root.join("c.toml")).unwrap();
    fs::write(root.join("c.toml"), config.replace("\"300ms\"", "\"1h\"")).unwrap();
    let mut daemon = program(root, &["watch"])
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_until("the daemon commits", || {
        let asked = program(root, &["status"]).output().unwrap();
        let status: serde_json::Value = serde_json::from_slice(&asked.stdout).unwrap_or_default();
        status["counts"]["messages"] == messages
    });
    daemon.kill().unwrap();
    daemon.wait().unwrap();
}

/// Copies spool, output and state, always to the same folder: paths identify mailboxes.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for folder in ["out", "state", "spool"] {
        let _ = fs::remove_dir_all(to.join(folder));
        let copied = Command::new("cp")
            .args(["-r", "--preserve=timestamps"])
            .arg(from.join(folder))
            .arg(to)
            .status();
        assert!(copied.unwrap().success());
    }
}

/// Overwrites a few random bytes of a file, or truncates it.
fn damage(path: &Path, rng: &mut Rng) {
    let file = OpenOptions::new().write(true).open(path).unwrap();
    let len = file.metadata().unwrap().len();
    let at = rng.below(len);
    match rng.below(8) {
        0 => file.set_len(at).unwrap(),
        1 => file
            .write_all_at(&vec![0; 4096.min(len - at) as usize], at)
            .unwrap(),
        _ => {
            let bytes: Vec<u8> = (0..=rng.below(64).min(len - at - 1))
                .map(|_| rng.below(256_usize) as u8)
                .collect();
            file.write_all_at(&bytes, at).unwrap();
        }
    }
}

/// Damages a file of the state. Returns `true` if the daemon refused it, `false` if it did no harm.
fn refused(root: &Path, name: &str, rng: &mut Rng) -> Result<bool, String> {
    change(root);
    damage(&root.join("state").join(name), rng);
    let output = once(root, &[]);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    match code(&output) {
        78 if stderr.contains("--rebuild-state") => Ok(true),
        0 if is_exact(root, 2 * MESSAGES + 2) => Ok(false),
        code => {
            let written = read_segments(&root.join("out"));
            Err(format!(
                "exit code {code}, {} records of {} URLs: {stderr}",
                written.ids.len(),
                written.urls.len()
            ))
        }
    }
}

#[test]
fn a_damaged_database_is_refused_or_does_no_harm() {
    let flips: u64 = std::env::var("URLSPOOL_FLIPS").map_or(12, |value| value.parse().unwrap());
    let folder = Folder::in_memory();
    let [root, clean, idle, unclean] =
        ["x", "clean", "idle", "unclean"].map(|name| folder.path(name));
    fs::create_dir_all(&root).unwrap();
    fill(&root);
    assert_eq!(code(&once(&root, &[])), 0);
    copy(&root, &clean);
    kill_after(&root, 0);
    copy(&root, &idle);
    for folder in ["out", "state"] {
        fs::remove_dir_all(root.join(folder)).unwrap();
    }
    kill_after(&root, 2 * MESSAGES);
    copy(&root, &unclean);
    let (mut outcomes, mut wrong) = ([0; 2], Vec::new());
    for flip in 0..flips {
        let mut rng = Rng::seeded(flip);
        let wholes = [
            (&clean, "state.db"),
            (&idle, "state.db"),
            (&unclean, "state.db-wal"),
        ];
        let (whole, name) = wholes[(flip % 3) as usize];
        copy(whole, &root);
        match refused(&root, name, &mut rng) {
            Ok(refused) => outcomes[usize::from(refused)] += 1,
            Err(why) => wrong.push(format!("{flip}: {why}")),
        }
    }
    println!("{} refused, {} harmless", outcomes[1], outcomes[0]);
    assert!(
        wrong.is_empty(),
        "{} of {flips}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(outcomes[1] > 0, "none was refused");
}

#[test]
fn a_change_of_the_state_after_a_crash_is_noticed() {
    let folder = Folder::in_memory();
    let [root, whole] = ["x", "whole"].map(|name| folder.path(name));
    fs::create_dir_all(&root).unwrap();
    fill(&root);
    assert_eq!(code(&once(&root, &[])), 0);
    kill_after(&root, 0);
    copy(&root, &whole);
    let changes = [
        (
            "UPDATE seen SET key=zeroblob(14) WHERE key=(SELECT min(key) FROM seen)",
            78,
        ),
        ("DELETE FROM seen WHERE key=(SELECT max(key) FROM seen)", 78),
        ("UPDATE mailbox SET key=zeroblob(16) WHERE id=1", 78),
        // These rows are compared with files whenever they are used.
        (
            "UPDATE file SET position=json_set(position, '$.last', json_extract(position, \
             '$.last')+1)",
            0,
        ),
        ("DELETE FROM file", 0),
    ];
    for (change, ends) in changes {
        copy(&whole, &root);
        let db = rusqlite::Connection::open(root.join("state/state.db")).unwrap();
        assert!(db.execute(change, []).unwrap() > 0, "{change}");
        drop(db);
        let output = once(&root, &[]);
        assert_eq!(
            code(&output),
            ends,
            "{change}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(is_exact(&root, 2 * MESSAGES), "{change}");
    }
}

#[test]
fn an_open_segment_is_truncated_to_the_committed_length_or_refused_if_shorter() {
    let folder = Folder::in_memory();
    let [root, whole] = ["x", "whole"].map(|name| folder.path(name));
    fs::create_dir_all(&root).unwrap();
    fill(&root);
    kill_after(&root, 2 * MESSAGES);
    copy(&root, &whole);
    let part = root.join("out/.open/0000000001.part");
    for (bytes, expected) in [(-1, 78), (-1000, 78), (0, 0), (1, 0), (70_000, 0)] {
        copy(&whole, &root);
        let len = fs::metadata(&part).unwrap().len();
        let file = OpenOptions::new().write(true).open(&part).unwrap();
        // The added bytes are zeros.
        file.set_len(len.strict_add_signed(bytes)).unwrap();
        let output = once(&root, &[]);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(code(&output), expected, "{bytes}: {stderr}");
        assert_eq!(
            stderr.contains(&format!("{} committed bytes are missing", -bytes)),
            bytes < 0,
            "{stderr}"
        );
        assert!(bytes < 0 || is_exact(&root, 2 * MESSAGES), "{bytes}");
    }
}

#[test]
fn a_file_size_limit_pauses_the_daemon() {
    let folder = configured();
    let root = folder.root();
    let no_url = |n: u64| format!("From a@b Mon Jan  1 00:00:00 1996\nSubject: {n}\n\nno URL\n\n");
    // Messages without URLs make only the state grow.
    fs::write(
        root.join("spool/inbox"),
        (0..20_000).map(no_url).collect::<String>() + &mbox(1),
    )
    .unwrap();
    let limited = "ulimit -f 256 && exec \"$@\"";
    let mut daemon = Command::new("sh")
        .args(["-c", limited, "sh", PROGRAM, "watch", "--config"])
        .arg(root.join("c.toml"))
        .stderr(fs::File::create(root.join("log")).unwrap())
        .spawn()
        .unwrap();
    let log = || fs::read_to_string(root.join("log")).unwrap();
    wait_until("the limit is reached", || {
        log().contains("paused for lack of space") || daemon.try_wait().unwrap().is_some()
    });
    let ended = daemon.try_wait().unwrap();
    daemon.kill().unwrap();
    daemon.wait().unwrap();
    let why = log()
        .lines()
        .find(|line| line.contains("paused"))
        .unwrap_or_default()
        .to_owned();
    assert!(
        ended.is_none() && why.contains("state/state.db: ") && why.contains("File too large"),
        "{ended:?} {}",
        log()
    );
    assert_eq!(code(&once(root, &[])), 0);
    assert!(
        is_exact(root, 1),
        "{:?}",
        read_segments(&root.join("out")).urls
    );
}
