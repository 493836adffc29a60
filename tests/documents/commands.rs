//! Runs the commands in the documents, and compares their output with the page.
//!
//! A `console` fence is a session. A line `$ COMMAND` starts a command, and the lines `> ` after it
//! continue the command. The lines up to the next command are its output, standard error included.
//! A line `...` matches any number of lines. The session runs in an empty folder with the
//! repository's `corpus` and `examples`, and finds the program as `urlspool`.
//!
//! Sessions that need more than the usual tools of a POSIX system are separate tests. `.ci/run`
//! starts them where the tool is installed. An `sh` fence is not run; each has a reason.

use std::collections::BTreeSet;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

use super::read;
use crate::cli::commands_in;
use crate::scene::{Folder, corpus, done, ended, urlspool};

/// Returns the pages for users.
fn pages() -> Vec<String> {
    let docs = super::files_below("docs").into_iter();
    let mut pages: Vec<_> = docs.map(|path| path.to_str().unwrap().to_owned()).collect();
    pages.extend(["README.md", "examples/study/README.md"].map(str::to_owned));
    pages.sort();
    assert!(pages.len() > 5, "{pages:?}");
    pages
}

/// Tools of every POSIX system, and tools that nearly all systems have in addition.
const USUAL_TOOLS: &[&str] = &[
    "urlspool", "awk", "cat", "cmp", "cp", "cut", "dd", "echo", "expand", "grep", "gzip", "head",
    "ls", "mkdir", "mv", "printf", "python3", "rm", "sed", "sh", "sort", "tail", "tar", "tr",
    "uniq", "wc",
];

/// Tools that a session may need, at most one per session. Each has a test.
const OTHER_TOOLS: &[&str] = &["duckdb", "git", "jq", "sqlite3", "wayback"];

/// The `sh` fences: page, first line, and the reason why they are not run.
const NOT_RUN: &[&str] = &[
    "README.md | cargo run | `.ci/run` runs both commands",
    "README.md | cargo install | it installs",
    "docs/start.md | cargo install | `packaging/install_test.sh` runs them",
    "docs/evidence/loading.md | cargo bench -p benches --bench load | it measures for minutes",
    "docs/evidence/performance.md | cargo install ripgrep | it measures for minutes",
    "docs/start.md | urlspool scan --evidence self --into urls.db | its folders are the reader's",
    "docs/start.md | urlspool watch | its folders are the reader's",
    "docs/start.md | urlspool scan --format parquet | its folders are the reader's",
    "docs/start.md | urlspool scan --format grep | its folders are the reader's",
    "docs/recipes.md | urlspool generate schema --format postgresql | it needs a server",
];

/// Fence of a page.
struct Fence<'p> {
    language: &'p str,
    lines: Vec<&'p str>,
    /// Line number of the fence in the page.
    number: usize,
}

fn fences(page: &str) -> Vec<Fence<'_>> {
    let mut fences: Vec<Fence<'_>> = Vec::new();
    let mut is_open = false;
    for (number, line) in (1..).zip(page.lines()) {
        match (line.strip_prefix("```"), is_open) {
            (Some(language), false) => {
                fences.push(Fence {
                    language,
                    lines: Vec::new(),
                    number: number + 1,
                });
                is_open = true;
            }
            (Some(_), true) => is_open = false,
            (None, true) => fences.last_mut().unwrap().lines.push(line),
            (None, false) => {}
        }
    }
    assert!(!is_open, "a fence is not closed");
    fences
}

/// Command of a session, and the output on the page.
#[derive(Debug, Default, PartialEq)]
struct Shown {
    command: String,
    output: Vec<String>,
}

fn session(fence: &Fence<'_>) -> Vec<Shown> {
    let mut session: Vec<Shown> = Vec::new();
    for line in &fence.lines {
        if let Some(command) = line.strip_prefix("$ ") {
            session.push(Shown {
                command: command.to_owned(),
                output: Vec::new(),
            });
            continue;
        }
        let last = session.last_mut().expect("a session begins with a command");
        match line.strip_prefix("> ") {
            Some(more) if last.output.is_empty() => {
                last.command.push('\n');
                last.command.push_str(more);
            }
            _ => last.output.push((*line).to_owned()),
        }
    }
    session
}

/// Returns the programs that a command starts: the first unquoted word of each part.
fn programs(command: &str) -> BTreeSet<&str> {
    let first_line = command.lines().next().unwrap_or_default();
    let is_heredoc = first_line.contains("<<");
    let code = if is_heredoc { first_line } else { command };
    // Quoted text holds no program. Parts outside quotes have an even index.
    let outside = code.split('\'').step_by(2);
    let mut programs = BTreeSet::new();
    let mut begins_part = true;
    for piece in outside {
        let mut rest = piece;
        loop {
            let (part, after) = match rest.find(['|', ';', '\n', '&']) {
                Some(at) => (&rest[..at], Some(&rest[at + 1..])),
                None => (rest, None),
            };
            if begins_part {
                programs.extend(part.split_whitespace().next());
            }
            let Some(after) = after else { break };
            (begins_part, rest) = (true, after);
        }
        begins_part = false;
    }
    programs
}

/// Returns the unusual tool that a session needs, if any.
fn other_tool(session: &[Shown]) -> Option<&'static str> {
    let programs: BTreeSet<_> = session
        .iter()
        .flat_map(|shown| programs(&shown.command))
        .filter(|program| !USUAL_TOOLS.contains(program))
        .collect();
    let known = |program: &&str| {
        let found = OTHER_TOOLS.iter().find(|tool| *tool == program);
        *found.unwrap_or_else(|| panic!("{program}: this test does not know the program"))
    };
    let tools: Vec<_> = programs.iter().map(known).collect();
    assert!(tools.len() < 2, "a session needs several of {tools:?}");
    tools.first().copied()
}

/// Returns `true` if `printed` matches the page. A line `...` matches any lines.
fn matches(shown: &[String], printed: &[&str]) -> bool {
    match shown.iter().position(|line| line == "...") {
        None => shown.iter().map(String::as_str).eq(printed.iter().copied()),
        Some(at) => {
            let (start, end) = (&shown[..at], &shown[at + 1..]);
            start.len() + end.len() <= printed.len()
                && matches(start, &printed[..start.len()])
                && matches(end, &printed[printed.len() - end.len()..])
        }
    }
}

/// Runs a session in a new folder. Returns the differences from the page.
fn run(session: &[Shown]) -> Vec<String> {
    let folder = Folder::new();
    symlink(corpus(), folder.path("corpus")).unwrap();
    symlink(super::root().join("examples"), folder.path("examples")).unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_urlspool"));
    let path = env::var("PATH").unwrap();
    let path = format!("{}:{path}", program.parent().unwrap().display());
    let mut differences = Vec::new();
    for Shown { command, output } in session {
        let ended = ended(
            Command::new("sh")
                .args(["-c", &format!("exec 2>&1\n{command}")])
                .current_dir(folder.root())
                .env("PATH", &path)
                .env("HOME", folder.root())
                .env("LC_ALL", "C")
                .env_remove("URLSPOOL_CONFIG"),
            b"",
        );
        let printed: Vec<_> = ended.text().lines().collect();
        if !matches(output, &printed) {
            differences.push(format!("$ {command}\n{}", printed.join("\n")));
        }
    }
    differences
}

/// Runs the sessions of all pages that need this tool, or that need only the usual tools.
#[track_caller]
fn run_sessions(tool: Option<&str>) {
    let (mut commands, mut differences) = (0, Vec::new());
    for page in pages() {
        let text = read(&page);
        for fence in fences(&text) {
            if fence.language != "console" {
                continue;
            }
            let session = session(&fence);
            if other_tool(&session) != tool {
                continue;
            }
            commands += session.len();
            for difference in run(&session) {
                differences.push(format!("{page}:{}: {difference}", fence.number));
            }
        }
    }
    assert!(commands > 0, "no page shows a command of this kind");
    assert!(
        differences.is_empty(),
        "the program prints something else than the page shows:\n\n{}\n",
        differences.join("\n\n")
    );
}

/// The session in the picture of the README.
#[test]
fn commands_print_what_the_picture_shows() {
    let mut session: Vec<Shown> = Vec::new();
    for line in read("docs/session.svg").lines() {
        let Some((kind, text)) = line
            .strip_prefix("<text class=\"")
            .and_then(|rest| rest.split_once('"'))
        else {
            continue;
        };
        let text = text.split_once('>').unwrap().1.trim_end_matches("</text>");
        let text = text
            .replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&amp;", "&");
        match (kind, session.last_mut()) {
            ("command", _) => session.push(Shown {
                command: text.trim_start_matches("$ ").to_owned(),
                output: Vec::new(),
            }),
            (_, Some(shown)) => shown.output.push(text),
            _ => panic!("no command before {text}"),
        }
    }
    assert!(session.len() > 2);
    assert_eq!(run(&session), Vec::<String>::new(), "run docs/session.py");
}

/// The recipe's consumer is killed before, during and after its transaction, then run again.
#[test]
fn the_consumer_of_segments_takes_each_record_once_wherever_it_dies() {
    const DIES: &str = "__import__('os')._exit(9)";
    const INSERT: &str = "db.execute(\"INSERT INTO urls";
    let page = read("docs/recipes.md");
    let session = fences(&page)
        .iter()
        .filter(|fence| fence.language == "console")
        .map(session)
        .find(|session| session[0].command.starts_with("cat > consume.py"))
        .unwrap();
    let script = session[0].command.lines();
    let script: Vec<&str> = script.skip(1).take_while(|line| *line != "END").collect();
    let script = script.join("\n");
    let spool = Folder::new();
    let config = "[output]\ndir = \"out\"\n[state]\ndir = \"state\"\n[watch]\nsettle = \"1s\"\n\
        [metrics]\nlisten = \"\"\n[[spool]]\npath = \"spool\"\n";
    spool.write("urlspool.toml", config);
    for (name, text) in [
        ("spool/one", "http://a.example/1 http://a.example/2\n"),
        (
            "spool/two",
            "http://a.example/3 http://a.example/4 http://a.example/5\n",
        ),
    ] {
        spool.write(name, text);
        let watch = ["watch", "--config", "urlspool.toml", "--once"];
        let ended = ended(urlspool(watch).current_dir(spool.root()), b"");
        assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    }
    let segments = ["0000000001.jsonl", "0000000002.jsonl"];
    for (at, dying) in [
        ("    with db:", format!("    {DIES}\n    with db:")),
        (INSERT, format!("{DIES}\n                {INSERT}")),
        (
            INSERT,
            format!(
                "db.execute('SELECT count(*) FROM urls').fetchone()[0] == 3 and \
                 {DIES}\n                {INSERT}"
            ),
        ),
        ("    segment.unlink()", format!("    {DIES}")),
        (
            "    segment.with_suffix",
            format!("    {DIES}\n    segment.with_suffix"),
        ),
    ] {
        let folder = Folder::new();
        for name in segments {
            let segment = fs::read(spool.path("out").join(name)).unwrap();
            folder.write(format!("out/{name}"), segment);
        }
        assert!(script.contains(at), "{at}");
        let dying = folder.file("dying.py", script.replacen(at, &dying, 1));
        let whole = folder.file("consume.py", &script);
        let consume = |script: &str| {
            let mut python = Command::new("python3");
            ended(python.args([script, "out"]).current_dir(folder.root()), b"")
        };
        assert_eq!(consume(&dying).status, Some(9), "{at}");
        assert_eq!(consume(&whole).text(), "5 URLs\n", "{at}");
        assert_eq!(consume(&whole).text(), "5 URLs\n", "{at}");
    }
}

#[test]
fn commands_print_what_the_pages_show() {
    run_sessions(None);
}

#[test]
#[ignore = "needs git"]
fn commands_with_git_print_what_the_pages_show() {
    run_sessions(Some("git"));
}

#[test]
#[ignore = "needs jq"]
fn commands_with_jq_print_what_the_pages_show() {
    run_sessions(Some("jq"));
}

#[test]
#[ignore = "needs pywb, for `examples/audit/servers.py`"]
fn commands_with_pywb_print_what_the_pages_show() {
    run_sessions(Some("wayback"));
}

#[test]
#[ignore = "needs sqlite3"]
fn commands_with_sqlite3_print_what_the_pages_show() {
    run_sessions(Some("sqlite3"));
}

#[test]
#[ignore = "needs duckdb"]
fn commands_with_duckdb_print_what_the_pages_show() {
    run_sessions(Some("duckdb"));
}

#[test]
fn every_fence_is_run_or_has_a_reason() {
    let mut excused = 0;
    for page in pages() {
        let text = read(&page);
        for fence in fences(&text) {
            let begins = |line: &str| {
                fence
                    .lines
                    .first()
                    .is_some_and(|first| first.starts_with(line))
            };
            let is_excused = NOT_RUN.iter().any(|row| {
                let (of, rest) = row.split_once(" | ").unwrap();
                of == page && begins(rest.split(" | ").next().unwrap())
            });
            excused += usize::from(is_excused);
            assert!(
                is_excused
                    || matches!(fence.language, "console" | "text" | "toml" | "yaml" | "rust")
                    // `python/tests/test_docs.py` runs these.
                    || (page == "docs/python.md" && fence.language == "python"),
                "{page}:{}: a fence `{}` that no test runs",
                fence.number,
                fence.language
            );
        }
    }
    assert_eq!(excused, NOT_RUN.len(), "a reason is for no fence");
}

/// Returns the commands in backticks in the text of a page.
fn commands_in_text(page: &str) -> Vec<&str> {
    let is_fence = page.split("```").step_by(2);
    is_fence
        .flat_map(|text| text.split('`').skip(1).step_by(2))
        .filter(|code| code.starts_with("urlspool "))
        .collect()
}

#[test]
fn commands_in_the_text_have_options_that_exist() {
    let mut found = 0;
    for page in pages() {
        for command in commands_in_text(&read(&page)) {
            let mut words = command.split_whitespace().skip(1);
            let is_name = |name: &&str| name.starts_with(char::is_lowercase);
            let Some(name) = words.next().filter(is_name) else {
                continue;
            };
            let mut help = done(&[name, "--help"]).text().to_owned();
            if let Some(step) = words
                .clone()
                .next()
                .filter(|word| commands_in(&help).contains(word))
            {
                help = done(&[name, step, "--help"]).text().to_owned();
            }
            for option in words.filter(|word| word.starts_with("--")) {
                let option = option.split('=').next().unwrap();
                assert!(help.contains(option), "{page}: `{command}` has no {option}");
            }
            found += 1;
        }
    }
    assert!(found > 10, "only {found} commands were found");
}
