//! Results for links of ftp, gopher and other old protocols, in a report: a table outside the
//! cohorts, and CSV.

use std::collections::BTreeMap;

use maud::{Markup, html};
use rusqlite::Row;
use serde::Serialize;

use crate::audit::AuditError;
use crate::audit::database::AuditDb;
use crate::audit::state::LinkState;
use crate::page::html::{Cell, number_column, table, text_column};
use crate::sink::TableText as Text;

/// The file with a row for each link.
pub(super) const OLD_PROTOCOLS: &str = "old-protocols.csv";

/// Its columns.
pub(super) const OLD_PROTOCOLS_COLUMNS: &str = "url,scheme,state,reply,error,checked_at";

/// A row of [`OLD_PROTOCOLS`].
#[derive(Serialize)]
pub(super) struct OldProtocolRow<'r> {
    url: Text<'r>,
    scheme: &'r str,
    state: &'r str,
    reply: Option<Text<'r>>,
    error: Option<&'r str>,
    checked_at: &'r str,
}

impl<'r> OldProtocolRow<'r> {
    fn of(row: &'r Row<'_>) -> rusqlite::Result<OldProtocolRow<'r>> {
        Ok(OldProtocolRow {
            url: Text(row.get_ref(0)?.as_str()?),
            scheme: row.get_ref(1)?.as_str()?,
            state: row.get_ref(2)?.as_str()?,
            reply: row.get_ref(3)?.as_str_or_null()?.map(Text),
            error: row.get_ref(4)?.as_str_or_null()?,
            checked_at: row.get_ref(5)?.as_str()?,
        })
    }
}

/// Links by scheme and state, in the order of [`LinkState::ALL`].
#[derive(Clone, Debug, Default)]
pub(super) struct OldProtocolFigures(BTreeMap<String, [u64; LinkState::ALL.len()]>);

const SQL: &str = "SELECT url, scheme, state, reply, error, checked_at FROM audit_protocols
  WHERE key IN (SELECT key FROM audit_links) ORDER BY key";

impl OldProtocolFigures {
    /// Reads the results. `each` gets the row of each link for [`OLD_PROTOCOLS`].
    pub(super) fn read(
        audit: &AuditDb,
        mut each: impl FnMut(&OldProtocolRow<'_>) -> Result<(), AuditError>,
    ) -> Result<OldProtocolFigures, AuditError> {
        let mut figures = OldProtocolFigures::default();
        let exists = "SELECT 1 FROM sqlite_master WHERE name = 'audit_protocols'";
        if audit.rows(exists, [], |_| Ok(()))?.is_empty() {
            return Ok(figures);
        }
        let mut statement = audit.named(audit.db.prepare(SQL))?;
        let mut rows = audit.named(statement.query([]))?;
        while let Some(row) = audit.named(rows.next())? {
            let row = audit.named(OldProtocolRow::of(row))?;
            let state = LinkState::named(row.state).unwrap_or(LinkState::Unknown);
            let counts = figures.0.entry(row.scheme.to_owned()).or_default();
            counts[state as usize] += 1;
            each(&row)?;
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
