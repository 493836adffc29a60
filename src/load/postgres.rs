//! The target `PostgreSQL`: rows are copied into a table of the connection and merged from there.

mod copy_row;
mod schema;
mod session;
mod tls;

use tokio_postgres::error::SqlState;
use tokio_postgres::{Config, Row};

use super::columns::records_view;
use super::target::{
    ChangedRows, GoneMessages, LoadRow, ReplacedFiles, SegmentId, SegmentStatus, StoredFile,
    Target, today,
};
use super::target_name::{Credentials, Secret};
use super::{LoadError, LoadErrorKind, LoadJob};
use crate::limits::{LOAD_LOCK_SECONDS, LOAD_STAGED_BYTES};
use crate::record::{GoneLine, mailbox_key};
use copy_row::CopyRows;
use schema::{
    ADD_INSTANCE, END_MERGE, FILES_WITHOUT_ROWS, INSTANCE, NOTE_PARENTS, RECOMPUTE_LINKS,
    RELATIONS, REMOVE_GONE, REMOVE_PARENTS, REMOVE_REPLACED, SETTINGS,
};
use session::{Parameters, Server, Session, SessionError};
use tls::TlsParameters;

/// A database of a server that is being loaded.
pub(super) struct PostgresTarget {
    server: Server,
    /// The server, for messages.
    name: String,
    /// `None` after the connection broke.
    session: Option<Session>,
    /// The identifier of the tables that the first connection found. Rows must not go into others.
    instance: Option<String>,
    rows: CopyRows,
    /// Rows to be copied, in the format of `COPY`.
    staged: String,
    /// Messages whose rows are removed after those that wait were added. No row that waits came
    /// after its message was gone.
    gone: GoneMessages,
    /// Rows that were changed and not reported yet.
    changed: ChangedRows,
    today: String,
    is_replacing: bool,
    has_removed: bool,
}

impl PostgresTarget {
    /// Connects to a server, and creates the tables if there are none.
    pub(super) fn open(url: &str, job: &LoadJob) -> Result<PostgresTarget, LoadError> {
        let name = url.to_owned();
        let server = server(url, &job.credentials)?;
        let mut target = PostgresTarget {
            server,
            name,
            session: None,
            instance: None,
            rows: CopyRows::new().map_err(no_words)?,
            staged: String::new(),
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
        let connected = self.server.connect();
        let session = connected.map_err(|error| match code(&error) {
            Some(&SqlState::INVALID_CATALOG_NAME) if self.instance.is_some() => {
                LoadError::replaced(&self.name)
            }
            _ => named(&self.name, error),
        })?;
        self.session = Some(session);
        let prepared = self.prepare();
        if prepared.is_err() {
            // The next attempt prepares another connection.
            self.close();
        }
        prepared
    }

    fn close(&mut self) {
        if let Some(session) = self.session.take() {
            session.close();
        }
    }

    /// Creates the tables if there are none, and the tables of the connection.
    fn prepare(&mut self) -> Result<(), LoadError> {
        let wait = LOAD_LOCK_SECONDS;
        self.batch_execute(&format!(
            "SET lock_timeout='{wait}s'; SET client_min_messages=warning; {COMMIT_DURABLY}; \
             {SETTINGS}; BEGIN; SELECT pg_advisory_xact_lock(1970435187)"
        ))?;
        if self.number("SELECT count(to_regclass('urlspool_tables'))")? == 1 {
            let version = self.number("SELECT version::bigint FROM urlspool_tables")?;
            schema::check_version(&self.name, version)?;
        } else if self.number("SELECT count(to_regclass('urlspool_version'))")? == 1 {
            return Err(schema::development_version(&self.name));
        } else if self.instance.is_some() {
            return Err(LoadError::replaced(&self.name));
        } else if let Some(table) = self.foreign_table()? {
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

    /// Returns the table or view of another program that has the name of one of ours, in the schema
    /// where ours would be created.
    fn foreign_table(&mut self) -> Result<Option<String>, LoadError> {
        let sql =
            "SELECT relname::text FROM pg_class WHERE relnamespace = to_regnamespace(current_schema())
           AND relname = ANY($1) ORDER BY relname LIMIT 1";
        let row = self.with(|session| session.query_opt(sql, &[&RELATIONS]))?;
        Ok(row.map(|row| row.get(0)))
    }

    /// Checks that the tables are those that were loaded before.
    fn check_instance(&mut self) -> Result<(), LoadError> {
        let row = self.with(|session| session.query_one(INSTANCE, &[]))?;
        let found: String = row.get(0);
        if *self.instance.get_or_insert_with(|| found.clone()) == found {
            Ok(())
        } else {
            Err(LoadError::replaced(&self.name))
        }
    }

    /// Works with the connection. A broken one is dropped, and made anew by the next transaction.
    fn with<T>(
        &mut self,
        work: impl FnOnce(&mut Session) -> Result<T, SessionError>,
    ) -> Result<T, LoadError> {
        let Some(session) = &mut self.session else {
            return Err(unreachable(&self.name, "the connection is closed"));
        };
        let result = work(session);
        if session.is_closed() || matches!(result, Err(SessionError::Silent(_))) {
            self.session = None;
        }
        result.map_err(|error| named(&self.name, error))
    }

    fn batch_execute(&mut self, sql: &str) -> Result<(), LoadError> {
        self.with(|session| session.batch_execute(sql))
    }

    fn number(&mut self, sql: &str) -> Result<i64, LoadError> {
        let row = self.with(|session| session.query_one(sql, &[]))?;
        Ok(row.get(0))
    }

    /// Adds the rows that wait, then removes those of the messages that are gone.
    fn flush(&mut self) -> Result<(), LoadError> {
        self.merge()?;
        if self.gone.is_empty() {
            return Ok(());
        }
        let gone = std::mem::take(&mut self.gone);
        let messages = gone.by_mailbox().flat_map(|((mailbox, base64), digests)| {
            let key = format!("{:032x}", mailbox_key(mailbox, base64.as_deref()));
            digests.iter().map(move |digest| (key.clone(), &**digest))
        });
        let (mailboxes, digests): (Vec<String>, Vec<&str>) = messages.unzip();
        self.remove_rows(REMOVE_GONE, &[&mailboxes, &digests])
    }

    /// Removes rows by a statement, whose end is [`NOTE_PARENTS`], and what only they referred to.
    fn remove_rows(&mut self, sql: &str, parameters: Parameters<'_>) -> Result<(), LoadError> {
        self.has_removed = true;
        self.changed.removed += self.with(|session| {
            let removed = session.execute(&format!("{sql}{NOTE_PARENTS}"), parameters)?;
            session.batch_execute(REMOVE_PARENTS)?;
            Ok(removed)
        })?;
        Ok(())
    }

    /// Copies the rows that wait, and merges them into the tables.
    fn merge(&mut self) -> Result<(), LoadError> {
        if self.staged.is_empty() {
            return Ok(());
        }
        let staged = std::mem::take(&mut self.staged);
        let is_replacing = self.is_replacing;
        self.changed.added += self.with(|session| {
            session.copy_in("COPY staging FROM STDIN", &staged)?;
            if is_replacing {
                session.batch_execute(
                    "INSERT INTO kept SELECT record_key FROM staging ON CONFLICT DO NOTHING",
                )?;
            }
            session.batch_execute(&schema::merge())?;
            let added = session.execute(&schema::insert_urls(), &[])?;
            session.batch_execute(END_MERGE)?;
            Ok(added)
        })?;
        Ok(())
    }
}

/// Returns the server that a target names.
fn server(url: &str, credentials: &Credentials) -> Result<Server, LoadError> {
    let name = url.to_owned();
    let refused = |error: LoadError| unusable(&name, &error.to_string()).caused_by(error);
    let (parameters, url) = TlsParameters::take(url).map_err(refused)?;
    let mut config: Config = url
        .parse()
        .map_err(|error: tokio_postgres::Error| unusable(&name, &chain(&error)).caused_by(error))?;
    config.ssl_mode(parameters.client_mode());
    let tls = parameters.connector().map_err(refused)?;
    config.application_name("urlspool");
    let mut server = Server::new(config, tls);
    if let Some(password) = password(server.config(), credentials) {
        server.set_password(&password);
    }
    Ok(server)
}

impl Drop for PostgresTarget {
    fn drop(&mut self) {
        self.close();
    }
}

/// The password from the environment, or from the password file.
fn password(config: &Config, credentials: &Credentials) -> Option<String> {
    let given = credentials.postgres_password.as_ref().map(Secret::text);
    given.map(str::to_owned).or_else(|| {
        let file = std::fs::read_to_string(credentials.postgres_password_file.as_ref()?).ok()?;
        session::password_in(&file, config)
    })
}

/// Has commits wait until they are written, if the server does not do so by default. Other settings
/// wait for more.
const COMMIT_DURABLY: &str = "SELECT set_config('synchronous_commit', 'local', false)
  WHERE current_setting('synchronous_commit') = 'off'";

/// Returns the code that the server gives to an error.
fn code(error: &SessionError) -> Option<&SqlState> {
    match error {
        SessionError::Client(error) => error.code(),
        SessionError::Silent(_) | SessionError::System(_) => None,
    }
}

/// Classifies an error, and names the server.
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

/// The error of the database in memory that divides texts into words.
fn no_words(error: rusqlite::Error) -> LoadError {
    let message = format!("texts cannot be divided into words: {error}");
    LoadError::io(message).caused_by(error)
}

/// The error of a server that cannot be used as it is.
fn unusable(name: &str, reason: &str) -> LoadError {
    LoadError::unusable(format!("{name}: {reason}"))
}

/// The error of a server that may be reached later.
fn unreachable(name: &str, reason: &str) -> LoadError {
    LoadError::new(LoadErrorKind::Unreachable, format!("{name}: {reason}"))
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
        if self.session.is_none() {
            self.connect()?;
        }
        self.staged.clear();
        self.gone.clear();
        (self.changed, self.has_removed) = (ChangedRows::default(), false);
        self.today = today();
        let begun = self
            .batch_execute("BEGIN; LOCK TABLE urls IN SHARE ROW EXCLUSIVE MODE")
            .and_then(|()| self.check_instance());
        // A transaction that failed would refuse the next one.
        begun.inspect_err(|_| self.roll_back())
    }

    fn segment_status(&mut self, segment: &SegmentId) -> Result<SegmentStatus, LoadError> {
        let sql = "SELECT hash FROM segments WHERE instance=$1 AND epoch=$2 AND seq=$3";
        let (epoch, seq) = (segment.epoch.cast_signed(), segment.seq.cast_signed());
        let row =
            self.with(|session| session.query_opt(sql, &[&segment.instance, &epoch, &seq]))?;
        Ok(SegmentStatus::of(segment, row.map(|row| row.get(0))))
    }

    fn add_segment(&mut self, segment: &SegmentId) -> Result<(), LoadError> {
        let sql = "INSERT INTO segments VALUES($1,$2,$3,$4)";
        let (epoch, seq) = (segment.epoch.cast_signed(), segment.seq.cast_signed());
        self.with(|session| {
            session.execute(sql, &[&segment.instance, &epoch, &seq, &segment.hash])
        })?;
        Ok(())
    }

    fn put(&mut self, rows: &[LoadRow<'_>]) -> Result<(), LoadError> {
        for row in rows {
            if self.gone.contains(row.record) {
                self.flush()?;
            }
            let cited = row.cited(&self.today);
            let appended = self.rows.append(row, cited, &mut self.staged);
            appended.map_err(no_words)?;
            if LOAD_STAGED_BYTES <= self.staged.len() {
                self.merge()?;
            }
        }
        Ok(())
    }

    fn remove(&mut self, gone: &GoneLine) -> Result<(), LoadError> {
        for digest in &gone.digests {
            self.gone.push(gone, digest);
            if self.gone.is_full() {
                self.flush()?;
            }
        }
        Ok(())
    }

    fn begin_replacing(&mut self) -> Result<(), LoadError> {
        self.is_replacing = true;
        Ok(())
    }

    fn files_without_rows(&mut self) -> Result<Vec<StoredFile>, LoadError> {
        self.flush()?;
        let rows = self.with(|session| session.query(FILES_WITHOUT_ROWS, &[]))?;
        let file = |row: &Row| StoredFile {
            path: row.get(0),
            path_b64: Some(row.get(1)).filter(|encoded: &String| !encoded.is_empty()),
        };
        Ok(rows.iter().map(file).collect())
    }

    fn finish_replacing(&mut self, files: &ReplacedFiles) -> Result<(), LoadError> {
        self.flush()?;
        self.is_replacing = false;
        let columns = |files: &'_ [StoredFile]| -> (Vec<String>, Vec<String>) {
            let encoded = |file: &StoredFile| file.path_b64.clone().unwrap_or_default();
            files
                .iter()
                .map(|file| (file.path.clone(), encoded(file)))
                .unzip()
        };
        let (paths, encoded) = columns(&files.without_rows);
        let (incomplete, incomplete_encoded) = columns(&files.incomplete);
        self.remove_rows(
            REMOVE_REPLACED,
            &[&paths, &encoded, &incomplete, &incomplete_encoded],
        )
    }

    fn changed(&mut self) -> Result<ChangedRows, LoadError> {
        self.flush()?;
        Ok(self.changed)
    }

    fn commit(&mut self) -> Result<ChangedRows, LoadError> {
        self.flush()?;
        self.is_replacing = false;
        if self.has_removed {
            self.batch_execute(RECOMPUTE_LINKS)?;
        }
        self.batch_execute("COMMIT")?;
        Ok(std::mem::take(&mut self.changed))
    }

    /// Nothing is left to check: the rows were committed by a connection whose tables were locked
    /// and checked, and which waited until the server had written them.
    fn check_kept(&mut self) -> Result<(), LoadError> {
        Ok(())
    }

    fn roll_back(&mut self) {
        self.staged.clear();
        self.gone.clear();
        self.is_replacing = false;
        // If it fails, the connection is closed, and the server rolls back.
        let _ = self.batch_execute("ROLLBACK");
    }
}
