//! URLs that were handed to a save service, in a report: a table by outcome, and CSV with the addresses
//! of the snapshots.

use std::collections::BTreeMap;

use maud::{Markup, html};
use rusqlite::Row;
use serde::Serialize;

use super::links::address;
use crate::audit::AuditError;
use crate::audit::database::AuditDb;
use crate::audit::save::{SaveOutcome, snapshot_base};
use crate::page::html::{Cell, number_column, table, text_column};
use crate::sink::TableText as Text;

/// The file with a row for each URL.
pub(super) const SAVES: &str = "saves.csv";

/// Its columns.
pub(super) const SAVES_COLUMNS: &str = "url,service,sent_at,outcome,timestamp,snapshot,message";

/// A row of [`SAVES`].
#[derive(Serialize)]
pub(super) struct SaveRow<'r> {
    url: Text<'r>,
    service: Text<'r>,
    sent_at: &'r str,
    outcome: &'r str,
    /// Time of the capture, 14 digits.
    timestamp: Option<&'r str>,
    /// Address of the capture, if the service is known to show it.
    snapshot: Option<String>,
    message: Option<Text<'r>>,
}

impl<'r> SaveRow<'r> {
    fn of(row: &'r Row<'_>) -> rusqlite::Result<SaveRow<'r>> {
        let (url, service) = (row.get_ref(0)?.as_str()?, row.get_ref(1)?.as_str()?);
        let timestamp = row.get_ref(4)?.as_str_or_null()?;
        let snapshot = snapshot_base(service).zip(timestamp);
        Ok(SaveRow {
            url: Text(url),
            service: Text(service),
            sent_at: row.get_ref(2)?.as_str()?,
            outcome: row.get_ref(3)?.as_str()?,
            timestamp,
            snapshot: snapshot.map(|(base, timestamp)| address(&base, timestamp, url)),
            message: row.get_ref(5)?.as_str_or_null()?.map(Text),
        })
    }
}

/// Numbers of URLs by outcome.
#[derive(Clone, Debug, Default)]
pub(super) struct SaveFigures(BTreeMap<SaveOutcome, u64>);

const SQL: &str =
    "SELECT url, service, sent_at, outcome, timestamp, message FROM audit_saves ORDER BY url";

impl SaveFigures {
    /// Reads what was handed to services. `each` gets the row of each URL for [`SAVES`].
    pub(super) fn read(
        audit: &AuditDb,
        mut each: impl FnMut(&SaveRow<'_>) -> Result<(), AuditError>,
    ) -> Result<SaveFigures, AuditError> {
        let mut figures = SaveFigures::default();
        let mut statement = audit.named(audit.db.prepare(SQL))?;
        let mut rows = audit.named(statement.query([]))?;
        while let Some(row) = audit.named(rows.next())? {
            let row = audit.named(SaveRow::of(row))?;
            if let Some(outcome) = SaveOutcome::named(row.outcome) {
                *figures.0.entry(outcome).or_default() += 1;
            }
            each(&row)?;
        }
        Ok(figures)
    }
}

/// Returns the table of the URLs that were handed to a service; nothing without any.
pub(super) fn saves(figures: &SaveFigures) -> Markup {
    let columns = [
        text_column("Handed to a save service"),
        number_column("URLs"),
    ];
    let rows = figures
        .0
        .iter()
        .map(|(outcome, count)| vec![Cell::Own(outcome.words()), Cell::Count(*count)]);
    html! {
        @if !figures.0.is_empty() {
            p {
                "Links that live and that no archive held were handed to a save service. Those that \
                 it saved are archived from then on."
            } "\n"
            (table("Saved links", &columns, rows, None))
        }
    }
}
