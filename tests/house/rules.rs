//! Tests of the rules: what they must and must not find.

use super::{IO, THREADS, declared, named, undocumented, upward};

#[test]
fn declarations_are_read_in_order() {
    assert_eq!(
        declared("pub mod a;\n/// mod x;\nmod b;\nmod c { }"),
        ["a", "b"]
    );
}

#[test]
fn an_upward_use_is_found_in_every_form() {
    let modules = ["low", "middle", "high"].map(str::to_owned);
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
        assert_eq!(upward(bad, "middle", 1, &modules), ["high"], "{bad}");
    }
    assert_eq!(
        upward("use super::super::high;", "middle", 2, &modules),
        ["high"]
    );
    for good in [
        "use crate::low::high;",
        "use crate::middle::inner; use crate::low;",
        "//! See [`crate::high`].\nfn f() -> &'static str { \"crate::high\" }",
        "mod tests { use super::super::low; }",
        "#[cfg(test)] mod tests { use super::high; }",
    ] {
        assert!(upward(good, "middle", 1, &modules).is_empty(), "{good}");
    }
    assert!(upward("use super::high;", "middle", 2, &modules).is_empty());
}

#[test]
fn io_is_found_in_every_form() {
    for bad in [
        "use std::fs;",
        "use std::{io, fs::File};",
        "fn f() { std::fs::read(p) }",
        "use ::std::{fs};",
    ] {
        assert_eq!(named(bad, IO).len(), 1, "{bad}");
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
        assert!(named(good, IO).is_empty(), "{good}");
    }
}

#[test]
fn a_number_without_a_reason_is_seen() {
    let text = "/// Octets.\npub const A: usize = 1;\n\npub const B: usize = 2;\npub struct S {\n/// C.\n#[x]\npub c: usize,\npub d: usize,\n}";
    assert_eq!(
        undocumented(text),
        ["pub const B: usize = 2;", "pub d: usize,"]
    );
}
