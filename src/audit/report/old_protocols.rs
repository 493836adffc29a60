//! Results for links of ftp, gopher and other old protocols, in a report: a table outside the
//! cohorts, and CSV.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::query_table::QueryTable;
use crate::audit::AuditError;
use crate::audit::database::AuditDb;
use crate::audit::state::LinkState;
use crate::page::html::{Cell, number_column, table, text_column};

/// The file with a row for each link.
pub(super) const OLD_PROTOCOLS: QueryTable = QueryTable {
    file: "old-protocols.csv",
    columns: "url,scheme,state,reply,error,checked_at",
    from: "audit_protocols WHERE key IN (SELECT key FROM audit_links) ORDER BY key",
};

/// Links by scheme and state, in the order of [`LinkState::ALL`].
#[derive(Clone, Debug, Default)]
pub(super) struct OldProtocolFigures(BTreeMap<String, [u64; LinkState::ALL.len()]>);

const SQL: &str = "SELECT scheme, state, count(*) FROM audit_protocols
  WHERE key IN (SELECT key FROM audit_links) GROUP BY scheme, state";

impl OldProtocolFigures {
    /// Reads the numbers of links.
    pub(super) fn read(audit: &AuditDb) -> Result<OldProtocolFigures, AuditError> {
        let mut figures = OldProtocolFigures::default();
        let read = |row: &rusqlite::Row<'_>| {
            Ok((row.get(0)?, row.get::<_, String>(1)?, row.get::<_, i64>(2)?))
        };
        for (scheme, state, count) in audit.rows(SQL, [], read)? {
            let state = LinkState::named(&state).unwrap_or(LinkState::Unknown);
            let counts = figures.0.entry(scheme).or_default();
            counts[state as usize] += count.cast_unsigned();
        }
        Ok(figures)
    }
}

/// Returns the table of the links that were checked; nothing without any.
pub(super) fn old_protocols(figures: &OldProtocolFigures) -> Markup {
    let mut columns = vec![text_column("Scheme"), number_column("Checked")];
    columns.extend(LinkState::ALL.map(|state| number_column(state.words().title)));
    let rows = figures.0.iter().map(|(scheme, counts)| {
        let mut cells = vec![Cell::Foreign(scheme), Cell::Count(counts.iter().sum())];
        cells.extend(counts.iter().map(|count| Cell::Count(*count)));
        cells
    });
    html! {
        @if !figures.0.is_empty() {
            p {
                "Links that were checked on request: of ftp by a question for the file or folder, \
                 of gopher by the first lines of the answer, of the others by a look-up of the \
                 name, which says nothing of the link. They count in no share."
            } "\n"
            (table("Checked links of old protocols", &columns, rows, None))
        }
    }
}
