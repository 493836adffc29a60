//! URLs that were handed to a save service, in a report: a table by outcome, and CSV with the addresses
//! of the snapshots.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::query_table::QueryTable;
use crate::audit::save::SaveOutcome;
use crate::page::html::{Cell, number_column, table, text_column};

/// The file with a row for each URL. The snapshots of a service are at `/web/` beside `/save`, as the
/// Internet Archive has it.
pub(super) const SAVES: QueryTable = QueryTable {
    file: "saves.csv",
    columns: "url,service,sent_at,outcome,timestamp,snapshot,message",
    from: "(SELECT *, iif(address LIKE '%/save',
        substr(address, 1, length(address) - 4) || 'web/' || timestamp || '/' || url, NULL) AS snapshot
      FROM (SELECT *, rtrim(service, '/') AS address FROM audit_saves))
      ORDER BY url",
};

/// Returns the table of the URLs that were handed to a service; nothing without any.
pub(super) fn saves(outcomes: &BTreeMap<SaveOutcome, u64>) -> Markup {
    let columns = [
        text_column("Handed to a save service"),
        number_column("URLs"),
    ];
    let rows = outcomes
        .iter()
        .map(|(outcome, count)| vec![Cell::Own(outcome.words()), Cell::Count(*count)]);
    html! {
        @if !outcomes.is_empty() {
            p {
                "Links that live and that no archive held were handed to a save service. Those that \
                 it saved are archived from then on."
            } "\n"
            (table("Saved links", &columns, rows, None))
        }
    }
}
