//! The target `PostgreSQL`: rows are copied into a table of the connection and merged from there.

mod copy_row;
mod pgpass;
mod removal;
mod schema;
mod tls;

use std::fmt::Display;
use std::io::Write;

use postgres::error::SqlState;
use postgres::{Client, Config};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::credentials::{Credentials, Secret};
use super::dates::{is_plausible, today};
use super::error::{
    LoadError, LoadIoError, LockedError, UnreachableError, UnusableServer, UnusableServerReason,
};
use super::gone_messages::GoneMessages;
use super::records_view::RECORDS_VIEW;
use super::target::{ChangedRows, LoadRow, SegmentId, SegmentStatus, Target};
use crate::limits::{LOAD_LOCK_SECONDS, LOAD_STAGED_BYTES};
use crate::record::GoneLine;
use schema::{MERGE, RECOMPUTE_LINKS, RELATIONS, STAGING, TABLES, VERSION};
use tls::TlsParameters;

/// A database of a server that is being loaded.
pub(super) struct PostgresTarget {
    config: Config,
    tls: MakeRustlsConnect,
    /// The server, for messages.
    name: String,
    /// `None` after the connection broke.
    client: Option<Client>,
    /// Rows to be copied, in the format of `COPY`.
    staged: String,
    /// Number of the next row.
    number: u64,
    /// Messages whose rows are removed after those that wait were added. No row that waits came after its message was gone.
    gone: GoneMessages,
    /// Rows that were changed and not reported yet.
    changed: ChangedRows,
    today: String,
    is_replacing: bool,
    has_removed: bool,
}

impl PostgresTarget {
    /// Connects to a server, and creates the tables if there are none.
    pub(super) fn open(url: &str, credentials: &Credentials) -> Result<PostgresTarget, LoadError> {
        let name = url.to_owned();
        let refused = |reason: &dyn Display| {
            let reason = UnusableServerReason::Parameters(reason.to_string());
            unusable(&name, reason)
        };
        let (parameters, url) = TlsParameters::take(url).map_err(|error| refused(&error))?;
        let mut config: Config = url
            .parse()
            .map_err(|error: postgres::Error| refused(&chain(&error)))?;
        config.ssl_mode(parameters.client_mode());
        let tls = parameters.connector().map_err(|error| refused(&error))?;
        if let Some(password) = password(&config, credentials) {
            config.password(password);
        }
        config.application_name("urlspool");
        let mut target = PostgresTarget {
            config,
            tls,
            name,
            client: None,
            staged: String::new(),
            number: 0,
            gone: GoneMessages::default(),
            changed: ChangedRows::default(),
            today: String::new(),
            is_replacing: false,
            has_removed: false,
        };
        target.connect()?;
        Ok(target)
    }

    fn connect(&mut self) -> Result<(), LoadError> {
        let connected = self.config.connect(self.tls.clone());
        let mut client = connected.map_err(|error| named(&self.name, &error))?;
        prepare(&mut client, &self.name)?;
        self.client = Some(client);
        Ok(())
    }

    /// Runs statements on the connection. A broken one is dropped, and made anew by the next transaction.
    fn with<T>(
        &mut self,
        work: impl FnOnce(&mut Client) -> Result<T, postgres::Error>,
    ) -> Result<T, LoadError> {
        let Some(client) = &mut self.client else {
            let server = self.name.clone();
            return Err(UnreachableError::Closed { server }.into());
        };
        let result = work(client);
        if client.is_closed() {
            self.client = None;
        }
        result.map_err(|error| named(&self.name, &error))
    }

    /// Adds the rows that wait, then removes those of the messages that are gone.
    fn flush(&mut self) -> Result<(), LoadError> {
        self.merge()?;
        if self.gone.is_empty() {
            return Ok(());
        }
        self.has_removed = true;
        let gone = std::mem::take(&mut self.gone);
        self.changed.removed += self.with(|client| removal::remove_gone(client, &gone))?;
        Ok(())
    }

    /// Copies the rows that wait, and merges them into the tables.
    fn merge(&mut self) -> Result<(), LoadError> {
        if self.staged.is_empty() {
            return Ok(());
        }
        let staged = std::mem::take(&mut self.staged);
        let is_replacing = self.is_replacing;
        self.changed.added += self.with(|client| {
            let mut copy = client.copy_in("COPY staging FROM STDIN")?;
            // The error of a write is that of the connection, which the end of the copy reports.
            let _ = copy.write_all(staged.as_bytes());
            copy.finish()?;
            if is_replacing {
                client.batch_execute(
                    "INSERT INTO kept SELECT record_key FROM staging ON CONFLICT DO NOTHING",
                )?;
            }
            let mut changed = 0;
            for statement in MERGE {
                changed = client.execute(*statement, &[])?;
            }
            client.batch_execute("TRUNCATE staging")?;
            Ok(changed)
        })?;
        Ok(())
    }
}

/// The password from the environment, or from the password file.
fn password(config: &Config, credentials: &Credentials) -> Option<String> {
    let given = credentials.postgres_password.as_ref().map(Secret::text);
    given.map(str::to_owned).or_else(|| {
        let file = std::fs::read_to_string(credentials.postgres_password_file.as_ref()?).ok()?;
        pgpass::password(&file, config)
    })
}

/// Creates the tables, unless they are there, and the tables of the connection.
fn prepare(client: &mut Client, name: &str) -> Result<(), LoadError> {
    let failed = |error: postgres::Error| named(name, &error);
    let wait = LOAD_LOCK_SECONDS;
    client
        .batch_execute(&format!(
            "SET lock_timeout='{wait}s'; SET client_min_messages=warning; BEGIN; SELECT pg_advisory_xact_lock(1970435187)"
        ))
        .map_err(failed)?;
    let number = |client: &mut Client, sql: &str| -> Result<i64, LoadError> {
        let row = client.query_one(sql, &[]).map_err(failed)?;
        Ok(row.get(0))
    };
    let exists = |table: &str| format!("SELECT count(to_regclass('{table}'))");
    if number(client, &exists("urlspool_version"))? == 1 {
        let version = number(client, "SELECT version::bigint FROM urlspool_version")?;
        if version != i64::from(VERSION) {
            let reason = UnusableServerReason::TableVersion {
                found: version,
                needed: VERSION.into(),
            };
            return Err(unusable(name, reason));
        }
    } else if let Some(table) = foreign_table(client).map_err(failed)? {
        let reason = UnusableServerReason::OtherProgram { table };
        return Err(unusable(name, reason));
    } else {
        client.batch_execute(TABLES).map_err(failed)?;
        client.batch_execute(RECORDS_VIEW).map_err(failed)?;
    }
    client
        .batch_execute(&format!("COMMIT; {STAGING}"))
        .map_err(failed)
}

/// Returns the table or view of another program that has the name of one of ours, in the schema where ours would be created.
fn foreign_table(client: &mut Client) -> Result<Option<String>, postgres::Error> {
    let sql =
        "SELECT relname::text FROM pg_class WHERE relnamespace = to_regnamespace(current_schema())
       AND relname = ANY($1) ORDER BY relname LIMIT 1";
    let row = client.query_opt(sql, &[&RELATIONS])?;
    Ok(row.map(|row| row.get(0)))
}

/// Classifies an error, and names the server.
fn named(name: &str, error: &postgres::Error) -> LoadError {
    let (server, reason) = (name.to_owned(), chain(error));
    if tls::is_refusal(error) {
        return unusable(name, UnusableServerReason::Connection(reason));
    }
    match error.code() {
        Some(&SqlState::LOCK_NOT_AVAILABLE) => LockedError::Server { server }.into(),
        Some(
            &SqlState::ADMIN_SHUTDOWN
            | &SqlState::CRASH_SHUTDOWN
            | &SqlState::CANNOT_CONNECT_NOW
            | &SqlState::TOO_MANY_CONNECTIONS,
        )
        | None => UnreachableError::Connection { server, reason }.into(),
        Some(
            &SqlState::INVALID_CATALOG_NAME
            | &SqlState::INVALID_PASSWORD
            | &SqlState::INVALID_AUTHORIZATION_SPECIFICATION,
        ) => unusable(name, UnusableServerReason::Connection(reason)),
        Some(_) => LoadIoError::Server { server, reason }.into(),
    }
}

/// The error of a server that cannot be used as it is.
fn unusable(name: &str, reason: UnusableServerReason) -> LoadError {
    let server = name.to_owned();
    UnusableServer { server, reason }.into()
}

/// An error with its causes.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(&format!(": {error}"));
        cause = error.source();
    }
    text
}

impl Target for PostgresTarget {
    fn begin(&mut self) -> Result<(), LoadError> {
        if self.client.is_none() {
            self.connect()?;
        }
        self.staged.clear();
        self.gone.clear();
        (self.changed, self.has_removed) = (ChangedRows::default(), false);
        self.today = today();
        self.with(|client| {
            client.batch_execute("BEGIN; LOCK TABLE urls IN SHARE ROW EXCLUSIVE MODE")
        })
    }

    fn segment_status(&mut self, segment: &SegmentId) -> Result<SegmentStatus, LoadError> {
        let sql = "SELECT hash FROM segments WHERE instance=$1 AND epoch=$2 AND seq=$3";
        let (epoch, seq) = (segment.epoch.cast_signed(), segment.seq.cast_signed());
        let row = self.with(|client| client.query_opt(sql, &[&segment.instance, &epoch, &seq]))?;
        Ok(match row.map(|row| row.get::<_, String>(0)) {
            None => SegmentStatus::New,
            Some(hash) if hash == segment.hash => SegmentStatus::Loaded,
            Some(hash) => SegmentStatus::OtherHash(hash),
        })
    }

    fn add_segment(&mut self, segment: &SegmentId) -> Result<(), LoadError> {
        let sql = "INSERT INTO segments VALUES($1,$2,$3,$4)";
        let (epoch, seq) = (segment.epoch.cast_signed(), segment.seq.cast_signed());
        self.with(|client| client.execute(sql, &[&segment.instance, &epoch, &seq, &segment.hash]))?;
        Ok(())
    }

    fn put(&mut self, rows: &[LoadRow<'_>]) -> Result<u64, LoadError> {
        for row in rows {
            let record = row.record;
            let (mailbox, digest) = (&record.source.mailbox, &record.message.digest);
            if self.gone.contains(mailbox, digest) {
                self.flush()?;
            }
            let is_cited = |date: &&str| is_plausible(&record.scheme, date, &self.today);
            let cited = record.message.date.as_deref().filter(is_cited);
            copy_row::append_row(row, self.number, cited, &mut self.staged);
            self.number += 1;
            if LOAD_STAGED_BYTES <= self.staged.len() {
                self.merge()?;
            }
        }
        Ok(0)
    }

    fn remove(&mut self, gone: &GoneLine) -> Result<u64, LoadError> {
        for digest in &gone.digests {
            self.gone.push(&gone.mailbox, digest);
            if self.gone.is_full() {
                self.flush()?;
            }
        }
        Ok(0)
    }

    fn begin_replacing(&mut self) -> Result<(), LoadError> {
        self.is_replacing = true;
        Ok(())
    }

    fn finish_replacing(&mut self) -> Result<u64, LoadError> {
        self.flush()?;
        self.is_replacing = false;
        self.has_removed = true;
        self.with(removal::remove_replaced)
    }

    fn commit(&mut self) -> Result<ChangedRows, LoadError> {
        self.flush()?;
        self.is_replacing = false;
        if self.has_removed {
            self.with(|client| client.batch_execute(RECOMPUTE_LINKS))?;
        }
        self.with(|client| client.batch_execute("COMMIT"))?;
        Ok(std::mem::take(&mut self.changed))
    }

    fn roll_back(&mut self) {
        self.staged.clear();
        self.gone.clear();
        self.is_replacing = false;
        // If it fails, the connection is closed, and the server rolls back.
        let _ = self.with(|client| client.batch_execute("ROLLBACK"));
    }
}
