//! Rules of the code that the compiler does not check: which module uses which, which may do I/O, what must be documented.
//!
//! Each rule is a function from source text to its violations. A unit test shows that it finds a small bad example.

mod circles;
mod rules;
mod source;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use source::{Source, code, paths, without_tests, words};

/// Modules that only compute: bytes in, values out.
const PURE: &[&str] = &[
    "grammar",
    "span",
    "byte_scan",
    "limits",
    "origin",
    "diagnostic",
    "documents",
    "decode",
    "scan",
    "repair",
    "parse",
    "record",
    "extract",
    "explain",
    "stats",
];

/// Items that use files, clocks, threads, the environment or the network. An address of `std::net` is only a value.
const IO: &[&str] = &[
    "std::fs",
    "std::thread",
    "std::time",
    "std::env",
    "std::process",
    "std::net::TcpStream",
    "std::net::TcpListener",
    "std::net::UdpSocket",
    "std::net::ToSocketAddrs",
    "std::os::fd",
    "std::os::unix::fs",
    "std::os::unix::net",
    "std::os::unix::process",
    "std::io::stdin",
    "std::io::stdout",
    "std::io::stderr",
    "jiff::Timestamp::now",
    "jiff::Zoned::now",
    "rand",
];

const THREADS: &[&str] = &[
    "std::thread",
    "std::sync::mpsc",
    "rayon",
    "crossbeam",
    "crossbeam_channel",
    "tokio",
];

/// The clock, and the files beneath `daemon/service` and elsewhere that may use it (the table in ARCHITECTURE).
const CLOCK: &[&str] = &[
    "std::time::Instant",
    "std::time::SystemTime",
    "jiff::Timestamp::now",
    "jiff::Zoned::now",
];
const USES_CLOCK: &[&str] = &[
    "daemon/service/",
    "load/loader.rs",
    "load/target.rs",
    "load/http_agent.rs",
    "load/elasticsearch/http.rs",
    "audit/archive.rs",
    "audit/database.rs",
    "audit/save.rs",
    "audit/check.rs",
    "audit/client.rs",
    "audit/guard.rs",
    "audit/protocols",
    "browse/answer.rs",
    "browse/server.rs",
    "cli/args/values.rs",
    "cli/scan.rs",
    "cli/scan/interrupt.rs",
];

/// The environment, and the files that may use it (the table in ARCHITECTURE).
const ENVIRONMENT: &[&str] = &["std::env", "sd_notify"];
const USES_ENVIRONMENT: &[&str] = &[
    "config.rs",
    "cli.rs",
    "cli/audit.rs",
    "cli/config_path.rs",
    "cli/load.rs",
    "cli/terminal.rs",
    "cli/watch/paths.rs",
    "daemon/service/process.rs",
    "planted_faults.rs",
    "read/repository/process.rs",
];

/// The network, and the files that may use it (the table in ARCHITECTURE).
const NETWORK: &[&str] = &[
    "std::net::TcpStream",
    "std::net::TcpListener",
    "std::net::UdpSocket",
    "std::net::ToSocketAddrs",
    "std::os::unix::net",
    "tokio_postgres::Client",
    "ureq::Agent",
];
const USES_NETWORK: &[&str] = &[
    "audit/archive",
    "audit/client.rs",
    "audit/guard.rs",
    "audit/inspect/client.rs",
    "audit/protocols",
    "audit/save.rs",
    "load/postgres",
    "load/elasticsearch/http.rs",
    "load/http_agent.rs",
    "daemon/service/status_server.rs",
    "browse/server.rs",
];

const JSON: &[&str] = &["serde", "serde_json"];

/// `record` owns the format of the records, `config` reads its file, `cli` reads JSON strings for `parse`, `daemon`
/// answers `status` in words of its own, `audit` reads results of lychee and what archives answer, and `explain` makes a value
/// that pages and Python take as JSON.
const USES_JSON: &[&str] = &["record", "config", "cli", "daemon", "audit", "explain"];

/// The API of Elasticsearch is JSON; documents are lines as `record` wrote them.
const SPEAKS_JSON: &[&str] = &["load", "elasticsearch"];

/// Rows of CSV are values that serde knows.
const WRITES_ROWS: &[&str] = &["sink", "table_files"];

/// Names of modules that collect unrelated code.
const COLLECTIVE_NAMES: &[&str] = &["util", "utils", "common", "misc", "helper", "helpers"];

fn sources() -> Vec<Source> {
    let sources = source::all(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    assert!(sources.len() > 20, "the sources were not found");
    sources
}

/// Returns the modules of `lib.rs`, in the order of their declaration.
fn modules() -> Vec<String> {
    let lib = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs")).unwrap();
    let modules = declared(&lib);
    assert!(modules.len() > 10, "lib.rs declares {modules:?}");
    modules
}

fn declared(lib: &str) -> Vec<String> {
    let code = code(lib);
    let words = words(&code);
    let named = words
        .windows(3)
        .filter(|window| window[0] == "mod" && window[2] == ";");
    named.map(|window| window[1].to_owned()).collect()
}

/// Returns the modules of the crate that a source uses. `depth` is the number of names in its module path.
fn used(text: &str, depth: usize) -> BTreeSet<String> {
    let code = code(text);
    let of_crate = paths(&code)
        .into_iter()
        .filter_map(|path| path.strip_prefix("crate::").map(first));
    let up = "super::".repeat(depth);
    let above = paths(&without_tests(&code))
        .into_iter()
        .filter_map(|path| path.strip_prefix(&up).map(first));
    of_crate
        .chain(above.filter(|name| name != "super"))
        .collect()
}

fn first(path: &str) -> String {
    path.split("::").next().unwrap_or_default().to_owned()
}

/// Returns the modules that a source uses although they are not declared before its own.
fn upward(text: &str, module: &str, depth: usize, modules: &[String]) -> Vec<String> {
    let below: Vec<_> = modules
        .iter()
        .take_while(|module_name| *module_name != module)
        .collect();
    let used = used(text, depth).into_iter();
    used.filter(|name| modules.contains(name) && name != module && !below.contains(&name))
        .collect()
}

/// Returns the paths in a source that are one of `forbidden`, or lie in one.
fn named(text: &str, forbidden: &[&str]) -> Vec<String> {
    let within = |path: &str, name: &str| {
        path == name || path.strip_prefix(name).is_some_and(|p| p.starts_with("::"))
    };
    let paths = paths(&code(text)).into_iter();
    paths
        .filter(|path| forbidden.iter().any(|name| within(path, name)))
        .collect()
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

/// Checks `rule` on every source that `applies` accepts, and panics with all violations.
#[track_caller]
fn check_rule<B: std::fmt::Debug>(
    applies: impl Fn(&Source) -> bool,
    rule: impl Fn(&Source) -> Vec<B>,
) {
    let sources: Vec<_> = sources().into_iter().filter(applies).collect();
    assert!(!sources.is_empty(), "the rule applies to no file");
    let violations: Vec<_> = sources
        .iter()
        .map(|source| (&source.path, rule(source)))
        .filter(|b| !b.1.is_empty())
        .collect();
    assert!(violations.is_empty(), "{violations:#?}");
}

#[test]
fn a_module_uses_only_what_is_declared_above_it() {
    let modules = modules();
    check_rule(
        |source| source.module != "main",
        |source| upward(&source.text, &source.module, source.depth, &modules),
    );
}

#[test]
fn no_files_use_each_other_in_a_circle() {
    let circles = circles::circles(&sources());
    assert!(circles.is_empty(), "{circles:#?}");
}

#[test]
fn every_module_is_declared_in_lib() {
    let modules = modules();
    check_rule(
        |source| source.module != "main",
        |source| {
            if modules.contains(&source.module) {
                Vec::new()
            } else {
                vec!["not in lib.rs"]
            }
        },
    );
}

#[test]
fn pure_modules_do_no_io() {
    check_rule(
        |source| PURE.contains(&source.module.as_str()),
        |source| named(&source.text, IO),
    );
}

/// ARCHITECTURE names the files that use the clock, the environment and the network.
#[test]
fn only_the_named_files_use_the_world() {
    for (items, files) in [
        (CLOCK, USES_CLOCK),
        (ENVIRONMENT, USES_ENVIRONMENT),
        (NETWORK, USES_NETWORK),
    ] {
        let is_named = |source: &Source| {
            let path = source.modules.join("/") + ".rs";
            files.iter().any(|file| path.starts_with(file))
        };
        check_rule(
            |source| !is_named(source) && !source.is_test,
            |source| named(&without_tests(&code(&source.text)), items),
        );
    }
}

#[test]
fn no_module_below_the_pipeline_uses_threads() {
    let modules = modules();
    let below: Vec<_> = modules
        .iter()
        .take_while(|module_name| *module_name != "pipeline")
        .collect();
    check_rule(
        |source| below.contains(&&source.module),
        |source| named(&source.text, THREADS),
    );
}

#[test]
fn only_record_knows_the_wire_format() {
    check_rule(
        |source| {
            !USES_JSON.contains(&source.module.as_str())
                && !starts_with(&source.modules, SPEAKS_JSON)
                && !starts_with(&source.modules, WRITES_ROWS)
        },
        |source| named(&source.text, JSON),
    );
}

fn starts_with(modules: &[String], start: &[&str]) -> bool {
    start.len() <= modules.len() && modules.iter().zip(start).all(|(name, other)| name == other)
}

#[test]
fn every_limit_is_documented() {
    check_rule(
        |source| source.module == "limits" || source.name == "limits",
        |source| {
            undocumented(&source.text)
                .into_iter()
                .map(str::to_owned)
                .collect()
        },
    );
}

#[test]
fn no_module_collects_unrelated_code() {
    check_rule(
        |_| true,
        |source| {
            if COLLECTIVE_NAMES.contains(&source.name.as_str()) {
                vec![source.name.clone()]
            } else {
                Vec::new()
            }
        },
    );
}

/// The tools that check the program cite its sources by path, and failed late, or silently, when files were merged.
#[test]
fn sources_that_are_cited_by_path_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut cited = 0;
    for folder in ["tests/tools", ".ci", "docs", "fuzz", "config"] {
        for path in crate::scene::files(&root.join(folder)) {
            let Ok(text) = fs::read_to_string(&path) else {
                continue;
            };
            for start in text.match_indices("src/").map(|(at, _)| at) {
                let is_inside =
                    text[..start].ends_with(|c: char| c.is_alphanumeric() || "/_-.".contains(c));
                let end =
                    text[start..].find(|c: char| !(c.is_ascii_alphanumeric() || "/_.".contains(c)));
                let name = text[start..].get(..end.unwrap_or(0)).unwrap_or_default();
                if is_inside || !name.ends_with(".rs") {
                    continue;
                }
                cited += 1;
                assert!(
                    root.join(name).exists(),
                    "{} names {name}, which is not there",
                    path.display()
                );
            }
        }
    }
    assert!(cited > 3, "{cited}");
}
