//! The page: one HTML file without outside resources, readable without its script.

mod archive;
mod cited;
mod cohorts;
mod groups;
mod lifetimes;
mod method;
mod origin;
mod protocols;
mod summary;

use super::SenderPolicy;
use super::chart::patterns;
use super::dead_links::CitedLink;
use super::figures::Figures;
use super::html::Html;
use super::provenance::Provenance;
use super::style::{SCRIPT, SCRIPT_HASH, STYLE, STYLE_HASH};
use super::survival::Survival;

/// Everything that the page shows.
#[derive(Debug)]
pub(super) struct PageContent {
    pub(super) provenance: Provenance,
    pub(super) figures: Figures,
    /// `None` if no link has a result and an age.
    pub(super) survival: Option<Survival>,
    pub(super) most_cited: Vec<CitedLink>,
    pub(super) senders: SenderPolicy,
}

/// Returns the page.
pub(super) fn page(content: &PageContent) -> Vec<u8> {
    let mut html = Html::default();
    head(&mut html);
    html.raw("<header>\n<h1>Link-rot audit</h1>\n");
    origin::heading(&mut html, content);
    navigation(&mut html);
    html.raw("</header>\n<main>\n");
    patterns(&mut html);
    summary::section(&mut html, content);
    cohorts::section(&mut html, content);
    lifetimes::section(&mut html, content);
    archive::section(&mut html, content);
    groups::section(&mut html, content);
    protocols::section(&mut html, content);
    cited::section(&mut html, content);
    method::section(&mut html, content);
    origin::section(&mut html, content);
    html.raw("</main>\n<footer><p>Made by urlspool ")
        .raw(env!("CARGO_PKG_VERSION"))
        .raw(". This file needs no network.</p></footer>\n<script>")
        .raw(SCRIPT)
        .raw("</script>\n</body>\n</html>\n");
    html.into_bytes()
}

fn head(html: &mut Html) {
    html.raw(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src '",
    )
    .raw(STYLE_HASH)
    .raw("'; script-src '")
    .raw(SCRIPT_HASH)
    .raw(
        "'; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <title>Link-rot audit</title>\n<style>",
    )
    .raw(STYLE)
    .raw("</style>\n</head>\n<body>\n");
}

/// Sections with their headings.
fn navigation(html: &mut Html) {
    html.raw("<nav aria-label=\"Sections\"><ul>");
    for (id, title) in [
        ("#years", "By year"),
        ("#survival", "Survival"),
        ("#archive", "Archived or lost"),
        ("#groups", "Hosts, domains, lists"),
        ("#protocols", "Dead protocols"),
        ("#cited", "Most cited dead links"),
        ("#method", "Method"),
        ("#origin", "Data"),
    ] {
        html.raw("<li><a href=\"")
            .raw(id)
            .raw("\">")
            .raw(title)
            .raw("</a></li>");
    }
    html.raw("</ul></nav>\n");
}
