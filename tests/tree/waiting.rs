//! Reads that wait: a FIFO, an interrupt.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};
use std::{fs, thread};

use super::RACE_TIMEOUT;
use crate::containers::{mail, scan};
use crate::scene::{Folder, urlspool};

/// Rows 90 and 94: an entry that is not a regular file, or no longer one when it is opened, is
/// neither read nor waited for.
#[test]
fn a_fifo_blocks_no_scan() {
    let folder = Folder::with("mail", mail(1).as_bytes());
    let fifo = folder.path("fifo");
    assert!(
        Command::new("mkfifo")
            .arg(&fifo)
            .status()
            .unwrap()
            .success()
    );
    std::os::unix::fs::symlink("/dev/zero", folder.path("zero")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(folder.path("socket")).unwrap();
    let output = scan(folder.root());
    assert_eq!(output.urls().len(), 1);
    assert_eq!(output.summary.files_skipped.sum(), 3);
    let stale = urlspool_sources::walk::WalkedFile::named(fifo);
    assert!(urlspool_sources::read::open(&stale).is_err());
}

/// Returns `true` if the process handles the signal with this number.
fn catches(child: &Child, signal: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let caught = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    caught.is_some_and(|mask| mask & 1 << (signal - 1) != 0)
}

/// Row 96: an interrupt ends the wait for a source that neither sends bytes nor ends.
#[test]
fn an_interrupt_ends_a_read_that_waits() {
    // A shell makes its background processes ignore SIGINT, and all processes that these start.
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let ignored = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .unwrap();
    let is_ignored = u64::from_str_radix(ignored.trim(), 16).unwrap() & 0b10 != 0;
    let interrupt = if is_ignored { "-TERM" } else { "-INT" };
    for threads in ["1", "3"] {
        let mut command = urlspool(["scan", "-j", threads, "-"]);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(mail(1).as_bytes()).unwrap();
        let begun = Instant::now();
        while !catches(&child, if is_ignored { 15 } else { 2 }) && begun.elapsed() < RACE_TIMEOUT {
            thread::sleep(Duration::from_millis(5));
        }
        thread::sleep(Duration::from_millis(200));
        assert!(child.try_wait().unwrap().is_none(), "it does not wait");
        assert!(
            Command::new("kill")
                .args([interrupt, &child.id().to_string()])
                .status()
                .unwrap()
                .success()
        );
        let begun = Instant::now();
        let status = loop {
            match child.try_wait().unwrap() {
                Some(status) => break status,
                None if begun.elapsed() < RACE_TIMEOUT => thread::sleep(Duration::from_millis(5)),
                None => {
                    child.kill().unwrap();
                    panic!("it goes on waiting");
                }
            }
        };
        assert_eq!(status.code(), Some(130), "{status}");
        drop(stdin);
    }
}

/// A program that follows a file sends each message when it arrives, and does not end. A message is
/// written when the next one starts.
#[test]
fn messages_of_a_pipe_are_written_when_they_have_ended() {
    let mail = |number: usize| {
        format!("From: a@b.example\nSubject: {number}\n\nsee http://h.example/{number} now\n")
    };
    let mbox = |number| format!("From a@b Mon Jan  1 00:00:00 1996\n{}\n", mail(number));
    let mboxcl = |number| {
        let body = format!("see http://h.example/{number} now\n");
        let fields = format!("From: a@b.example\nContent-Length: {}", body.len());
        format!("From a@b Mon Jan  1 00:00:00 1996\n{fields}\n\n{body}\n")
    };
    let mmdf = |number| format!("\x01\x01\x01\x01\n{}\x01\x01\x01\x01\n", mail(number));
    let rnews = |number| format!("#! rnews {}\n{}", mail(number).len(), mail(number));
    let babyl = |number| {
        let start = if number == 0 { "BABYL OPTIONS:\n" } else { "" };
        format!("{start}\x1F\x0C\n0,,\n*** EOOH ***\n{}", mail(number))
    };
    let formats: [&dyn Fn(usize) -> String; 5] = [&mbox, &mboxcl, &mmdf, &rnews, &babyl];
    for message in formats {
        for threads in ["1", "2"] {
            let mut child = urlspool(["scan", "-q", "-j", threads, "--format", "urls", "-"])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            let mut stdin = child.stdin.take().unwrap();
            let lines = BufReader::new(child.stdout.take().unwrap()).lines();
            let (sender, received) = channel();
            thread::spawn(move || {
                lines
                    .map_while(Result::ok)
                    .try_for_each(|line| sender.send(line))
            });
            stdin.write_all(message(0).as_bytes()).unwrap();
            for number in 1..=3 {
                let text = message(number);
                let (start, rest) = text.split_at(text.len() / 2);
                stdin.write_all(start.as_bytes()).unwrap();
                thread::sleep(Duration::from_millis(150));
                stdin.write_all(rest.as_bytes()).unwrap();
                // The pipe stays open.
                let line = received.recv_timeout(RACE_TIMEOUT);
                assert_eq!(line.unwrap(), format!("http://h.example/{}", number - 1));
            }
            drop(stdin);
            assert!(child.wait().unwrap().success());
        }
    }
}
