//! Rows 98 to 106 of the failure catalogue: the output for hostile input, and the location of the
//! output. Row 97, on terminals, is in `cli/terminal.rs`; row 105, on metrics, is in
//! `daemon/operator.rs`.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::containers::gzip;
use crate::scene::{Ended, Folder, Rng, done, ended, lines, urlspool};

/// Returns bytes of all kinds around URLs, in every place that a record repeats.
fn hostile_mail(random: &mut Rng) -> Vec<u8> {
    const PIECES: [&[u8]; 14] = [
        b"\xED\xA0\x80",
        b"\xFF\xFE",
        b"\xC0\xAF",
        b"\xE2\x80\xA8",
        b"\0",
        b"\x1b[",
        b"\"\\",
        b"\x7f",
        b"\xF0\x9F\x98\x80",
        b"\xF4\x90\x80\x80",
        b"18446744073709551616",
        b"\t",
        b"\\ud800",
        b"</script>",
    ];
    let mut noise = |len: u64| -> Vec<u8> {
        (0..len)
            .flat_map(|_| PIECES[random.below(PIECES.len() as u64) as usize].to_vec())
            .collect()
    };
    let mut mail = b"From a@b.example Mon Jan  1 10:00:00 1996\nFrom: ".to_vec();
    mail.extend(noise(4));
    mail.extend(b"\nSubject: ");
    mail.extend(noise(4));
    mail.extend(b"\nDate: ");
    mail.extend(noise(3));
    mail.extend(b"\nMessage-ID: <");
    mail.extend(noise(3));
    mail.extend(b"@x>\nX-Url: http://header.example/\n\n");
    mail.extend(noise(4));
    mail.extend(b" http://a.example/");
    mail.extend(noise(2));
    mail.extend(b" <URL:http://b.example/x\n");
    mail.extend(noise(1));
    mail.extend(b"y> ");
    mail.extend(noise(3));
    mail.extend(b"\n\n");
    mail
}

#[test]
fn row_98_every_line_is_json_and_raw_bytes_come_back() {
    let folder = Folder::new();
    let mut random = Rng::seeded(98);
    let mbox: Vec<u8> = (0..200).flat_map(|_| hostile_mail(&mut random)).collect();
    let mut name = b"box \xFF \x01 \"\\ ".to_vec();
    name.extend("\u{2028}".as_bytes());
    let path = folder.write(&name, &mbox);
    let (rejects, events) = (folder.path("rejects"), folder.path("events"));
    let mut command = urlspool(["scan", "-q", "--context", "20", "--rejects"]);
    command
        .arg(&rejects)
        .arg("--events")
        .arg(&events)
        .arg(&path);
    let output = ended(&mut command, b"");
    assert_eq!(output.stderr, "");
    let records = output.records();
    assert!(records.len() > 400, "{}", records.len());
    for record in &records {
        let source = &record["source"];
        let range =
            source["start"].as_u64().unwrap() as usize..source["end"].as_u64().unwrap() as usize;
        if let Some(encoded) = record["raw_b64"].as_str() {
            let raw = data_encoding::BASE64.decode(encoded.as_bytes()).unwrap();
            assert!(record["raw"].as_str().unwrap().contains('\u{FFFD}'));
            if source["exact"] == true {
                assert_eq!(raw, &mbox[range], "{record}");
            }
        }
        let path = source["path_b64"].as_str().unwrap();
        assert!(
            data_encoding::BASE64
                .decode(path.as_bytes())
                .unwrap()
                .ends_with(&name)
        );
        assert!(!record.to_string().contains("\\u0000"), "{record}");
    }
    assert!(!lines(&fs::read(rejects).unwrap()).is_empty());
    lines(&fs::read(events).unwrap());
    for line in output.stdout.split(|&byte| byte == b'\n') {
        assert!(
            !line.iter().any(|&byte| byte < b' '),
            "{}",
            line.escape_ascii()
        );
    }
}

#[test]
fn row_99_no_cell_of_a_table_is_a_formula() {
    let folder = Folder::new();
    let starts = [
        "=",
        "+",
        "-",
        "@",
        "\t",
        "\r",
        "=HYPERLINK(\"http://x/\",\"y\")",
        "\"=1\"",
        "-1+1\r\n=1",
    ];
    for start in starts {
        let encoded = data_encoding::BASE64.encode(start.as_bytes());
        let mail = format!(
            "From: =?utf-8?b?{encoded}?=\nSubject: =?utf-8?b?{encoded}?=\nMessage-ID: <{start}@x>\n\
             Content-Type: text/html\n\n\
             <a href=\"http://a.example/\">{start}</a>\n"
        );
        let file = folder.file("mail", mail);
        let fields = "message.from,message.subject,anchor,url,raw,message.id";
        let output = done(&["scan", "--format", "csv", "--fields", fields, &file]);
        let table = output.text().split_once('\n').unwrap().1;
        let is_formula = |cell: &str| cell.starts_with(['=', '+', '-', '@', '\t', '\r']);
        let cells = cells(table);
        assert_eq!(cells.len() % 6, 0, "{table:?}");
        assert!(
            !cells.iter().any(|cell| is_formula(cell)),
            "{start:?}: {cells:?}"
        );
    }
}

/// Parses the cells of a CSV table (RFC 4180), character by character.
fn cells(table: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut is_quoted = false;
    let mut letters = table.trim_end_matches(['\r', '\n']).chars().peekable();
    while let Some(letter) = letters.next() {
        let cell = cells.last_mut().unwrap();
        match letter {
            '"' if is_quoted && letters.next_if_eq(&'"').is_some() => cell.push('"'),
            '"' => is_quoted = !is_quoted,
            ',' | '\n' if !is_quoted => cells.push(String::new()),
            letter => cell.push(letter),
        }
    }
    cells
}

#[test]
fn row_101_an_event_is_one_line_of_the_log() {
    let folder = Folder::new();
    let forged = "x\n2026-01-01T00:00:00Z ERROR urlspool: forged\r\n{\"level\":\"ERROR\"}";
    let whole = gzip("http://a.example/\n".repeat(9).as_bytes());
    let damaged = &whole[..whole.len() - 9];
    configure(folder.root());
    folder.write(format!("spool/{}.gz", forged.replace('/', ":")), damaged);
    let path = folder.path("spool").display().to_string();
    let scan = ended(&mut urlspool(["scan", "--color", "never", &path]), b"");
    assert_eq!(scan.stderr.lines().count(), 1, "{}", scan.stderr);
    assert!(scan.stderr.contains("forged"), "{}", scan.stderr);
    for log in ["text", "json"] {
        let _ = fs::remove_dir_all(folder.path("state"));
        let _ = fs::remove_dir_all(folder.path("out"));
        let daemon = watch(folder.root(), &["--log", log]);
        let about: Vec<_> = daemon
            .stderr
            .lines()
            .filter(|line| line.contains("forged"))
            .collect();
        assert_eq!(about.len(), 1, "{log}: {}", daemon.stderr);
        for line in daemon.stderr.lines() {
            if log == "json" {
                serde_json::from_str::<serde_json::Value>(line).unwrap();
            }
            assert!(
                !line.starts_with("2026-01-01") && !line.starts_with("{\"level\":\"ERROR\"}"),
                "{line}"
            );
        }
    }
}

#[test]
fn row_103_files_in_the_output_folder_are_never_overwritten() {
    for plant in [
        |path: &Path, victim: &Path| symlink(victim, path).unwrap(),
        |path: &Path, _: &Path| fs::write(path, "precious").unwrap(),
        |path: &Path, _: &Path| fs::create_dir(path).unwrap(),
    ] {
        let folder = Folder::new();
        configure(folder.root());
        let victim = folder.write("victim", "precious");
        let mail = |name: &str| {
            let text = "From: a@b\nTo: c@d\nSubject: x\n\nhttp://a.example/";
            folder.write(format!("spool/{name}"), format!("{text}{name}\n"));
        };
        mail("1");
        assert_eq!(watch(folder.root(), &[]).status, Some(0));
        let sealed = snapshot(&folder.path("out"));
        assert!(
            sealed.iter().any(|(path, _)| path.ends_with(".jsonl")),
            "{sealed:?}"
        );
        // The names of all segments that may come next.
        for number in 1..6 {
            for name in ["jsonl", "meta"].map(|ending| format!("{number:010}.{ending}")) {
                if !folder.path("out").join(&name).exists() {
                    plant(&folder.path("out").join(&name), &victim);
                }
            }
            let hidden = folder.path("out/.open").join(format!("{number:010}.part"));
            if !hidden.exists() {
                symlink(&victim, hidden).unwrap();
            }
        }
        let before = snapshot(&folder.path("out"));
        mail("2");
        let daemon = watch(folder.root(), &[]);
        assert_ne!(daemon.status, Some(0), "{}", daemon.stderr);
        assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
        assert_eq!(snapshot(&folder.path("out")), before, "{}", daemon.stderr);
    }
}

/// Returns the visible files and folders in a folder, in order, and the bytes of the files.
fn snapshot(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            !path
                .file_name()
                .unwrap()
                .as_encoded_bytes()
                .starts_with(b".")
        })
        .map(|path| {
            (
                path.display().to_string(),
                fs::read(&path).unwrap_or_default(),
            )
        })
        .collect();
    found.sort();
    found
}

#[test]
fn row_104_an_output_in_a_watched_folder_is_refused() {
    for (dir, is_link) in [
        ("spool/out", false),
        ("link/out", true),
        ("spool/../spool/out", false),
    ] {
        let folder = Folder::new();
        fs::create_dir_all(folder.path("spool")).unwrap();
        if is_link {
            symlink(folder.path("spool"), folder.path("link")).unwrap();
        }
        configure(folder.root());
        let config = fs::read_to_string(folder.path("c.toml")).unwrap();
        let config = config.replace("/out\"", &format!("/{dir}\""));
        fs::write(folder.path("c.toml"), config).unwrap();
        let daemon = watch(folder.root(), &[]);
        assert_eq!(daemon.status, Some(2), "{dir}: {}", daemon.stderr);
        assert!(!folder.path("spool/out").exists(), "{dir}");
    }
}

/// Writes a configuration of the daemon with the spool `spool` in `root`.
fn configure(root: &Path) {
    fs::create_dir_all(root.join("spool")).unwrap();
    let dir = root.display();
    let text = format!(
        "[output]\ndir = \"{dir}/out\"\n[state]\ndir = \"{dir}/state\"\n[watch]\n\
         settle = \"100ms\"\n[metrics]\nlisten = \"\"\n\
         [[spool]]\npath = \"{dir}/spool\"\n"
    );
    fs::write(root.join("c.toml"), text).unwrap();
}

fn watch(root: &Path, more: &[&str]) -> Ended {
    let config = root.join("c.toml").display().to_string();
    let args = [&["watch", "--once", "--config", &config], more].concat();
    ended(&mut urlspool(args), b"")
}
