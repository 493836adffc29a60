//! Help, manual pages, completions and colours.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use super::reference::commands_in;
use crate::scene::{Folder, assert_contains, done, ended, urlspool};

/// Returns the subcommands listed in the help.
fn commands() -> Vec<String> {
    let help = done(&["--help"]);
    let names: Vec<_> = commands_in(help.text())
        .into_iter()
        .map(str::to_owned)
        .collect();
    assert!(names.len() > 8, "{names:?}");
    names
}

/// The first page and the short help of the largest command fit on a screen or two.
#[test]
fn the_help_is_short() {
    for (args, lines) in [(&["--help"][..], 40), (&["-h"], 40), (&["scan", "-h"], 60)] {
        let help = done(args);
        assert!(help.text().lines().count() <= lines, "{}", help.text());
    }
}

#[test]
fn every_subcommand_has_examples_and_a_page_with_all_options() {
    for command in commands() {
        let help = done(&[&command, "--help"]).text().to_owned();
        let (_, examples) = help
            .split_once("\nExamples:\n")
            .unwrap_or_else(|| panic!("{command}: {help}"));
        assert_contains(examples, &format!("urlspool {command}"));
        let page = done(&["generate", "man", &command])
            .text()
            .replace('\\', "");
        assert_contains(&page, &format!("urlspool-{command} - "));
        assert!(page.contains(".SH EXAMPLES"), "{command}: {page}");
        let words = help.split(|c: char| c.is_whitespace() || ",=[]`()".contains(c));
        let options: BTreeSet<_> = words
            .filter(|word| word.starts_with("--") && word.len() > 2)
            .collect();
        for option in options {
            assert!(page.contains(option), "{command}: no {option} in its page");
        }
    }
}

/// Regression: the page of `scan` had empty entries, and a synopsis without values.
#[test]
fn every_option_in_a_page_has_its_text() {
    for command in commands() {
        let page = done(&["generate", "man", &command]).text().to_owned();
        let lines: Vec<&str> = page.lines().collect();
        for entry in lines.windows(3).filter(|entry| entry[0] == ".TP") {
            assert!(
                !entry[2].starts_with('.') && !entry[2].is_empty(),
                "{command}: {entry:?}"
            );
        }
    }
    let page = done(&["generate", "man", "scan"]).text().replace('\\', "");
    assert!(page.contains("[OPTIONS] [PATH]..."), "{page}");
    let record = done(&["generate", "man", "record"])
        .text()
        .replace('\\', "");
    for region in ["forwarded", "footer", "html:text"] {
        assert!(record.contains(region), "{region}");
    }
}

#[test]
fn all_pages_are_written_where_man_finds_them() {
    let folder = Folder::new();
    let root = folder.root().to_str().unwrap();
    assert!(done(&["generate", "man", "--all", root]).stdout.is_empty());
    let mut pages: Vec<_> = commands()
        .iter()
        .map(|name| format!("man1/urlspool-{name}.1"))
        .collect();
    pages.extend(
        [
            "man1/urlspool.1",
            "man5/urlspool.toml.5",
            "man5/urlspool-record.5",
        ]
        .map(str::to_owned),
    );
    for page in &pages {
        let text =
            fs::read_to_string(folder.path(page)).unwrap_or_else(|error| panic!("{page}: {error}"));
        assert_contains(&text, ".TH ");
        assert_contains(&text, ".SH \"SEE ALSO\"");
        // Runs only if groff is installed.
        if let Ok(checked) = Command::new("groff")
            .args(["-man", "-Tutf8", "-ww", "-z"])
            .arg(folder.path(page))
            .output()
        {
            let warnings = String::from_utf8_lossy(&checked.stderr).into_owned();
            assert_eq!(warnings, "", "{page}");
        }
    }
    assert_eq!(
        done(&["generate", "man"]).stdout,
        fs::read(folder.path("man1/urlspool.1")).unwrap()
    );
    assert_eq!(
        done(&["generate", "man", "record"]).stdout,
        fs::read(folder.path("man5/urlspool-record.5")).unwrap()
    );
    let unknown = ended(&mut urlspool(["generate", "man", "scna"]), b"");
    unknown.check(2, "did you mean `scan`?");
}

#[test]
fn the_page_of_the_configuration_has_every_key() {
    let page = done(&["generate", "man", "urlspool.toml"])
        .text()
        .to_owned();
    for line in done(&["config", "default"]).text().lines() {
        if let Some((key, _)) = line.split_once(" = ") {
            assert!(page.contains(&format!("\\fB{key}\\fR = ")), "{key}");
        }
    }
}

/// Returns the completions that bash offers after these words.
#[track_caller]
fn bash_offers(words: &[&str]) -> Vec<String> {
    let script = done(&["generate", "completions", "bash"]).text().to_owned();
    let line = words.join("' '");
    let last = words.len() - 1;
    let ask = format!(
        "{script}\nCOMP_WORDS=('{line}'); COMP_CWORD={last}; _urlspool urlspool \
         \"${{COMP_WORDS[{last}]}}\" \
         \"${{COMP_WORDS[{last}-1]}}\"; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    );
    let asked = ended(Command::new("bash").args(["--norc", "-c", &ask]), b"");
    asked.text().lines().map(str::to_owned).collect()
}

#[test]
fn names_are_completed() {
    assert_eq!(
        bash_offers(&["urlspool", "audit", "plan", "--by", "sch"]),
        ["scheme"]
    );
    assert_eq!(
        bash_offers(&["urlspool", "scan", "--unique", "me"]),
        ["message"]
    );
    let pages = bash_offers(&["urlspool", "generate", "man", ""]);
    let commands = commands();
    let others = ["urlspool", "urlspool.toml", "record"];
    for name in commands.iter().map(String::as_str).chain(others) {
        assert!(pages.iter().any(|page| page == name), "{name}: {pages:?}");
    }
}
