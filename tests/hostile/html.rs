//! Hostile HTML.

use std::collections::BTreeSet;

use super::{check, page, urls};
use crate::scene::scan;

#[test]
fn row_75_hostile_html_is_tokenised_with_little_stack() {
    let link = "<a href=\"http://a.example/\">x</a>";
    for (name, flood) in [
        ("nested tags", "<div>".repeat(200_000)),
        ("tables", "<table><tr><td><b><i></table>".repeat(20_000)),
        (
            "misnested formatting",
            "<b><p><i></b></p></i>".repeat(20_000),
        ),
        ("end tags", "</a>".repeat(100_000)),
        (
            "a long attribute",
            format!("<p title=\"{}\">", "x".repeat(4 << 20)),
        ),
        ("a long name", format!("<{}>", "x".repeat(1 << 20))),
        ("processing instructions", "<?".repeat(100_000) + ">"),
        (
            "attributes without values",
            format!("<p {}>", "a ".repeat(200_000)),
        ),
        ("slashes", format!("<p {}>", "/".repeat(200_000))),
        ("equals signs", format!("<p {}>", "=".repeat(200_000))),
        ("less-than signs", "<".repeat(200_000)),
        ("CDATA", "<![CDATA[x]]>".repeat(50_000)),
        ("comments", "<!-- x -->".repeat(50_000)),
        (
            "conditional comments",
            "<!--[if mso]>x<![endif]-->".repeat(20_000),
        ),
    ] {
        check(
            name,
            page(&format!("{flood}{link}")),
            &["http://a.example/"],
        );
    }
}

#[test]
fn row_75_unclosed_markup_hides_no_url_and_is_one_event() {
    let link = "<a href=\"http://a.example/\">x</a>";
    for (name, html) in [
        ("comment", format!("<!-- {link}")),
        ("comments", format!("{}{link}", "<!-- ".repeat(50_000))),
        ("script", format!("<script>{link}")),
        ("scripts", format!("{}{link}", "<script>".repeat(20_000))),
        ("style", format!("<style>{link}")),
        ("quote", format!("<p title='x>{link}")),
        ("quotes", format!("{}{link}", "<p title='x>".repeat(1_001))),
        ("declaration", format!("<!x {}", link.replace('>', ""))),
    ] {
        let scan = scan(page(&html), &["--kind", "message"]);
        assert_eq!(scan.urls(), BTreeSet::from(["http://a.example/"]), "{name}");
        assert_eq!(scan.events, ["ambiguous"], "{name}");
        assert_eq!(urls(page(&html)).len(), scan.records.len(), "{name}");
    }
}

#[test]
fn row_76_character_references_are_decoded_once() {
    for (name, value, want) in [
        (
            "decoded once",
            "http://a.example/?b&amp;amp;c".to_owned(),
            "http://a.example/?b&amp;c".to_owned(),
        ),
        (
            "hexadecimal",
            "&#x68;&#X74;tp://a.example/".to_owned(),
            "http://a.example/".to_owned(),
        ),
        (
            "without semicolon",
            "http://a.example/?b&ampc".to_owned(),
            "http://a.example/?b&ampc".to_owned(),
        ),
        (
            "unknown",
            "http://a.example/?b&bogus;c".to_owned(),
            "http://a.example/?b&bogus;c".to_owned(),
        ),
    ] {
        check(name, page(&format!("<a href=\"{value}\">x</a>")), &[&want]);
    }
    let huge = format!(
        "&#x{};&#{};&#xD800;&#xDFFF;&#0;&#x110000;&#;&#x;&",
        "F".repeat(100_000),
        "9".repeat(100_000)
    );
    check(
        "huge and surrogates",
        page(&format!("{huge}<a href=\"http://a.example/\">{huge}</a>")),
        &["http://a.example/"],
    );
    let nested = format!("http://a.example/?{}", "&amp;".repeat(200));
    check(
        "many",
        page(&format!("<a href=\"{nested}\">x</a>")),
        &[&nested.replace("&amp;", "&")],
    );
    check(
        "flood",
        page(&format!(
            "{}<a href=\"http://a.example/\">x</a>",
            "&amp;&#x41;&bogus;".repeat(50_000)
        )),
        &["http://a.example/"],
    );
}
