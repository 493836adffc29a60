//! Output of `scan` on a terminal: hints, progress and the last line.

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::fs::{Mode, OFlags, open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use super::MAIL;
use crate::scene::{Folder, assert_contains, ended, urlspool};

/// Runs a command with standard error on a terminal, and standard output too unless it is
/// redirected. Returns the text on the terminal.
fn on_terminal(command: &mut Command, is_stdout: bool) -> String {
    shown_on(new_terminal(), command, is_stdout)
}

/// Runs a command on a terminal with this number of columns. Returns the text on the terminal.
pub(super) fn on_terminal_of(columns: u16, command: &mut Command) -> String {
    let master = new_terminal();
    let size = Winsize {
        ws_row: 24,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(&master, size).unwrap();
    shown_on(master, command, true)
}

fn new_terminal() -> OwnedFd {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    master
}

fn shown_on(master: OwnedFd, command: &mut Command, is_stdout: bool) -> String {
    let name = ptsname(&master, Vec::new()).unwrap();
    let terminal = open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
    if is_stdout {
        command.stdout(Stdio::from(terminal.try_clone().unwrap()));
    }
    let mut child = command
        .stdin(Stdio::null())
        .stderr(Stdio::from(terminal))
        .env("TERM", "xterm")
        .spawn()
        .unwrap();
    // The command holds a copy of the terminal, whose end is visible after all are closed.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let shown = read_to_end(master);
    child.wait().unwrap();
    shown
}

/// When its other end is closed, a terminal returns an error and not an end of file.
fn read_to_end(master: OwnedFd) -> String {
    let mut bytes = Vec::new();
    let _ = File::from(master).read_to_end(&mut bytes);
    String::from_utf8(bytes).unwrap()
}

#[test]
fn a_run_on_a_terminal_ends_with_one_line_of_totals() {
    let folder = Folder::new();
    let mail = folder.file("a.eml", MAIL);
    let out = folder.file("out", "");
    let shown = on_terminal(&mut urlspool(["scan", "-o", &out, &mail]), true);
    assert_contains(&shown, "urlspool: 1 record in 1 message of 1 file");
    let quiet = on_terminal(&mut urlspool(["scan", "-q", "-o", &out, &mail]), true);
    assert_eq!(quiet, "");
    let piped = ended(&mut urlspool(["scan", "-o", &out, &mail]), b"");
    assert_eq!(piped.stderr, "");
}

/// Files and pipes receive the bytes unchanged, except in CSV. Terminals receive no controls.
#[test]
fn a_terminal_is_shown_escapes() {
    let folder = Folder::new();
    let hostile = "\u{9b}31m\u{1b}]0;x\u{7}\u{202e}";
    let mail = format!("From: {hostile}\nSubject: {hostile}\n\n<URL:http://a.example/\u{9b}x>\n");
    let mail = folder.file("mail", mail);
    let is_hostile = |c: char| c != '\n' && c != '\r' && (c.is_control() || c == '\u{202e}');
    for format in [
        &["--format", "urls"][..],
        &["--format", "hrefs"],
        &["--format", "csv"],
        &["--format", "jsonl"],
        &["--fields", "slim"],
        &["--color", "never"],
    ] {
        let args = [&["scan", "-q"], format, &[&mail]].concat();
        let shown = on_terminal(&mut urlspool(&args), true);
        assert!(!shown.contains(is_hostile), "{format:?}: {shown:?}");
        assert!(shown.contains("a.example"), "{format:?}: {shown:?}");
        let written = ended(&mut urlspool(&args), b"").stdout;
        let written = String::from_utf8(written).unwrap();
        // Browser URLs have no such character. CSV is escaped because programs display its texts.
        let is_escaped = format.contains(&"hrefs") || format.contains(&"csv");
        assert_ne!(
            written.contains('\u{9b}'),
            is_escaped,
            "{format:?}: {written:?}"
        );
    }
    let json = on_terminal(&mut urlspool(["parse", "http://a/\u{9b}"]), true);
    let value: serde_json::Value = serde_json::from_str(json.trim_end()).unwrap();
    assert_eq!(value["input"], "http://a/\u{9b}");
    assert!(!json.contains(is_hostile), "{json:?}");
    let shown = on_terminal(&mut urlspool(["show", &format!("{mail}:0-8")]), true);
    assert_eq!(shown, "From: \\u{9b}\r\n");
}

/// Returns the standard error of a scan with these arguments. It must succeed.
#[track_caller]
fn hints(args: &[&str]) -> String {
    let ended = ended(urlspool(["scan"]).args(args), b"");
    assert_eq!(ended.status, Some(0), "{args:?}: {}", ended.stderr);
    let quiet = crate::scene::ended(urlspool(["scan", "-q"]).args(args), b"");
    assert_eq!(quiet.stderr, "", "{args:?}");
    ended.stderr
}

#[test]
fn an_empty_result_has_a_hint() {
    let folder = Folder::new();
    let mail = folder.file("mail/a.eml", MAIL);
    std::fs::create_dir(folder.path("empty")).unwrap();
    let path = |name: &str| folder.path(name).into_os_string().into_string().unwrap();
    let (empty, full) = (path("empty"), path("mail"));
    assert!(Path::new(&mail).exists());
    for (args, expected) in [
        (&[empty.as_str()][..], "there is no file in"),
        (&["--include", "*.mbox", &full], "no file matches --include"),
        (&["--exclude", "*", &full], "--exclude matches every file"),
        (&["--schemes", "htps", &full], "htps is an unknown scheme"),
    ] {
        let hint = hints(args);
        assert!(hint.contains(expected), "{args:?}: {hint}");
    }
    let args = [
        "scan",
        "--since",
        "1998-01-01",
        "--until",
        "1996-01-01",
        &full,
    ];
    let reversed = ended(&mut urlspool(args), b"");
    reversed.check(2, "--since is not before --until");
    let pattern = format!("{full}/*.mbox");
    let missing = ended(&mut urlspool(["scan", &pattern]), b"");
    assert_eq!(missing.status, Some(1));
    let hint = "*.mbox: the pattern matches no file";
    assert!(missing.stderr.contains(hint), "{}", missing.stderr);
    let dated = folder.file(
        "dated",
        "Date: Mon, 1 Jul 1996 00:00:00 GMT\n\nhttp://a.example/\n",
    );
    let none = folder.file("none", "no link here\n");
    assert_eq!(hints(&[&none]), "urlspool: no URL was found\n");
    let empty = folder.file("nothing", "");
    assert_eq!(hints(&[&empty]), "urlspool: no URL was found\n");
    let hint = hints(&["--schemes", "gopher", &dated]);
    assert_contains(&hint, "the only URL found does not match");
    let hint = hints(&["--since", "1998-01-01", &dated]);
    assert!(hint.contains("no message is left by"), "{hint}");
    assert_eq!(hints(&["--schemes", "http, HTTPS", &full]), "");
    let config = folder.file("c.toml", "[extract]\nschemes = [\"htps\"]\n");
    let hint = hints(&["--config", &config, &full]);
    assert!(hint.contains("extract.schemes: htps is"), "{hint}");
}

/// Row 97: no command prints control characters from texts, file names or arguments on a terminal.
#[test]
fn row_97_no_command_shows_control_characters() {
    let folder = Folder::new();
    let hostile = "\u{1b}]8;;http://x/\u{7}a\u{1b}]52;c;\
        eA==\u{7}\u{1b}[2J\u{9b}1m\u{7f}\u{2028}\u{2029}\u{202e}\u{2066}\u{200f}";
    let name = hostile.replace('/', ":");
    let html = format!("<a href=\"http://a.example/{hostile}\">{hostile}</a>");
    let mail = folder.file(
        &format!("{name}.eml"),
        format!(
            "From: {hostile}\nSubject: {hostile}\nContent-Type: text/html; charset=utf-8\n\n\
            {html}\n"
        ),
    );
    let damaged = folder.file(&format!("{name}.gz"), b"\x1f\x8b\x08\0\0\0\0\0\0\0broken");
    let missing = folder.path(format!("missing {name}")).display().to_string();
    let is_hostile = |c: char| {
        !matches!(c, '\n' | '\r' | '\t')
            && (c.is_control() || "\u{2028}\u{2029}\u{202e}\u{2066}\u{200f}".contains(c))
    };
    let place = format!("{mail}:0-100");
    let option = format!("--{hostile}");
    for args in [
        "scan --color never MAIL",
        "scan --color never --context 30 --format jsonl MAIL",
        "scan --format tsv --fields url,anchor,message.subject,source.path MAIL",
        "scan --color never --format grep MAIL DAMAGED MISSING",
        "scan --color never --dry-run MAIL DAMAGED",
        "explain --color never MAIL",
        "show PLACE",
        "parse HOSTILE",
        "scan --schemes HOSTILE MAIL",
        "scan OPTION MAIL",
        "config check MISSING",
        "splits MAIL MISSING",
    ] {
        let args = args.split(' ').map(|word| match word {
            "MAIL" => &mail,
            "DAMAGED" => &damaged,
            "MISSING" => &missing,
            "PLACE" => &place,
            "OPTION" => &option,
            "HOSTILE" => hostile,
            _ => word,
        });
        let args: Vec<&str> = args.collect();
        let mut command = urlspool(&args);
        let shown = on_terminal(command.env("NO_COLOR", "1"), true);
        assert!(!shown.contains(is_hostile), "{args:?}: {shown:?}");
        assert!(!shown.is_empty(), "{args:?}");
    }
}

/// Regression: the scan ended with status 0 and without a hint.
#[test]
fn a_named_file_of_another_format_is_not_read_and_its_way_out_is_named() {
    let folder = Folder::new();
    let files: [(&str, &[u8], &str); 4] = [
        ("a.7z", b"7z\xbc\xaf\x27\x1c\0\x04", "7z x"),
        ("a.rar", b"Rar!\x1a\x07\0", "unrar x"),
        ("a.pst", b"!BDN\0\0\0\0", "pst-utils"),
        ("a.db", b"SQLite format 3\0", "urlspool search"),
    ];
    for (name, bytes, way_out) in files {
        let path = folder.file(name, bytes);
        let named = ended(urlspool(["scan", &path]).env("PATH", "/nowhere"), b"");
        assert_eq!(named.status, Some(1), "{name}: {}", named.stderr);
        let line = named
            .stderr
            .lines()
            .find(|line| line.contains("was skipped because it is"));
        assert!(
            line.is_some_and(|line| line.contains(&path) && line.contains(way_out)),
            "{}",
            named.stderr
        );
    }
    // In a folder such files are as common as pictures.
    let beneath = ended(
        urlspool(["scan", "."])
            .current_dir(folder.root())
            .env("PATH", "/nowhere"),
        b"",
    );
    assert_eq!(beneath.status, Some(0), "{}", beneath.stderr);
    assert!(
        !beneath.stderr.contains("was not read"),
        "{}",
        beneath.stderr
    );
}

/// The first bytes of standard input select the hints, and are then scanned like the rest.
#[test]
fn mail_from_a_pipe_is_read_from_its_first_byte() {
    let urls = |count: usize| -> String {
        (0..count)
            .map(|n| format!("http://a.example/{n}\n"))
            .collect()
    };
    for count in [1, 400, 2_000, 20_000] {
        for threads in ["1", "3"] {
            let piped = ended(
                &mut urlspool(["scan", "-j", threads, "--format", "urls", "-"]),
                urls(count).as_bytes(),
            );
            assert!(piped.text() == urls(count), "{count}");
            assert_eq!(piped.stderr, "");
        }
    }
}
