//! The most cited dead links: where they were cited, and their snapshots. The links themselves are text.

use super::PageContent;
use crate::audit::report::SenderPolicy;
use crate::audit::report::dead_links::{Citation, CitedLink, DeadLink};
use crate::audit::report::html::Html;
use crate::audit::report::tally::ArchiveAnswer;
use crate::audit::state::LinkState;

pub(super) fn section(html: &mut Html, content: &PageContent) {
    html.raw(
        "<section id=\"cited\">\n<h2>Most cited dead links</h2>\n\
         <p>The links are not clickable: their hosts may belong to somebody else by now. Their snapshots are.</p>\n",
    );
    if content.most_cited.is_empty() {
        html.raw("<p>No link is known to be dead.</p>\n");
    } else {
        html.raw("<ol class=\"cited\">\n");
        for cited in &content.most_cited {
            entry(html, cited, content.senders);
        }
        html.raw("</ol>\n");
    }
    html.raw("</section>\n");
}

fn entry(html: &mut Html, cited: &CitedLink, senders: SenderPolicy) {
    let link = &cited.link;
    html.raw("<li><span class=\"url\">")
        .foreign(&link.url)
        .raw("</span><br>");
    html.raw(match link.state {
        LinkState::DeadHost => "dead host",
        _ => "dead page",
    });
    html.raw(" (")
        .text(&link.result)
        .raw(", ")
        .day(day(&link.checked_at))
        .raw("); ");
    html.counted(link.citations, "citation", "citations")
        .raw(" in ")
        .counted(link.messages, "message", "messages");
    if let Some(first) = &link.first_cited {
        html.raw(", first on ").day(day(first));
    }
    html.raw("; ");
    snapshot(html, link);
    html.raw("\n<ul>\n");
    for citation in &cited.citations {
        citation_line(html, citation, senders);
    }
    html.raw("</ul></li>\n");
}

fn snapshot(html: &mut Html, link: &DeadLink) {
    let Some(address) = &link.snapshot else {
        html.raw(match link.archive {
            ArchiveAnswer::None => "lost: the archive holds no capture",
            _ => "archived",
        });
        return;
    };
    html.raw("<a rel=\"noreferrer noopener\" href=\"")
        .text(address)
        .raw("\">");
    html.raw(match link.archive {
        ArchiveAnswer::Captured => "snapshot",
        _ => "snapshot in the Wayback Machine, if it has one",
    });
    html.raw("</a>");
}

fn citation_line(html: &mut Html, citation: &Citation, senders: SenderPolicy) {
    html.raw("<li>");
    match &citation.date {
        Some(date) => html.text(day(date)),
        None => html.raw("undated"),
    };
    let named = senders == SenderPolicy::Named;
    for (label, value) in [
        (", from ", citation.sender.as_deref().filter(|_| named)),
        (", subject ", citation.subject.as_deref()),
        (", link text ", citation.anchor.as_deref()),
        (", list ", citation.list.as_deref()),
        (
            ", message ",
            citation.message_id.as_deref().filter(|_| named),
        ),
        (", at ", Some(citation.place.as_str())),
    ] {
        if let Some(value) = value {
            html.raw("<span class=\"soft\">")
                .raw(label)
                .raw("</span>")
                .foreign(value);
        }
    }
    html.raw("</li>\n");
}

/// The day of a date.
fn day(date: &str) -> &str {
    date.split('T').next().unwrap_or(date)
}
