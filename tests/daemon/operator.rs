//! The daemon as its operator sees it: log, status, metrics, files, sockets, the unit.

mod documentation;
mod permissions;

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::chown;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::fs::FlockOperation;
use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};
use serde_json::Value;

use super::cli::{code, configure, configured, once, program};
use super::scopes::set_scope;
use super::{mbox_message, read_segments};
use crate::scene::{Folder, assert_contains, copy_program, program_command};

const NOBODY: u32 = 65_534;

/// A running daemon with a log in JSON.
struct Operated<'f> {
    root: &'f Path,
    child: Child,
}

impl<'f> Operated<'f> {
    fn start(root: &'f Path, mut command: Command) -> Operated<'f> {
        let log = fs::File::create(root.join("log")).unwrap();
        let child = command
            .args(["watch", "--log", "json", "--config"])
            .arg(root.join("c.toml"))
            .stderr(log)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let daemon = Operated { root, child };
        daemon.until("the daemon watches", |daemon| daemon.logged("watching"));
        daemon
    }

    /// Waits until a condition holds.
    #[track_caller]
    fn until(&self, condition: &str, holds: impl Fn(&Self) -> bool) {
        let start = Instant::now();
        while !holds(self) {
            let log = self.log();
            assert!(
                start.elapsed() < Duration::from_secs(30),
                "{condition}\n{log}"
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn log(&self) -> String {
        fs::read_to_string(self.root.join("log")).unwrap()
    }

    /// Returns `true` if a log message starts with this text.
    fn logged(&self, text: &str) -> bool {
        self.log()
            .contains(&format!("\"fields\":{{\"message\":\"{text}"))
    }

    fn status(&self) -> Value {
        let output = program(self.root, &["status"]).output().unwrap();
        assert_eq!(code(&output), 0);
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Returns the response of the metrics socket.
    fn get(&self, path: &str) -> String {
        let mut socket = UnixStream::connect(self.root.join("m.sock")).unwrap();
        write!(socket, "GET {path} HTTP/1.1\r\n\r\n").unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).unwrap();
        answer
    }

    fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args([name, &pid]).status();
        assert!(sent.unwrap().success());
    }

    /// Waits until the daemon ends by itself. Returns its exit code and log.
    fn end(mut self) -> (Option<i32>, String) {
        let status = self.child.wait().unwrap();
        (status.code(), self.log())
    }

    /// Stops the daemon. Returns the lines of its log.
    fn stop(mut self) -> Vec<Value> {
        self.signal("-TERM");
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
        let log = self.log();
        log.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

/// Builds a command for an unprivileged user. Permissions do not bind root, so root runs a copy of
/// the program as `nobody`.
fn without_privileges(root: &Path) -> Command {
    if !rustix::process::geteuid().is_root() {
        return program_command();
    }
    let copy = root.join("urlspool");
    copy_program(&copy);
    for path in ["", "c.toml", "spool"] {
        chown(root.join(path), Some(NOBODY), Some(NOBODY)).unwrap();
    }
    let mut command = Command::new(copy);
    command.uid(NOBODY).gid(NOBODY);
    command
}

#[test]
fn a_reload_logs_changes_and_settings_that_need_a_restart() {
    let folder = configured();
    let root = folder.root();
    let daemon = Operated::start(root, program_command());
    daemon.signal("-HUP");
    daemon.until("the reload without changes is logged", |daemon| {
        daemon.logged("reloaded the configuration: no changes")
    });
    let config = fs::read_to_string(root.join("c.toml")).unwrap();
    let changed = config
        .replace("settle = \"100ms\"", "settle = \"200ms\"")
        .replace("/out\"", "/out2\"");
    let other = root.join("other");
    fs::create_dir(&other).unwrap();
    let text = format!("{changed}[[spool]]\npath = \"{}\"\n", other.display());
    fs::write(root.join("c.toml"), text).unwrap();
    daemon.signal("-HUP");
    let path = root.display();
    for line in [
        "changed watch.settle: 100ms -> 200ms\"".to_owned(),
        format!("changed output.dir: {path}/out -> {path}/out2; takes effect after a restart\""),
        format!("added spool {path}/other\""),
    ] {
        daemon.until(&line, |daemon| daemon.logged(&line));
    }
    fs::write(root.join("c.toml"), "[watch]\nsettle = 5\n").unwrap();
    daemon.signal("-HUP");
    let refused = "the old configuration stays in force: ";
    daemon.until("the refused configuration is logged", |daemon| {
        daemon.logged(refused)
    });
    // A changed scope is refused together with every other change.
    fs::write(root.join("c.toml"), config.replace("\"100ms\"", "\"1h\"")).unwrap();
    set_scope(root, "dedupe = \"spool\"\n");
    daemon.signal("-HUP");
    daemon.until("the other scope is refused", |daemon| {
        daemon.logged(&format!("{refused}spool "))
    });
    let mails = [1, 2].map(|n| mbox_message(n, 1));
    fs::write(root.join("spool/a"), mails.concat()).unwrap();
    fs::write(root.join("spool/b"), &mails[0]).unwrap();
    daemon.until("the mail is written", |daemon| {
        daemon.status()["counts"]["records"] == 6
    });
    daemon.stop();
    assert!(!root.join("out2").exists());
}

#[test]
fn the_log_names_segments_spools_and_the_metrics_address_without_nested_quotes() {
    let folder = Folder::in_memory();
    let root = folder.root();
    let later = root.join("later");
    configure(
        root,
        &format!("[[spool]]\npath = \"{}\"\n", later.display()),
    );
    fs::write(root.join("spool/a \"quoted\" name"), mbox_message(1, 1)).unwrap();
    fs::write(root.join("spool/a \"cut\" name.gz"), b"\x1f\x8b\x08\0cut").unwrap();
    let no_boundary = "From: a@b.example\nContent-Type: multipart/mixed\n\nno boundary\n";
    fs::write(root.join("spool/odd.eml"), no_boundary).unwrap();
    let daemon = Operated::start(root, program_command());
    let path = root.display();
    assert!(daemon.logged(&format!("metrics are served at unix:{path}/m.sock\"")));
    daemon.until("the segment is sealed", |daemon| {
        daemon.logged("sealed a segment")
    });
    daemon.until("the damage is reported", |daemon| {
        daemon.log().contains("cut\\\" name.gz")
    });
    daemon.until("the spool is missing", |daemon| {
        daemon.logged(&format!("spool {path}/later does not exist yet"))
    });
    fs::create_dir(&later).unwrap();
    fs::write(later.join("inbox"), mbox_message(2, 1)).unwrap();
    daemon.until("the spool is back", |daemon| {
        daemon.logged(&format!("spool {path}/later exists now"))
    });
    fs::write(root.join("spool/inbox"), mbox_message(3, 1)).unwrap();
    daemon.until("the message is committed", |daemon| {
        daemon.status()["counts"]["messages"] == 4
    });
    let log = daemon.stop();
    let sealed: Vec<&Value> = log
        .iter()
        .map(|line| &line["fields"])
        .filter(|fields| fields["message"] == "sealed a segment")
        .collect();
    let names: Vec<&str> = sealed
        .iter()
        .map(|fields| fields["segment"].as_str().unwrap())
        .collect();
    let mut published: Vec<String> = fs::read_dir(root.join("out"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".jsonl"))
        .collect();
    published.sort();
    assert_eq!(names, published, "the segment of the stop is logged too");
    let levels = |kind: &str| {
        let lines = log.iter().filter(|line| line["fields"]["kind"] == kind);
        let levels: Vec<&str> = lines.map(|line| line["level"].as_str().unwrap()).collect();
        levels
    };
    assert_eq!(
        (levels("damage"), levels("ambiguous")),
        (vec!["WARN"], vec!["INFO"])
    );
    assert_eq!(
        (&sealed[0]["records"], &sealed[0]["messages"]),
        (&2.into(), &1.into())
    );
    // A value may contain quotation marks, which JSON escapes once.
    for line in &log {
        for (key, value) in line["fields"].as_object().unwrap() {
            let text = value.as_str().unwrap_or("");
            assert!(!text.contains('\\'), "{key}: {text}");
            assert!(
                !text.contains('"') || text.contains("\"cut\""),
                "{key}: {text}"
            );
        }
    }
}

#[test]
fn the_status_names_process_start_last_segment_and_last_error() {
    let folder = configured();
    let root = folder.root();
    fs::write(
        root.join("spool/inbox"),
        mbox_message(1, 1) + &mbox_message(2, 1),
    )
    .unwrap();
    assert_eq!(code(&once(root, &[])), 0);
    let daemon = Operated::start(root, program_command());
    let status = daemon.status();
    assert_eq!(status["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(status["pid"], daemon.child.id());
    let is_utc = |value: &Value| {
        let text = value.as_str().unwrap_or("");
        text.len() == 20 && text.starts_with("20") && text.ends_with('Z')
    };
    assert!(is_utc(&status["started"]), "{status}");
    // The previous run sealed the segment.
    let last = &status["last_sealed"];
    assert!(is_utc(&last["time"]), "{status}");
    assert_eq!(
        (&last["name"], &last["records"], &last["messages"]),
        (&"0000000001.jsonl".into(), &4.into(), &2.into())
    );
    assert_eq!(
        (&status["last_error"], &status["last_error_time"]),
        (&Value::Null, &Value::Null)
    );
    fs::write(root.join("spool/cut.gz"), b"\x1f\x8b\x08\0cut").unwrap();
    fs::write(root.join("spool/inbox2"), mbox_message(3, 1)).unwrap();
    daemon.until("the error is in the status", |daemon| {
        daemon.status()["last_error"].is_string()
    });
    assert!(is_utc(&daemon.status()["last_error_time"]));
    daemon.until("the next segment is in the status", |daemon| {
        daemon.status()["last_sealed"]["name"] == "0000000002.jsonl"
    });
    let metrics = daemon.get("/metrics");
    let build = format!(
        "\nurlspool_build_info{{version=\"{}\"}} 1\n",
        env!("CARGO_PKG_VERSION")
    );
    assert!(metrics.contains(&build), "{metrics}");
    assert!(metrics.contains("\nurlspool_lag_seconds 0."), "{metrics}");
    daemon.stop();
}

/// Row 124. The daemon raises the limit on open files at its start; the test lowers it here.
#[test]
fn without_a_free_descriptor_the_sockets_wait() {
    let folder = configured();
    let root = folder.root();
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -S -n 256; exec \"$@\"", "sh"]);
    command.arg(program_command().get_program());
    let daemon = Operated::start(root, command);
    let limit = |files| {
        let limit = Rlimit {
            current: files,
            maximum: getrlimit(Resource::Nofile).maximum,
        };
        prlimit(
            Some(Pid::from_child(&daemon.child)),
            Resource::Nofile,
            limit,
        )
        .unwrap()
    };
    let raised = limit(Some(3));
    assert_eq!(raised.current, raised.maximum);
    // Each connection takes the descriptor that `accept` freed.
    for socket in ["state/control.sock", "m.sock"] {
        UnixStream::connect(root.join(socket)).unwrap();
    }
    let waiting = |daemon: &Operated<'_>, socket| {
        let message = format!("cannot accept clients of the {socket} socket");
        daemon.log().matches(&message).count()
    };
    for socket in ["control", "metrics"] {
        daemon.until("it waits", |daemon| waiting(daemon, socket) == 1);
    }
    let ticks = || {
        let stat = fs::read_to_string(format!("/proc/{}/stat", daemon.child.id())).unwrap();
        let (_, fields) = stat.rsplit_once(')').unwrap();
        let times = fields.split_whitespace().skip(11).take(2);
        times
            .map(|ticks| ticks.parse::<u64>().unwrap())
            .sum::<u64>()
    };
    let before = ticks();
    std::thread::sleep(Duration::from_secs(1));
    let used = ticks() - before;
    // Out of 100 ticks per second.
    assert!(used < 20, "{used} ticks");
    limit(raised.current);
    daemon.status();
    assert!(daemon.get("/healthz").contains(" 200 "));
    for socket in ["control", "metrics"] {
        assert_eq!(waiting(&daemon, socket), 1, "{socket}");
    }
    daemon.stop();
}

#[test]
fn a_rebuild_says_when_records_will_be_written_again() {
    let folder = configured();
    let root = folder.root();
    for n in 1..=3 {
        fs::write(root.join(format!("spool/inbox{n}")), mbox_message(n, 1)).unwrap();
        assert_eq!(code(&once(root, &[])), 0);
    }
    let rebuild = || {
        let output = once(root, &["--rebuild-state"]);
        assert_eq!(code(&output), 0);
        String::from_utf8(output.stderr).unwrap()
    };
    let complete = rebuild();
    assert_contains(&complete, "3 sidecars, which list 3 messages");
    assert!(!complete.contains("again"), "{complete}");

    for path in ["out/0000000002.meta", "state/sidecars/0000000002.meta"] {
        fs::remove_file(root.join(path)).unwrap();
    }
    let one_missing = rebuild();
    assert_contains(
        &one_missing,
        "the sidecar of segment 2 is missing or damaged",
    );
    assert_contains(&one_missing, "read and written again");

    fs::remove_dir_all(root.join("out")).unwrap();
    fs::remove_dir_all(root.join("state/sidecars")).unwrap();
    let none = rebuild();
    assert_contains(&none, "no sidecars and no snapshot were found");
}

/// Adds lines to the table `[watch]` of the configuration.
fn watch_with(root: &Path, lines: &str) {
    let config = fs::read_to_string(root.join("c.toml")).unwrap();
    let config = config.replace("[watch]\n", &format!("[watch]\n{lines}\n"));
    fs::write(root.join("c.toml"), config).unwrap();
}

/// Regression: `--once` waited for a minute, then ended silently with status 0.
#[test]
fn once_ends_beside_a_locked_mailbox_and_names_it() {
    let folder = configured();
    let (root, spool) = (folder.root(), folder.path("spool"));
    watch_with(root, "lock_timeout = \"1s\"");
    for name in ["inbox", "box", "free"] {
        fs::write(spool.join(name), mbox_message(1, 1)).unwrap();
    }
    fs::write(spool.join("inbox.lock"), "").unwrap();
    let writer = File::options().write(true).open(spool.join("box")).unwrap();
    rustix::fs::fcntl_lock(&writer, FlockOperation::LockExclusive).unwrap();
    let begun = Instant::now();
    let output = once(root, &[]);
    assert!(
        begun.elapsed() < Duration::from_secs(30),
        "{:?}",
        begun.elapsed()
    );
    let log = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(code(&output), 1, "{log}");
    let (inbox, locked) = (spool.join("inbox"), spool.join("box"));
    let lines: Vec<&str> = log
        .lines()
        .filter(|line| line.starts_with("urlspool: "))
        .collect();
    assert_eq!(lines.len(), 2, "{log}");
    let pid = format!("by process {} (fcntl)", std::process::id());
    assert!(
        lines[0].contains(&*locked.to_string_lossy()) && lines[0].ends_with(&pid),
        "{log}"
    );
    assert_contains(lines[1], &format!("{}: locked for", inbox.display()));
    assert_contains(
        lines[1],
        &format!("by the lock file {}.lock", inbox.display()),
    );
    // The other mailbox is read.
    assert_eq!(read_segments(&root.join("out")).ids.len(), 2);
    drop(writer);
    fs::remove_file(spool.join("inbox.lock")).unwrap();
    assert_eq!(code(&once(root, &[])), 0);
    assert_eq!(read_segments(&root.join("out")).ids.len(), 6);
}

/// Regression: the daemon was healthy and committed twice a second.
#[test]
fn a_locked_mailbox_is_named_and_causes_no_commits() {
    let folder = configured();
    let root = folder.root();
    watch_with(root, "lock_timeout = \"2s\"");
    fs::write(root.join("spool/free"), mbox_message(1, 1)).unwrap();
    fs::write(root.join("spool/inbox"), mbox_message(2, 1)).unwrap();
    fs::write(root.join("spool/inbox.lock"), "").unwrap();
    let daemon = Operated::start(root, program_command());
    let name = root.join("spool/inbox").display().to_string();
    let issue = |status: &Value| status["issues"][0].as_str().unwrap_or("").to_owned();
    daemon.until("the mailbox is named", |daemon| {
        issue(&daemon.status()).starts_with(&format!("{name} is not read: locked for "))
    });
    let status = daemon.status();
    assert_eq!(
        (&status["healthy"], &status["locked"]),
        (&false.into(), &1.into())
    );
    assert_eq!(status["locks"][0]["path"], *name);
    assert!(daemon.get("/healthz").contains("503"));
    assert_contains(&daemon.get("/metrics"), "\nurlspool_locked_files 1\n");
    let commits = |daemon: &Operated<'_>| daemon.status()["counts"]["commits"].clone();
    let before = commits(&daemon);
    std::thread::sleep(Duration::from_millis(1_500));
    assert_eq!(commits(&daemon), before, "there is nothing to commit");
    fs::remove_file(root.join("spool/inbox.lock")).unwrap();
    daemon.until("the mailbox is read", |daemon| {
        let status = daemon.status();
        status["healthy"] == true && status["counts"]["messages"] == 2
    });
    let log = daemon.stop();
    let about = |text: &str| {
        let lines = log
            .iter()
            .filter(|line| line["fields"]["message"].as_str().unwrap().contains(text));
        lines.count()
    };
    assert_eq!(
        (about("not read: locked for"), about("no longer locked")),
        (1, 1),
        "{log:?}"
    );
}

/// Regression: the daemon stayed healthy and wrote into a removed folder.
#[test]
fn a_removed_output_folder_is_noticed_and_its_mail_is_read_again() {
    let folder = configured();
    let (root, out) = (folder.root(), folder.path("out"));
    let config = fs::read_to_string(root.join("c.toml")).unwrap();
    let config = config.replace("seal_interval = \"300ms\"", "seal_interval = \"1h\"");
    fs::write(root.join("c.toml"), config).unwrap();
    fs::write(root.join("spool/inbox"), mbox_message(1, 1)).unwrap();
    let daemon = Operated::start(root, program_command());
    daemon.until("the mail is committed", |daemon| {
        daemon.status()["counts"]["records"] == 2
    });
    fs::remove_dir_all(&out).unwrap();
    let removed = Instant::now();
    let (code_at_end, log) = daemon.end();
    assert!(
        removed.elapsed() < Duration::from_secs(10),
        "{:?}",
        removed.elapsed()
    );
    assert_eq!(code_at_end, Some(78), "{log}");
    assert_contains(&log, "was removed or replaced");
    assert!(log.contains("urlspool watch --rebuild-state"), "{log}");
    let again = once(root, &[]);
    let message = String::from_utf8_lossy(&again.stderr);
    assert_eq!(code(&again), 78, "{message}");
    assert!(message.contains("--rebuild-state"), "{message}");
    assert_eq!(code(&once(root, &["--rebuild-state"])), 0);
    assert_eq!(read_segments(&out).ids.len(), 2);
}
