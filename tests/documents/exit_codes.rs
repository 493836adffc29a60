//! Exit codes: the help and docs/exit-codes.md name the same ones.

use std::collections::{BTreeMap, BTreeSet};

use super::read;
use crate::scene::{assert_contains, done};

/// The rows of a table of exit codes, by code: the text of all cells after it.
fn table(page: &str) -> BTreeMap<u8, &str> {
    let rows = page.lines().filter_map(|line| {
        let (code, text) = line.strip_prefix("| ")?.split_once(" | ")?;
        Some((code.parse().ok()?, text))
    });
    rows.collect()
}

/// The exit codes in the help of a command, by code: the text after each, on one line.
fn in_help(command: &[&str]) -> BTreeMap<u8, String> {
    let ended = done(&[command, &["--help"]].concat());
    in_block(ended.text().split_once("Exit codes:\n").unwrap().1)
}

/// The exit codes of all commands, on the page of the program in the manual.
fn in_manual() -> BTreeMap<u8, String> {
    let page = done(&["generate", "man"]).text().replace('\\', "");
    in_block(page.split_once("\"EXIT CODES\"\n.nf\n.RS 4\n").unwrap().1)
}

fn in_block(block: &str) -> BTreeMap<u8, String> {
    let mut codes = BTreeMap::new();
    let mut last = None;
    for line in block
        .lines()
        .take_while(|line| !line.is_empty() && *line != ".RE")
    {
        let (first, rest) = line.trim().split_once(' ').unwrap_or_default();
        if let Ok(code) = first.parse::<u8>() {
            last = Some(code);
            codes.insert(code, rest.trim().to_owned());
        } else {
            let text = codes.get_mut(&last.unwrap()).unwrap();
            *text = format!("{text} {}", line.trim());
        }
    }
    assert!(!codes.is_empty());
    codes
}

#[test]
fn the_page_names_the_exit_codes_of_the_help() {
    let page = read("docs/exit-codes.md");
    let (section, _) = page.split_once("## audit").unwrap();
    let (help, page) = (in_manual(), table(section));
    assert!(help.keys().eq(page.keys()), "{help:?} {page:?}");
    for (code, text) in &help {
        let clauses = text.split(['(', ';', ')']).map(str::trim);
        for clause in clauses.filter(|clause| clause.starts_with('`')) {
            assert!(page[code].contains(clause), "{code}: {clause}");
        }
    }
}

#[test]
fn the_page_of_audits_names_the_exit_codes_of_each_step() {
    let page = read("docs/exit-codes.md");
    let (_, section) = page.split_once("## audit").unwrap();
    let page = table(section);
    let program = in_manual();
    for step in [
        "plan", "check", "status", "import", "archive", "save", "report",
    ] {
        let help: BTreeSet<_> = in_help(&["audit", step]).into_keys().collect();
        let is_meant = |steps: &str| steps == "all" || steps.contains(&format!("`{step}`"));
        let rows = page
            .iter()
            .filter(|(_, row)| is_meant(row.split(" | ").next().unwrap()));
        let named: BTreeSet<_> = rows.map(|(code, _)| *code).collect();
        assert_eq!(named, help, "{step}");
        for code in help.intersection(&[1, 69].into()) {
            let name = format!("`audit {step}`");
            assert_contains(&program[code], &name);
        }
    }
}
