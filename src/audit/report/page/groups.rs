//! Links by scheme, top-level domain, domain, host and list.

use super::PageContent;
use super::cohorts::{COLUMNS, cells};
use crate::audit::report::figures::TallyMap;
use crate::audit::report::html::Html;
use crate::audit::report::html_table::{Cell, HtmlTable, TableColumn, text_column};
use crate::limits::REPORT_GROUPS;

/// A table of groups.
struct GroupTable {
    caption: &'static str,
    columns: [TableColumn; COLUMNS.len()],
}

const fn table(caption: &'static str, name: &'static str) -> GroupTable {
    let mut columns = COLUMNS;
    columns[0] = text_column(name);
    GroupTable { caption, columns }
}

static SCHEMES: GroupTable = table("Links by scheme", "Scheme");
static TLDS: GroupTable = table("Links by top-level domain", "Domain");
static DOMAINS: GroupTable = table("Links by registrable domain", "Domain");
static HOSTS: GroupTable = table("Links by host", "Host");
static LISTS: GroupTable = table("Links by list", "List");

pub(super) fn section(html: &mut Html, content: &PageContent) {
    let groups = &content.figures.groups;
    html.raw(
        "<section id=\"groups\">\n<h2>Hosts, domains, lists, schemes</h2>\n\
         <p>The list of a link is that of its first citation: its List-Id, else the first newsgroup, else the path of the file.</p>\n",
    );
    for (map, table) in [
        (&groups.schemes, &SCHEMES),
        (&groups.tlds, &TLDS),
        (&groups.domains, &DOMAINS),
        (&groups.hosts, &HOSTS),
        (&groups.lists, &LISTS),
    ] {
        group_table(html, map, table);
    }
    html.raw("</section>\n");
}

fn group_table(html: &mut Html, map: &TallyMap, group: &'static GroupTable) {
    let sorted = map.sorted();
    let mut table = HtmlTable::begin(html, group.caption, &group.columns);
    for (name, tally) in sorted.iter().take(REPORT_GROUPS) {
        table.row(&cells(Cell::Foreign(name), tally));
    }
    table.end();
    let more = sorted.len().saturating_sub(REPORT_GROUPS);
    if 0 < more {
        html.raw("<p class=\"soft\">The table has those with most links; ")
            .counted(more as u64, "more is", "more are")
            .raw(" in the CSV file.</p>\n");
    }
}
