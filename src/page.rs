//! HTML pages: one file without outside resources, readable without its script.
//!
//! A page is made of sections, tables and charts. Its content is the caller's.

pub(crate) mod charts;
pub(crate) mod html;

use maud::{Markup, PreEscaped, html};

use crate::sink::PAGE_MARK;
use charts::patterns;

pub(crate) const STYLE: &str = include_str!("page/style.css");

/// The script: a button in each head of a table sorts its rows.
const SCRIPT: &str = include_str!("page/script.js");

/// SHA-256 of [`STYLE`], as the content security policy has it.
const STYLE_HASH: &str = "sha256-K17DH58Drst0LjhF3qq10HJ5DOSoOizW/iDAodmKM+U=";

/// SHA-256 of [`SCRIPT`].
const SCRIPT_HASH: &str = "sha256-PHxd3ZO8sU+eZQnYrcKfc1Hd+1+RytWMuzJBrh7Y6bo=";

/// Returns a page. `header` is the markup after its title.
pub(crate) fn document(title: &str, header: &Markup, main: &Markup) -> String {
    let page = html! {
        (PreEscaped("<!doctype html>\n"))
        html lang="en" { "\n"
            (head(title))
            body { "\n"
                header { "\n"
                    h1 { (title) } "\n"
                    (header)
                } "\n"
                main { "\n"
                    (patterns())
                    (main)
                } "\n"
                footer { p {
                    "Made by urlspool " (env!("CARGO_PKG_VERSION")) ". This file needs no network."
                } } "\n"
                script { (PreEscaped(SCRIPT)) } "\n"
            } "\n"
        } "\n"
    };
    page.into_string()
}

fn head(title: &str) -> Markup {
    let policy = format!(
        "default-src 'none'; style-src '{STYLE_HASH}'; script-src '{SCRIPT_HASH}'; base-uri \
         'none'; form-action 'none'"
    );
    html! {
        head { "\n"
            meta charset="utf-8"; "\n"
            (PreEscaped(PAGE_MARK)) "\n"
            meta http-equiv="Content-Security-Policy" content=(policy); "\n"
            meta name="viewport" content="width=device-width, initial-scale=1"; "\n"
            meta name="color-scheme" content="light dark"; "\n"
            meta name="referrer" content="no-referrer"; "\n"
            title { (title) } "\n"
            style { (PreEscaped(STYLE)) } "\n"
        } "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ring::digest::{SHA256, digest};

    #[test]
    fn the_hashes_are_those_of_style_and_script() {
        for (text, expected) in [(STYLE, STYLE_HASH), (SCRIPT, SCRIPT_HASH)] {
            let hash = data_encoding::BASE64.encode(digest(&SHA256, text.as_bytes()).as_ref());
            assert_eq!(format!("sha256-{hash}"), expected);
        }
    }
}
