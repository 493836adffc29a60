//! The `PostgreSQL` target: rows are copied into a temporary table and merged from there.

mod schema;
mod session;
mod tls;

use std::fmt::{Display, Write};
use std::io::Cursor;
use std::pin::pin;

use futures_util::SinkExt;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Config, Error};

use super::columns::{Column, SEARCHED_FIELDS, column_value, records_view, searched_text};
use super::target::{
    ChangedRows, GoneMessages, LoadRow, ReplacedFiles, SegmentId, StoredFile, Target, today,
};
use super::target_name::{Credentials, Secret};
use super::tracking::clean_key;
use super::words::{Words, no_words};
use super::{LoadError, LoadJob};
use schema::{
    ADD_INSTANCE, END_MERGE, FILES_WITHOUT_ROWS, FOREIGN_TABLE, INSTANCE, KEEP, NOTE_PARENTS,
    RECOMPUTE_LINKS, REMOVE_GONE, REMOVE_PARENTS, REMOVE_REPLACED, SETTINGS, staged_columns,
};
use session::{Server, Session, SessionError};
use tls::TlsParameters;
use urlspool_record::record::{FieldId, LoadedRecord, LoadedValue, mailbox_key};
use urlspool_text::limits::{
    LOAD_COPY_BYTES, LOAD_LOCK_SECONDS, LOAD_STAGED_BYTES, SEARCH_WORD_BYTES,
};

/// A database on a server, being loaded.
pub(super) struct PostgresTarget {
    server: Server,
    /// Name of the server in messages.
    name: String,
    /// `None` after the connection broke.
    session: Option<Session>,
    /// Identifier of the tables that the first connection found. Rows must not go into other
    /// tables.
    instance: Option<String>,
    rows: CopyRows,
    /// Changed rows that are not reported yet.
    changed: ChangedRows,
    today: String,
    is_replacing: bool,
    has_removed: bool,
}

impl PostgresTarget {
    /// Connects to a server and creates missing tables.
    pub(super) fn open(url: &str, job: &LoadJob) -> Result<PostgresTarget, LoadError> {
        let mut target = PostgresTarget {
            server: server(url, &job.credentials)?,
            name: url.to_owned(),
            session: None,
            instance: None,
            rows: CopyRows::new().map_err(no_words)?,
            changed: ChangedRows::default(),
            today: String::new(),
            is_replacing: false,
            has_removed: false,
        };
        target.connect()?;
        Ok(target)
    }

    fn connect(&mut self) -> Result<(), LoadError> {
        let connected = self.server.connect();
        let session = connected.map_err(|error| match &error {
            SessionError::Client(error)
                if error.code() == Some(&SqlState::INVALID_CATALOG_NAME)
                    && self.instance.is_some() =>
            {
                LoadError::replaced(&self.name)
            }
            _ => named(&self.name, error),
        })?;
        self.session = Some(session);
        // The next attempt prepares a new connection.
        self.prepare().inspect_err(|_| self.close())
    }

    fn close(&mut self) {
        if let Some(session) = self.session.take() {
            self.server.close(session);
        }
    }

    /// Creates missing tables, and the temporary tables of the connection.
    fn prepare(&mut self) -> Result<(), LoadError> {
        let wait = LOAD_LOCK_SECONDS;
        self.batch_execute(&format!(
            "SET lock_timeout='{wait}s'; SET client_min_messages=warning; {COMMIT_DURABLY}; \
             {SETTINGS}; BEGIN; SELECT pg_advisory_xact_lock(1970435187)"
        ))?;
        if self.number("SELECT count(to_regclass('urlspool_tables'))")? == 1 {
            let version = self.number("SELECT version::bigint FROM urlspool_tables")?;
            schema::check_version(&self.name, version)?;
            if self.number(schema::HAS_LIST_FIELDS)? == 0 {
                return Err(schema::development_version(&self.name));
            }
        } else if self.number("SELECT count(to_regclass('urlspool_version'))")? == 1 {
            return Err(schema::development_version(&self.name));
        } else if self.instance.is_some() {
            return Err(LoadError::replaced(&self.name));
        } else if let Some(foreign) =
            self.with(async |client| client.query_opt(FOREIGN_TABLE, &[]).await)?
        {
            let table: String = foreign.get(0);
            return Err(LoadError::unusable(format!(
                "{} has a table or view `{table}` of another program; load into a new database, or \
                 create a schema and name it in the target: ?options=-csearch_path%3DSCHEMA",
                self.name
            )));
        } else {
            self.batch_execute(&schema::tables())?;
            self.batch_execute(&records_view())?;
            self.batch_execute(ADD_INSTANCE)?;
        }
        self.batch_execute(&format!("COMMIT; {}", schema::staging()))
    }

    /// Checks that these are the tables that were loaded into before.
    fn check_instance(&mut self) -> Result<(), LoadError> {
        let row = self.with(async |client| client.query_one(INSTANCE, &[]).await)?;
        let found: String = row.get(0);
        if *self.instance.get_or_insert_with(|| found.clone()) == found {
            Ok(())
        } else {
            Err(LoadError::replaced(&self.name))
        }
    }

    /// Runs `work` with the connection. A broken connection is dropped; the next transaction opens
    /// a new one.
    fn with<T>(
        &mut self,
        work: impl AsyncFnOnce(&Client) -> Result<T, Error>,
    ) -> Result<T, LoadError> {
        let Some(session) = &mut self.session else {
            return Err(unreachable(&self.name, "the connection is closed"));
        };
        let result = self.server.run(session, work);
        if session.client.is_closed() || matches!(result, Err(SessionError::Silent(_))) {
            self.session = None;
        }
        result.map_err(|error| named(&self.name, error))
    }

    fn batch_execute(&mut self, sql: &str) -> Result<(), LoadError> {
        self.with(async |client| client.batch_execute(sql).await)
    }

    fn number(&mut self, sql: &str) -> Result<i64, LoadError> {
        let row = self.with(async |client| client.query_one(sql, &[]).await)?;
        Ok(row.get(0))
    }

    /// Merges the queued rows, then removes rows with the statement `sql`, completed by
    /// [`NOTE_PARENTS`], and the messages and sources that only these rows referred to.
    fn remove_rows(&mut self, sql: &str, values: &[&(dyn ToSql + Sync)]) -> Result<(), LoadError> {
        self.merge()?;
        self.has_removed = true;
        let sql = format!("{sql}{NOTE_PARENTS}");
        self.changed.removed += self.with(async |client| {
            let removed = client.execute(&sql, values).await?;
            client.batch_execute(REMOVE_PARENTS).await?;
            Ok(removed)
        })?;
        Ok(())
    }

    /// Copies the queued rows and merges them into the tables.
    fn merge(&mut self) -> Result<(), LoadError> {
        if self.rows.staged.is_empty() {
            return Ok(());
        }
        let staged = std::mem::take(&mut self.rows.staged);
        let is_replacing = self.is_replacing;
        self.changed.added += self.with(async |client| {
            copy_in(client, &staged).await?;
            if is_replacing {
                client.batch_execute(KEEP).await?;
            }
            client.batch_execute(&schema::merge()).await?;
            let added = client.execute(&schema::insert_urls(), &[]).await?;
            client.batch_execute(END_MERGE).await?;
            Ok(added)
        })?;
        Ok(())
    }
}

/// Copies rows into the temporary table.
async fn copy_in(client: &Client, rows: &str) -> Result<u64, Error> {
    let mut copy = pin!(client.copy_in("COPY staging FROM STDIN").await?);
    for chunk in rows.as_bytes().chunks(LOAD_COPY_BYTES) {
        // If writing failed, so did the connection, and finishing the copy reports the error.
        if copy.feed(Cursor::new(chunk.to_vec())).await.is_err() {
            break;
        }
    }
    copy.finish().await
}

/// Returns the server named by a target.
fn server(name: &str, credentials: &Credentials) -> Result<Server, LoadError> {
    let refused = |error: LoadError| unusable(name, &error.to_string()).caused_by(error);
    let (parameters, url) = TlsParameters::take(name).map_err(refused)?;
    let config = url.parse::<Config>();
    let mut config = config.map_err(|error| unusable(name, &chain(&error)).caused_by(error))?;
    config.ssl_mode(parameters.mode);
    config.application_name("urlspool");
    if let Some(password) = password(&config, credentials) {
        config.password(password);
    }
    let tls = parameters.connector().map_err(refused)?;
    Ok(Server::new(config, tls))
}

impl Drop for PostgresTarget {
    fn drop(&mut self) {
        self.close();
    }
}

/// Returns the password from the environment, or from the password file.
fn password(config: &Config, credentials: &Credentials) -> Option<String> {
    let given = credentials.postgres_password.as_ref().map(Secret::text);
    given.map(str::to_owned).or_else(|| {
        let file = std::fs::read_to_string(credentials.postgres_password_file.as_ref()?).ok()?;
        session::password_in(&file, config)
    })
}

/// Makes commits wait until they are written, if the server's default does not. Other values of the
/// setting wait for more than that.
const COMMIT_DURABLY: &str = "SELECT set_config('synchronous_commit', 'local', false)
  WHERE current_setting('synchronous_commit') = 'off'";

/// Classifies an error and adds the name of the server.
fn named(name: &str, error: SessionError) -> LoadError {
    match error {
        SessionError::Client(error) => client_error(name, &error).caused_by(error),
        SessionError::Silent(limit) => unreachable(
            name,
            &format!(
                "the server has not answered for {} s; ?connect_timeout=SECONDS allows more",
                limit.as_secs()
            ),
        ),
        SessionError::System(error) => LoadError::io(format!("{name}: {error}")).caused_by(error),
    }
}

fn client_error(name: &str, error: &tokio_postgres::Error) -> LoadError {
    let reason = chain(error);
    if tls::is_refusal(error) {
        return unusable(name, &reason);
    }
    match error.code() {
        Some(&SqlState::LOCK_NOT_AVAILABLE) => LoadError::locked(format!(
            "another program is writing to {name}; try again when it has ended"
        )),
        Some(&SqlState::UNDEFINED_TABLE) => LoadError::replaced(name),
        Some(
            &SqlState::ADMIN_SHUTDOWN
            | &SqlState::CRASH_SHUTDOWN
            | &SqlState::CANNOT_CONNECT_NOW
            | &SqlState::TOO_MANY_CONNECTIONS,
        )
        | None => unreachable(name, &reason),
        Some(
            &SqlState::INVALID_CATALOG_NAME
            | &SqlState::INVALID_PASSWORD
            | &SqlState::INVALID_AUTHORIZATION_SPECIFICATION,
        ) => unusable(name, &reason),
        Some(_) => LoadError::io(format!("{name}: {reason}")),
    }
}

/// Creates the error for a server that cannot be used as it is.
fn unusable(name: &str, reason: &str) -> LoadError {
    LoadError::unusable(format!("{name}: {reason}"))
}

/// Creates the error for a server that may be reachable later.
fn unreachable(name: &str, reason: &str) -> LoadError {
    LoadError::unreachable(format!("{name}: {reason}"))
}

/// Formats an error with its causes.
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
        if self.session.is_none() {
            self.connect()?;
        }
        self.rows.staged.clear();
        (self.changed, self.has_removed) = (ChangedRows::default(), false);
        self.today = today();
        let begun = self
            .batch_execute("BEGIN; LOCK TABLE urls IN SHARE ROW EXCLUSIVE MODE")
            .and_then(|()| self.check_instance());
        // A failed transaction would block the next one.
        begun.inspect_err(|_| self.roll_back())
    }

    fn loaded_hash(&mut self, segment: &SegmentId) -> Result<Option<String>, LoadError> {
        let sql = "SELECT hash FROM segments WHERE instance=$1 AND epoch=$2 AND seq=$3";
        let (epoch, seq) = (segment.epoch.cast_signed(), segment.seq.cast_signed());
        let values: [&(dyn ToSql + Sync); 3] = [&segment.instance, &epoch, &seq];
        let row = self.with(async |client| client.query_opt(sql, &values).await)?;
        Ok(row.map(|row| row.get(0)))
    }

    fn add_segment(&mut self, segment: &SegmentId) -> Result<(), LoadError> {
        let sql = "INSERT INTO segments VALUES($1,$2,$3,$4)";
        let (epoch, seq) = (segment.epoch.cast_signed(), segment.seq.cast_signed());
        let values: [&(dyn ToSql + Sync); 4] = [&segment.instance, &epoch, &seq, &segment.hash];
        let added = self.with(async |client| client.execute(sql, &values).await);
        added.map(drop)
    }

    fn put(&mut self, rows: &[LoadRow<'_>]) -> Result<(), LoadError> {
        for row in rows {
            let appended = self.rows.append(row, row.cited(&self.today));
            appended.map_err(no_words)?;
            if LOAD_STAGED_BYTES <= self.rows.staged.len() {
                self.merge()?;
            }
        }
        Ok(())
    }

    fn remove(&mut self, gone: &GoneMessages) -> Result<(), LoadError> {
        let messages = gone
            .digests
            .iter()
            .flat_map(|((mailbox, base64), digests)| {
                let key = format!("{:032x}", mailbox_key(mailbox, base64.as_deref()));
                digests.iter().map(move |digest| (key.clone(), &**digest))
            });
        let (mailboxes, digests): (Vec<String>, Vec<&str>) = messages.unzip();
        self.remove_rows(REMOVE_GONE, &[&mailboxes, &digests])
    }

    fn begin_replacing(&mut self) -> Result<(), LoadError> {
        self.is_replacing = true;
        Ok(())
    }

    fn files_without_rows(&mut self) -> Result<Vec<StoredFile>, LoadError> {
        self.merge()?;
        let rows = self.with(async |client| client.query(FILES_WITHOUT_ROWS, &[]).await)?;
        let files = rows.iter().map(|row| StoredFile {
            path: row.get(0),
            path_b64: Some(row.get(1)).filter(|encoded: &String| !encoded.is_empty()),
        });
        Ok(files.collect())
    }

    fn finish_replacing(&mut self, files: &ReplacedFiles) -> Result<(), LoadError> {
        let (paths, encoded) = columns(&files.without_rows);
        let (incomplete, incomplete_encoded) = columns(&files.incomplete);
        self.remove_rows(
            REMOVE_REPLACED,
            &[&paths, &encoded, &incomplete, &incomplete_encoded],
        )?;
        self.is_replacing = false;
        Ok(())
    }

    fn changed(&mut self) -> Result<ChangedRows, LoadError> {
        self.merge()?;
        Ok(self.changed)
    }

    fn commit(&mut self) -> Result<(), LoadError> {
        self.is_replacing = false;
        if self.has_removed {
            self.batch_execute(RECOMPUTE_LINKS)?;
        }
        self.batch_execute("COMMIT")
    }

    /// Has no further checks to do: the connection that committed the rows had locked and checked
    /// their tables, and waited until the server had written the commit.
    fn check_kept(&mut self) -> Result<(), LoadError> {
        Ok(())
    }

    fn roll_back(&mut self) {
        self.rows.staged.clear();
        self.is_replacing = false;
        // If this fails, the connection is closed and the server rolls back.
        let _ = self.batch_execute("ROLLBACK");
    }
}

/// Returns the paths of files, and their bytes in base64 or empty strings.
fn columns(files: &[StoredFile]) -> (Vec<String>, Vec<String>) {
    let files = files
        .iter()
        .map(|file| (file.path.clone(), file.path_b64.clone().unwrap_or_default()));
    files.unzip()
}

/// Largest position in a tsvector.
const LAST_POSITION: usize = 16_383;

/// Maximum size of the words of a tsvector, in bytes; leaves room for its overhead.
const VECTOR_BYTES: usize = 512 << 10;

/// Rows of the table `staging` in the text format of `COPY`: columns separated by tabs, `\N` for
/// null.
struct CopyRows {
    /// Columns that hold fields.
    columns: Vec<Column>,
    words: Words,
    /// Number of the next row.
    number: u64,
    /// Rows to copy.
    staged: String,
}

impl CopyRows {
    fn new() -> rusqlite::Result<CopyRows> {
        Ok(CopyRows {
            columns: staged_columns(),
            words: Words::new()?,
            number: 0,
            staged: String::new(),
        })
    }

    /// Appends a row.
    fn append(&mut self, row: &LoadRow<'_>, cited: Option<&str>) -> rusqlite::Result<()> {
        let (record, out) = (row.record, &mut self.staged);
        show(self.number, out);
        self.number += 1;
        let keys = [
            Some(record.record_key),
            Some(record.source_key),
            record.key_hash(),
            Some(record.mailbox_key()),
        ];
        for key in keys {
            append_text(key.map(|key| format!("{key:032x}")).as_deref(), out);
        }
        append_value(record.value(FieldId::Id), out);
        append_value(record.value(FieldId::Key), out);
        append_text(record.text(FieldId::Key).map(clean_key).as_deref(), out);
        for column in &self.columns {
            match column {
                Column::Field(field) => append_value(column_value(record, *field), out),
                Column::Cited => append_text(cited, out),
            }
        }
        out.push('\t');
        self.append_words(record)?;
        self.staged.push('\n');
        Ok(())
    }

    /// Appends the tsvector of the searchable texts. A gap of one position between two texts
    /// prevents phrases from spanning them.
    fn append_words(&mut self, record: &LoadedRecord) -> rusqlite::Result<()> {
        let out = &mut self.staged;
        let (mut position, limit) = (0, out.len() + VECTOR_BYTES);
        for field in SEARCHED_FIELDS {
            let text = searched_text(record, field);
            self.words.each(&text, |word, _| {
                position += 1;
                if word.len() <= SEARCH_WORD_BYTES && out.len() < limit {
                    let position = position.min(LAST_POSITION);
                    show(format_args!("'{word}':{position} "), out);
                }
            })?;
            position += 1;
        }
        Ok(())
    }
}

/// Appends a tab and the value.
fn append_value(value: &LoadedValue, out: &mut String) {
    match value {
        LoadedValue::Null => append_text(None, out),
        LoadedValue::Boolean(value) => show(format_args!("\t{value}"), out),
        LoadedValue::Integer(number) => show(format_args!("\t{number}"), out),
        LoadedValue::Number(number) => show(format_args!("\t{number}"), out),
        LoadedValue::Text(text) => append_text(Some(text), out),
        LoadedValue::Texts(list) => append_text(Some(list), out),
    }
}

fn show(value: impl Display, out: &mut String) {
    // Writing to a `String` cannot fail.
    let _ = write!(out, "{value}");
}

/// Appends a tab and the text.
fn append_text(text: Option<&str>, out: &mut String) {
    out.push('\t');
    for c in text.unwrap_or_default().chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c => out.push(c),
        }
    }
    if text.is_none() {
        out.push_str("\\N");
    }
}
