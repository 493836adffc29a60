//! The laws of the house that no compiler knows: who may use whom, who may touch the world, what must have a reason.
//!
//! Each law is a function from source text to its breaches, shown to find a small bad example before it is held to
//! `src`.

mod source;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use source::{Source, code, paths, without_tests, words};

/// What only computes: bytes in, values out.
const PURE: &[&str] = &[
    "grammar",
    "span",
    "byte_scan",
    "limits",
    "origin",
    "diagnostic",
    "decode",
    "scan",
    "repair",
    "parse",
    "record",
];

/// What touches files, clocks, threads, the environment or the net. An address of `std::net` is a mere value.
const WORLD: &[&str] = &[
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

const JSON: &[&str] = &["serde", "serde_json"];

/// `record` owns the format of the records, `config` reads its file, `cli` reads JSON strings for `parse`, and `daemon`
/// answers `status` in words of its own.
const KNOW_JSON: &[&str] = &["record", "config", "cli", "daemon"];

/// Names of rooms in which everything ends up that nobody found a place for.
const DRAWERS: &[&str] = &["util", "utils", "common", "misc", "helper", "helpers"];

fn sources() -> Vec<Source> {
    let sources = source::all(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    assert!(sources.len() > 20, "the sources were not found");
    sources
}

/// The modules of `lib.rs`, from the ground up.
fn floors() -> Vec<String> {
    let lib = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs")).unwrap();
    let floors = declared(&lib);
    assert!(floors.len() > 10, "lib.rs declares {floors:?}");
    floors
}

fn declared(lib: &str) -> Vec<String> {
    let code = code(lib);
    let words = words(&code);
    let named = words
        .windows(3)
        .filter(|window| window[0] == "mod" && window[2] == ";");
    named.map(|window| window[1].to_owned()).collect()
}

/// The modules of the crate that a source names, which lies so many folders below `src` (its own name counts).
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

/// The modules that a source uses and that are not declared before its own.
fn upward(text: &str, module: &str, depth: usize, floors: &[String]) -> Vec<String> {
    let below: Vec<_> = floors.iter().take_while(|floor| *floor != module).collect();
    let used = used(text, depth).into_iter();
    used.filter(|name| floors.contains(name) && name != module && !below.contains(&name))
        .collect()
}

/// The paths in a source that are, or lie in, one of these.
fn named(text: &str, forbidden: &[&str]) -> Vec<String> {
    let within = |path: &str, name: &str| {
        path == name || path.strip_prefix(name).is_some_and(|p| p.starts_with("::"))
    };
    let paths = paths(&code(text)).into_iter();
    paths
        .filter(|path| forbidden.iter().any(|name| within(path, name)))
        .collect()
}

/// What no program of ours holds outside its tests.
fn careless(text: &str) -> Vec<&'static str> {
    let code = without_tests(&code(text));
    let words = words(&code);
    let mut found = Vec::new();
    for window in words.windows(4) {
        match window {
            ["unsafe", ..] => found.push("unsafe"),
            ["todo", "!", ..] => found.push("todo!"),
            ["unimplemented", "!", ..] => found.push("unimplemented!"),
            ["dbg", "!", ..] => found.push("dbg!"),
            [".", "unwrap", "(", ")"] => found.push("unwrap()"),
            _ => {}
        }
    }
    found
}

/// The public constants and fields without a line of documentation right before them.
fn unexplained(text: &str) -> Vec<&str> {
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

/// Holds every source that `governed` lets through to `law`, and panics with all breaches.
#[track_caller]
fn hold<B: std::fmt::Debug>(governed: impl Fn(&Source) -> bool, law: impl Fn(&Source) -> Vec<B>) {
    let sources: Vec<_> = sources().into_iter().filter(governed).collect();
    assert!(!sources.is_empty(), "the law governs nothing");
    let breaches: Vec<_> = sources
        .iter()
        .map(|source| (&source.path, law(source)))
        .filter(|b| !b.1.is_empty())
        .collect();
    assert!(breaches.is_empty(), "{breaches:#?}");
}

#[test]
fn a_module_uses_only_what_is_declared_above_it() {
    let floors = floors();
    hold(
        |source| source.module != "main",
        |source| upward(&source.text, &source.module, source.depth, &floors),
    );
}

#[test]
fn every_room_is_declared_in_lib() {
    let floors = floors();
    hold(
        |source| source.module != "main",
        |source| {
            if floors.contains(&source.module) {
                Vec::new()
            } else {
                vec!["not in lib.rs"]
            }
        },
    );
}

#[test]
fn what_computes_touches_no_world() {
    hold(
        |source| PURE.contains(&source.module.as_str()),
        |source| named(&source.text, WORLD),
    );
}

#[test]
fn nothing_below_the_pipeline_names_a_thread() {
    let floors = floors();
    let below: Vec<_> = floors
        .iter()
        .take_while(|floor| *floor != "pipeline")
        .collect();
    hold(
        |source| below.contains(&&source.module),
        |source| named(&source.text, THREADS),
    );
}

#[test]
fn only_record_knows_the_wire_format() {
    hold(
        |source| !KNOW_JSON.contains(&source.module.as_str()),
        |source| named(&source.text, JSON),
    );
}

#[test]
fn every_limit_has_its_reason() {
    hold(
        |source| source.path.ends_with("limits.rs"),
        |source| {
            unexplained(&source.text)
                .into_iter()
                .map(str::to_owned)
                .collect()
        },
    );
}

#[test]
fn no_source_is_careless() {
    hold(|source| !source.is_test, |source| careless(&source.text));
}

#[test]
fn there_are_no_drawers() {
    hold(
        |_| true,
        |source| {
            if DRAWERS.contains(&source.name.as_str()) {
                vec![source.name.clone()]
            } else {
                Vec::new()
            }
        },
    );
}

/// The laws themselves, shown what they must and must not find.
mod shown {
    use super::*;

    #[test]
    fn lib_declares_in_order() {
        assert_eq!(
            declared("pub mod a;\n/// mod x;\nmod b;\nmod c { }"),
            ["a", "b"]
        );
    }

    #[test]
    fn a_use_upward_is_seen_however_it_is_written() {
        let floors = ["low", "middle", "high"].map(str::to_owned);
        for bad in [
            "use crate::high;",
            "use crate::high::{a, b};",
            "use crate::{low::{self, c}, high::x};",
            "use std::io; use crate::{low, high};",
            "fn f() { crate::high::g() }",
            "fn f<T: crate::high::Trait>() {}",
            "use super::high;",
            "use super::{low, high as h};",
        ] {
            assert_eq!(upward(bad, "middle", 1, &floors), ["high"], "{bad}");
        }
        assert_eq!(
            upward("use super::super::high;", "middle", 2, &floors),
            ["high"]
        );
        for good in [
            "use crate::low::high;",
            "use crate::middle::inner; use crate::low;",
            "//! See [`crate::high`].\nfn f() -> &'static str { \"crate::high\" }",
            "mod tests { use super::super::low; }",
            "#[cfg(test)] mod tests { use super::high; }",
        ] {
            assert!(upward(good, "middle", 1, &floors).is_empty(), "{good}");
        }
        assert!(upward("use super::high;", "middle", 2, &floors).is_empty());
    }

    #[test]
    fn the_world_is_seen_however_it_is_named() {
        for bad in [
            "use std::fs;",
            "use std::{io, fs::File};",
            "fn f() { std::fs::read(p) }",
            "use ::std::{fs};",
        ] {
            assert_eq!(named(bad, WORLD).len(), 1, "{bad}");
        }
        assert_eq!(
            named("use std::sync::{Arc, mpsc::{channel, Sender}};", THREADS).len(),
            2
        );
        for good in [
            "use std::fmt;",
            "// std::fs",
            "let s = \"std::fs\";",
            "use std::net::Ipv6Addr;",
            "use mystd::fs;",
        ] {
            assert!(named(good, WORLD).is_empty(), "{good}");
        }
    }

    #[test]
    fn carelessness_is_seen_outside_tests() {
        assert_eq!(careless("fn f() { x.unwrap(); }"), ["unwrap()"]);
        assert_eq!(
            careless("fn f() { todo!() } fn g() { x\n  .unwrap() ; }"),
            ["todo!", "unwrap()"]
        );
        assert_eq!(
            careless("unsafe fn f() { unimplemented!() }"),
            ["unsafe", "unimplemented!"]
        );
        assert!(careless("fn f() { x.unwrap_or(1); /* y.unwrap() */ } // todo!()").is_empty());
        assert!(
            careless("fn f() {}\n#[cfg(test)]\nmod tests { fn g() { if a { b.unwrap() } } }")
                .is_empty()
        );
        assert_eq!(
            careless("#[cfg(test)] use a::b; fn f() { x.unwrap(); }"),
            ["unwrap()"]
        );
    }

    #[test]
    fn a_number_without_a_reason_is_seen() {
        let text = "/// Octets.\npub const A: usize = 1;\n\npub const B: usize = 2;\npub struct S {\n/// C.\n#[x]\npub c: usize,\npub d: usize,\n}";
        assert_eq!(
            unexplained(text),
            ["pub const B: usize = 2;", "pub d: usize,"]
        );
    }
}
