//! Writers of every format except mbox.

use std::fs;
use std::path::Path;

use super::{Mail, each, lines, write};

pub(super) fn maildir(mails: &[Mail], ends: &str, at: &Path) {
    for name in ["new", "cur", "tmp"] {
        fs::create_dir_all(at.join(name)).unwrap();
    }
    write(&at.join("tmp/1"), "From: a\n\nhttp://unfinished.example/\n");
    write(&at.join("dovecot-uidlist"), "http://index.example/\n");
    each(mails, at, |number, mail| {
        let name = match number % 3 {
            0 => format!("new/820490{number:03}.M1P1.host"),
            1 => format!("cur/820490{number:03}.M1P1.host:2,S"),
            _ => format!(
                "cur/820490{number:03}.M1P1.host,S={}:2,RS",
                mail.text().len()
            ),
        };
        (name, lines(&mail.text(), ends))
    });
}

pub(super) fn mh(mails: &[Mail], ends: &str, at: &Path) {
    write(&at.join(".mh_sequences"), "cur: http://index.example/\n");
    each(mails, at, |number, mail| {
        (number.to_string(), lines(&mail.text(), ends))
    });
}

/// Writes one article per file. Every tenth is cross-posted by a hard link to its file.
pub(super) fn tradspool(mails: &[Mail], ends: &str, at: &Path, kept: fn(&str) -> String) {
    write(
        &at.join("test/formats/.overview"),
        "1\thttp://index.example/\n",
    );
    fs::create_dir_all(at.join("test/other")).unwrap();
    for (number, mail) in (1..).zip(mails) {
        let path = at.join(format!("test/formats/{number}"));
        write(&path, &kept(&lines(&mail.text(), ends)));
        if number % 10 == 0 {
            fs::hard_link(&path, at.join(format!("test/other/{number}"))).unwrap();
        }
    }
}

pub(super) fn wire(text: &str) -> String {
    let stuffed = text
        .split_inclusive('\n')
        .map(|line| if line.starts_with('.') { "." } else { "" }.to_owned() + line);
    stuffed.collect::<String>() + ".\r\n"
}

pub(super) fn timehash(mails: &[Mail], ends: &str, at: &Path) {
    each(mails, at, |number, mail| {
        (
            format!("time-01/00/86/{number:04x}-6be1"),
            lines(&mail.text(), ends),
        )
    });
}

pub(super) fn rnews(mails: &[Mail], ends: &str, at: &Path) {
    let article = |mail: &Mail| {
        let text = lines(&mail.text(), ends);
        format!("#! rnews {}\n{text}", text.len())
    };
    write(
        &at.join("batch"),
        &mails.iter().map(article).collect::<String>(),
    );
}

pub(super) fn mmdf(mails: &[Mail], ends: &str, at: &Path) {
    let line = "\u{1}\u{1}\u{1}\u{1}\n";
    let message = |mail: &Mail| lines(&format!("{line}{}{line}", mail.text()), ends);
    write(
        &at.join("folder"),
        &mails.iter().map(message).collect::<String>(),
    );
}

/// Every other message was displayed once, and has a second header for display.
pub(super) fn babyl(mails: &[Mail], ends: &str, at: &Path) {
    let mut all =
        "BABYL OPTIONS: -*- rmail -*-\nVersion: 5\nNote: http://index.example/\n\u{1f}".to_owned();
    for (number, mail) in mails.iter().enumerate() {
        let Mail { header, body, .. } = mail;
        all += &if number % 2 == 0 {
            format!("\u{c}\n0, unseen,,\n*** EOOH ***\n{header}\n{body}\u{1f}")
        } else {
            let shown: String = header
                .split_inclusive('\n')
                .filter(|line| !line.starts_with("Message-ID"))
                .collect();
            format!("\u{c}\n1,,\n{header}\n*** EOOH ***\n{shown}\n{body}\u{1f}")
        };
    }
    write(&at.join("RMAIL"), &lines(&all, ends));
}

pub(super) fn emlx(mails: &[Mail], ends: &str, at: &Path) {
    write(
        &at.join("Info.plist"),
        "<plist>http://index.example/</plist>\n",
    );
    each(mails, at, |number, mail| {
        let text = lines(&mail.text(), ends);
        let list = "<?xml version=\"1.0\"?>\n\
            <plist>http://www.apple.com/DTDs/PropertyList-1.0.dtd</plist>\n";
        (
            format!("Messages/{number}.emlx"),
            format!("{:<10}\n{text}{list}", text.len()),
        )
    });
}
