//! The configuration file: errors, default locations, paths, and flags that override it.

use std::fs;
use std::process::Command;

use crate::scene::{Ended, Folder, assert_contains, done, ended, urlspool};

/// Returns the error of `config check` for this text. The exit status must be 2.
#[track_caller]
fn error(text: &str) -> String {
    let ended = ended(&mut urlspool(["config", "check", "-"]), text.as_bytes());
    assert_eq!(ended.status, Some(2), "{}", ended.stderr);
    ended.stderr
}

#[test]
fn a_misspelled_key_is_shown_with_its_line_and_the_nearest_key() {
    assert_eq!(
        error("[extract]\nrule = \"wide\"\n"),
        "urlspool: standard input, line 2, column 1: unknown key `extract.rule`; did you mean \
         `rules`?\n  \
         2 | rule = \"wide\"\n    | ^^^^\n"
    );
}

/// Control characters are escaped, but the message keeps its line breaks.
#[test]
fn hostile_text_is_escaped_line_by_line() {
    let message = error("a = \"\u{202e}\"\n");
    assert_eq!(message.lines().count(), 3, "{message}");
    assert!(
        message.contains(r"\u{202e}") && !message.contains('\u{202e}'),
        "{message}"
    );
    let folder = Folder::new();
    let path = folder.write("a\nb.toml", "a = 1\n");
    let ended = ended(urlspool(["config", "check"]).arg(&path), b"");
    assert_eq!(ended.stderr.lines().count(), 3, "{}", ended.stderr);
    assert!(
        ended.stderr.contains(r"a\u{a}b.toml, line 1"),
        "{}",
        ended.stderr
    );
}

/// Builds a command with the home folder `home` and no other place for a configuration.
fn at_home(home: &Folder, args: &[&str]) -> Command {
    let mut command = urlspool(args);
    command
        .env("HOME", home.root())
        .env_remove("XDG_CONFIG_HOME");
    command
}

#[track_caller]
fn context(mut command: Command) -> String {
    let Ended {
        status,
        stdout,
        stderr,
    } = ended(&mut command, b"");
    assert_eq!(status, Some(0), "{stderr}");
    let text = String::from_utf8(stdout).unwrap();
    let line = text.lines().find(|line| line.starts_with("context"));
    line.unwrap_or_default().to_owned()
}

#[test]
fn the_default_places_are_searched_in_order() {
    let home = Folder::new();
    let missing = ended(&mut at_home(&home, &["config", "check"]), b"");
    if !fs::exists("/etc/urlspool/urlspool.toml").unwrap() {
        assert_eq!(missing.status, Some(2));
        for place in [
            "/.config/urlspool/urlspool.toml",
            "/etc/urlspool/urlspool.toml",
            "URLSPOOL_CONFIG",
        ] {
            assert!(missing.stderr.contains(place), "{}", missing.stderr);
        }
    }
    home.write(".config/urlspool/urlspool.toml", "[extract]\ncontext = 1\n");
    home.write("xdg/urlspool/urlspool.toml", "[extract]\ncontext = 2\n");
    let named = home.write("named.toml", "[extract]\ncontext = 3\n");
    assert_eq!(context(at_home(&home, &["config", "check"])), "context = 1");
    let mut command = at_home(&home, &["config", "check"]);
    command.env("XDG_CONFIG_HOME", home.path("xdg"));
    assert_eq!(context(command), "context = 2");
    let mut command = at_home(&home, &["config", "check"]);
    command.env("URLSPOOL_CONFIG", &named);
    assert_eq!(context(command), "context = 3");
}

/// Without `--config`, a scan returns the same records on every machine.
#[test]
fn a_scan_reads_no_default_place() {
    let home = Folder::new();
    let text = home.file("text", "http://a.example/\n");
    let config = home.write(
        ".config/urlspool/urlspool.toml",
        "[extract]\nschemes = [\"ftp\"]\n",
    );
    let urls = |command: &mut Command| ended(command, b"").urls().len();
    assert_eq!(urls(&mut at_home(&home, &["scan", &text])), 1);
    assert_eq!(
        urls(at_home(&home, &["scan", &text]).env("URLSPOOL_CONFIG", &config)),
        0
    );
    assert_eq!(
        urls(at_home(&home, &["scan", &text]).env("URLSPOOL_CONFIG", "")),
        1
    );
}

/// Returns the URLs found in a message with a header field, an HTML part and a text part.
#[track_caller]
fn found(config: &str, flags: &[&str]) -> Vec<String> {
    const MAIL: &str = "From: j@m.example\nX-URL: http://header.example/\n\
        Content-Type: multipart/alternative; boundary=x\n\n\
        --x\n\nwww.text.example lamp:oil\n--x\nContent-Type: text/html\n\n\
        <a href=\"http://html.example/\">a</a>\n--x--\n";
    let folder = Folder::new();
    let (mail, config) = (folder.file("mail", MAIL), folder.file("c.toml", config));
    done(&[&["scan", &mail, "--config", &config], flags].concat()).urls()
}

/// Flag, configuration and default select the searched parts. The summary counts the others.
#[test]
fn attachments_are_searched_as_configured() {
    const MAIL: &str = "From: j@m.example\nContent-Type: multipart/mixed; boundary=x\n\n\
        --x\n\nhttp://body.example/\n--x\nContent-Type: text/plain\n\
        Content-Disposition: Attachment; filename=a.txt\n\nhttp://attached.example/\n\
        --x\nContent-Type: application/octet-stream; name=a.txt\n\nhttp://octets.example/\n\
        --x\nContent-Type: application/octet-stream\n\
        Content-Disposition: attachment; filename=a.eml\n\nFrom: a@b.example\n\
        Subject: http://message.example/\n\nx\n\
        --x\nContent-Type: image/png\n\nhttp://never.example/\n--x--\n";
    let folder = Folder::new();
    let (mail, config) = (
        folder.file("mail", MAIL),
        folder.file("c.toml", "[extract]\nattachments = \"none\"\n"),
    );
    let (body, others) = (
        "http://body.example/",
        [
            "http://attached.example/",
            "http://octets.example/",
            "http://message.example/",
        ],
    );
    let all = [&[body], &others[..]].concat();
    for (flags, expected, other, types) in [
        (vec![], all.clone(), 1, serde_json::json!({"image/png": 1})),
        (
            vec!["--set", "attachments=text"],
            all.clone(),
            1,
            serde_json::json!({"image/png": 1}),
        ),
        (
            vec!["--config", &config],
            vec![body],
            4,
            serde_json::json!({"application/octet-stream": 2, "image/png": 1, "text/plain": 1}),
        ),
        (
            vec!["--config", &config, "--set", "attachments=all"],
            all,
            1,
            serde_json::json!({"image/png": 1}),
        ),
    ] {
        let summary = folder.path("summary").display().to_string();
        let flags = [
            &["scan", &mail, "--summary", &summary, "--force"],
            flags.as_slice(),
        ]
        .concat();
        assert_eq!(done(&flags).urls(), expected, "{flags:?}");
        let summary = std::fs::read_to_string(&summary).unwrap();
        let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
        assert_eq!(summary["parts_other"], other, "{flags:?}");
        assert_eq!(summary["parts_other_types"], types, "{flags:?}");
    }
}

#[test]
fn keys_are_set_by_name_and_override_the_file() {
    let (header, text, html) = (
        "http://header.example/",
        "http://www.text.example",
        "http://html.example/",
    );
    let set = |config: &str, settings: &[&str]| {
        let flags: Vec<_> = settings
            .iter()
            .flat_map(|setting| ["--set", setting])
            .collect();
        found(config, &flags)
    };
    assert_eq!(found("", &[]), [header, text, html]);
    assert_eq!(set("", &["html=false"]), [header, text]);
    assert_eq!(set("", &["headers=false"]), [text, html]);
    assert_eq!(set("", &["schemeless=off"]), [header, html]);
    assert_eq!(set("", &["html=false", "html=true"]), [header, text, html]);
    let bare = "[extract]\nheaders = false\nhtml = false\nschemeless = \"off\"\n\
        extra_schemes = [\"lamp\"]\n";
    assert_eq!(set(bare, &[]), ["lamp:oil"]);
    assert_eq!(set(bare, &["headers=true", "extra_schemes="]), [header]);
    assert_eq!(
        set(bare, &["html=true", "schemeless=on"]),
        [text, "lamp:oil", html]
    );
    assert_eq!(
        set(
            "",
            &["schemeless=off", "html=false", "extra_schemes=oil,lamp"]
        ),
        [header, "lamp:oil"]
    );
    // An option overrides the key of its name.
    let overridden = |option: &[&str]| found(bare, &[option, &["--set", "html=true"]].concat());
    let off = ["--set", "schemeless=off", "--schemeless", "on"];
    assert_eq!(overridden(&off), [text, "lamp:oil", html]);
    let wide = ["--rules", "rfc1738", "--set", "rules=wide"];
    assert_eq!(found("", &wide), [header, html]);
    let filtered = "[extract]\nschemes = [\"ftp\"]\naccept = [\"rfc1738\"]\n";
    assert_eq!(set(filtered, &[]), [""; 0]);
    assert_eq!(
        set(filtered, &["schemes=", "accept="]),
        [header, text, html]
    );
    let unknown = ended(&mut urlspool(["scan", "--set", "url_byte=1", "."]), b"");
    unknown.check(
        2,
        "--set url_byte=1: unknown key `url_byte`; did you mean `url_bytes`?",
    );
}

/// Earlier versions printed the messages of libraries unchanged.
#[test]
fn errors_suggest_the_right_syntax() {
    for (text, message) in [
        ("[spool]\npath = \"/a\"\n", "write [[spool]]"),
        (
            "[extract]\ncontext = -1\n",
            "expected a whole number, 0 or more",
        ),
        (
            "[extract]\ncontext = 4097\n",
            "extract.context is 4097, but a record has at most 4096 bytes on each side",
        ),
        (
            "[output]\nseal_interval = \"1\"\n",
            "write a number and its unit",
        ),
        ("x = 1\n", "unknown key `x`; expected one of"),
        ("[output]\ndir = \"\"\n", "output.dir is empty"),
        (
            "[extract]\nunique = \"run\"\n[[spool]]\npath = \"/nowhere\"\n",
            "is for `urlspool scan` only",
        ),
    ] {
        let shown = error(text);
        assert!(shown.contains(message), "{text}: {shown}");
    }
    let latin = ended(&mut urlspool(["config", "check", "-"]), b"# \xE9\n");
    latin.check(2, "not UTF-8 at byte 2");
    let threads = ended(&mut urlspool(["scan", "-j", "x", "."]), b"");
    assert_contains(&threads.stderr, "a number from 1 to 1024");
}
