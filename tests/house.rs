//! Rules that the compiler does not check: I/O and threads per crate, and documentation.
//!
//! Each rule is a function from source text to its violations.

use std::fs;
use std::path::Path;
use std::process::Command;

/// Code that only computes: bytes in, values out.
const PURE: &str = "text/ mail/documents mail/decode record/ store/stats";

/// The one exception, a feature for tests.
const PLANTED: &str = "text/planted_faults.rs";

/// Crates that start no threads.
const SINGLE_THREADED: &str = "text/ sources/ mail/ record/";

/// Items that use files, clocks, threads, the environment or the network.
const IO: &str = "\
    std::fs std::thread std::time std::env std::process std::net::TcpStream std::net::TcpListener \
    std::net::UdpSocket std::net::ToSocketAddrs std::os::fd std::os::unix::fs std::os::unix::net \
    std::os::unix::process std::io::stdin std::io::stdout std::io::stderr jiff::Timestamp::now \
    jiff::Zoned::now rand";

const THREADS: &str = "std::thread std::sync::mpsc rayon crossbeam crossbeam_channel tokio";

/// The clock, and the files, in `daemon/service` and elsewhere, that may use it.
const CLOCK: &str = "\
    std::time::Instant std::time::SystemTime jiff::Timestamp::now jiff::Zoned::now";
const USES_CLOCK: &str = "\
    daemon/service/ store/load/loader.rs store/load/target.rs store/load/http_agent.rs \
    store/load/elasticsearch/http.rs audit/step.rs audit/database.rs audit/save.rs audit/check.rs \
    audit/client.rs audit/guard.rs audit/protocols store/browse/answer.rs store/browse.rs \
    files/options.rs files/config/daemon.rs cli/scan.rs cli/signals.rs cli/watch/paths.rs";

/// The environment, and the files that may use it.
const ENVIRONMENT: &str = "std::env sd_notify";
const USES_ENVIRONMENT: &str = "\
    files/config.rs cli.rs cli/audit.rs cli/config_path.rs cli/load.rs cli/terminal.rs \
    cli/watch/paths.rs daemon/service/process.rs text/planted_faults.rs \
    sources/read/process.rs sources/read/archive/outlook.rs";

/// The network, and the files that may use it.
const NETWORK: &str = "\
    std::net::TcpStream std::net::TcpListener std::net::UdpSocket std::net::ToSocketAddrs \
    std::os::unix::net tokio_postgres::Client ureq::Agent";
const USES_NETWORK: &str = "\
    audit/archive audit/client.rs audit/guard.rs audit/inspect/client.rs audit/protocols \
    audit/save.rs audit/step.rs store/load/postgres store/load/elasticsearch/http.rs \
    store/load/http_agent.rs daemon/service/status_server.rs store/browse.rs";

const JSON: &str = "serde serde_json";

/// `record` owns the format of the records, `config` reads its file, and `cli` reads JSON strings
/// for `parse`. `daemon` has its own format for `status`, `audit` reads lychee's results and the
/// answers of archives, and `explain` builds a value that pages and Python take as JSON. The API of
/// Elasticsearch and reports for abuse desks are JSON. Rows of CSV are values that serde knows.
const USES_JSON: &str = "\
    record/ files/config files/evidence.rs files/pipeline/summary.rs cli daemon/ audit/ \
    store/load/abuse_report.rs store/load/elasticsearch store/load/found_row.rs store/page.rs";

/// Names of modules that collect unrelated code.
const COLLECTIVE_NAMES: &[&str] = &["util", "utils", "common", "misc", "helper", "helpers"];

/// A file in `src`, or in the `src` of a crate.
struct Source {
    /// Path without the folder of the crates: `text/scan/trigger.rs`, `cli/scan.rs`.
    place: String,
    /// Code without comment lines and tests.
    code: String,
    text: String,
}

fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = ["src", "crates"].into_iter().flat_map(|folder| {
        let folder = root.join(folder);
        let paths = crate::scene::files(&folder).into_iter();
        paths.map(move |path| (path.strip_prefix(&folder).unwrap().to_owned(), path))
    });
    let sources: Vec<_> = files
        .filter(|(_, path)| path.extension().is_some_and(|end| end == "rs"))
        .filter(|(place, _)| !place.ends_with("tests.rs"))
        .map(|(place, path)| {
            let text = fs::read_to_string(path).unwrap();
            Source {
                place: place.to_str().unwrap().replacen("/src/", "/", 1),
                code: code(&text),
                text,
            }
        })
        .collect();
    assert!(sources.len() > 20, "the sources were not found");
    sources
}

/// Removes comment lines, and the tests at the end of a file.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
    let lines = text.lines().filter(|line| !line.trim().starts_with("//"));
    lines.map(|line| format!("{line}\n")).collect()
}

/// Returns the paths of a `use` tree.
fn use_paths(prefix: &str, tree: &str) -> Vec<String> {
    let (mut depth, mut start, mut found) = (0, 0, Vec::new());
    for (at, letter) in tree.char_indices().chain([(tree.len(), ',')]) {
        depth += i32::from(letter == '{') - i32::from(letter == '}');
        if letter != ',' || depth != 0 {
            continue;
        }
        let item = tree[start..at].trim().trim_start_matches("::");
        start = at + 1;
        match item.split_once('{') {
            Some((head, inner)) => {
                let inner = inner.strip_suffix('}').unwrap_or(inner);
                found.extend(use_paths(&format!("{prefix}{head}"), inner));
            }
            None => found.push(format!("{prefix}{item}")),
        }
    }
    found
}

/// Returns the items that code uses or names by their full path.
fn named<'i>(code: &str, items: &'i str) -> Vec<&'i str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let statements = code.split("use ").skip(1);
    let used: Vec<_> = statements
        .flat_map(|tree| use_paths("", tree.split(';').next().unwrap()))
        .collect();
    let is_named = |item: &&str| {
        let mut inline = code.match_indices(*item).map(|(at, _)| at);
        inline.any(|at| {
            !code[..at].ends_with(is_word) && !code[at + item.len()..].starts_with(is_word)
        }) || used.iter().any(|path| {
            let rest = path.strip_prefix(*item);
            rest.is_some_and(|rest| !rest.starts_with(is_word))
        })
    };
    items.split(' ').filter(is_named).collect()
}

/// Returns the public constants and fields without a doc comment.
fn undocumented(text: &str) -> Vec<&str> {
    let lines: Vec<_> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.starts_with("#["))
        .collect();
    let is_limit = |line: &str| {
        line.strip_prefix("pub ").is_some_and(|rest| {
            rest.starts_with("const ") && !rest.starts_with("const fn")
                || rest.ends_with(',') && rest.contains(':')
        })
    };
    let bare = lines
        .windows(2)
        .filter(|pair| is_limit(pair[1]) && !pair[0].starts_with("///"));
    bare.map(|pair| pair[1]).collect()
}

/// Checks that no source for which `applies` is true names these items.
#[track_caller]
fn check_unnamed(items: &str, applies: impl Fn(&str) -> bool) {
    let sources = sources().into_iter();
    let applied: Vec<_> = sources.filter(|source| applies(&source.place)).collect();
    assert!(!applied.is_empty(), "the rule applies to no file");
    for Source { place, code, .. } in applied {
        assert_eq!(named(&code, items), [""; 0], "{place}");
    }
}

/// Returns `true` if a file is in one of these places.
fn is_in(place: &str, places: &str) -> bool {
    places.split(' ').any(|start| place.starts_with(start))
}

#[test]
fn pure_modules_do_no_io() {
    check_unnamed(IO, |place| is_in(place, PURE) && place != PLANTED);
    check_unnamed(THREADS, |place| is_in(place, SINGLE_THREADED));
}

#[test]
fn only_the_named_files_use_the_world() {
    for (items, files) in [
        (CLOCK, USES_CLOCK),
        (ENVIRONMENT, USES_ENVIRONMENT),
        (NETWORK, USES_NETWORK),
        // Only `record` knows the format of the lines.
        (JSON, USES_JSON),
    ] {
        check_unnamed(items, |place| !is_in(place, files));
    }
}

#[test]
fn items_are_found_in_every_form() {
    for bad in [
        "use std::fs;",
        "use std::{io, fs::File};",
        "fn f() { std::fs::read(p) }",
        "use ::std::{fs};",
    ] {
        assert_eq!(named(bad, IO), ["std::fs"], "{bad}");
    }
    for good in ["use std::fmt;", "use std::net::Ipv6Addr;", "use mystd::fs;"] {
        assert_eq!(named(good, IO), [""; 0], "{good}");
    }
}

#[test]
fn every_limit_is_documented_and_no_module_collects_unrelated_code() {
    for Source { place, text, .. } in sources() {
        if place.contains("/limits") {
            assert_eq!(undocumented(&text), [""; 0], "{place}");
        }
        let name = place.trim_end_matches(".rs").rsplit('/').next().unwrap();
        assert!(!COLLECTIVE_NAMES.contains(&name), "{place}");
    }
}

#[test]
fn the_code_is_within_its_budget() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let tool = root.join("tests/tools/house_figures.py");
    let Ok(output) = Command::new("python3").arg(tool).arg(root).output() else {
        eprintln!("SKIPPED: the budget is counted by python3, which is not installed");
        return;
    };
    let table = String::from_utf8_lossy(&output.stdout);
    match output.status.code() {
        Some(0) => {}
        Some(77) => eprintln!("SKIPPED: the budget needs Python 3.11"),
        _ => panic!("{table}{}", String::from_utf8_lossy(&output.stderr)),
    }
}

#[test]
fn lines_of_code_comments_and_strings_have_at_most_100_columns() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = ".ci benches crates docs examples fuzz packaging python src tests".split(' ');
    let paths = folders.flat_map(|folder| crate::scene::files(&root.join(folder)));
    let ends = ["rs", "py", "sh", "c", "js", "css", "sql", "run"].map(std::ffi::OsStr::new);
    let code = paths.filter(|path| {
        let end = path.extension().or(path.file_name());
        ends.contains(&end.unwrap()) && !path.iter().any(|part| part == "target")
    });
    for path in code {
        let text = fs::read_to_string(&path).unwrap();
        let wide = text.lines().find(|line| line.chars().count() > 100);
        assert_eq!(wide, None, "{}", path.display());
    }
}

/// Tools cite the program's sources by path, and failed late or silently after merges.
#[test]
fn sources_that_are_cited_by_path_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut cited = 0;
    for folder in ["tests/tools", ".ci", "docs", "fuzz", "config"] {
        for path in crate::scene::files(&root.join(folder)) {
            let text = fs::read_to_string(&path).unwrap_or_default();
            let is_in_path = |c: char| c.is_ascii_alphanumeric() || "/_-.".contains(c);
            let paths = text.split(|c| !is_in_path(c));
            let is_source = |name: &&str| name.starts_with("src/") || name.starts_with("crates/");
            for name in paths.filter(is_source).filter(|name| name.ends_with(".rs")) {
                cited += 1;
                assert!(root.join(name).exists(), "{}: {name}", path.display());
            }
        }
    }
    assert!(cited > 3, "{cited}");
}
