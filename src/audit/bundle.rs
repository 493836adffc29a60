//! The evidence of an audit in one folder: its tables, the report with its figures, and a description
//! of all of them with their SHA-256, as a Frictionless data package.
//!
//! Nothing is taken from the clock: the same database gives the same bytes.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use ring::digest::{Context, SHA256};
use rusqlite::Row;
use rusqlite::types::ValueRef;
use serde::Serialize;

use super::AuditError;
use super::database::AuditDb;
use super::report::{ReportJob, SenderPolicy, report_columns, write_report};
use crate::limits::AUDIT_CACHE_KIB;
use crate::load::is_file_of_database;
use crate::sink::{
    OutputError, OutputFile, Replacement, ReportOutputs, TableFiles, TableFolder, TableText,
};

/// A bundle to write.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BundleJob {
    /// The database with the audit.
    pub database: PathBuf,
    /// The folder, which is created if it is missing.
    pub folder: PathBuf,
    /// The naming of senders.
    pub senders: SenderPolicy,
    /// Treatment of existing files that urlspool did not write.
    pub replacement: Replacement,
}

impl BundleJob {
    /// Creates a bundle of `database` in `folder`, with senders.
    #[must_use]
    pub fn new(database: PathBuf, folder: PathBuf) -> BundleJob {
        BundleJob {
            database,
            folder,
            senders: SenderPolicy::default(),
            replacement: Replacement::default(),
        }
    }
}

/// A bundle that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WrittenBundle {
    /// Number of files.
    pub files: u64,
    /// SHA-256 of `datapackage.json`, which holds those of all other files, in hexadecimal digits.
    pub sha256: String,
}

/// The description of the package.
const PACKAGE: &str = "datapackage.json";

/// The beginning of [`PACKAGE`], by which one of an earlier run is recognized.
const PACKAGE_START: &str = "{\n  \"name\": \"urlspool-audit\"";

const REPORT: &str = "report.html";

/// The folder of the report's CSV files.
const FIGURES: &str = "figures";

/// A table of the database that is written.
struct BundleTable {
    file: &'static str,
    title: &'static str,
    columns: &'static str,
    /// Columns that name people.
    senders: &'static str,
    /// The tables; the columns are those that are written.
    from: &'static str,
    /// Condition of the rows that are written where senders are left out; empty for all.
    without_senders: &'static str,
    order: &'static str,
}

/// The tables. `places.csv` has the columns of a query of its own.
const TABLES: [BundleTable; 8] = [
    BundleTable {
        file: "plan.csv",
        title: "The links of the database, planned or left out",
        columns: "key,url,host,domain,scheme,tld,first_cited,last_cited,citations,messages,year,\
                  list,stratum,planned,excluded",
        senders: "",
        from: "audit_links",
        // Others may be mail addresses, Message-IDs, and pages for leaving a list.
        without_senders: "WHERE excluded IS NULL",
        order: "key",
    },
    BundleTable {
        file: "strata.csv",
        title: "The strata of the sample",
        columns: "stratum,population,sampled",
        senders: "",
        from: "audit_strata",
        without_senders: "",
        order: "stratum",
    },
    BundleTable {
        file: "results.csv",
        title: "The results of all checks",
        columns: "key,checked_at,state,status,error,final_url,checker",
        senders: "",
        from: "audit_checks",
        without_senders: "",
        order: "key, checked_at, id",
    },
    BundleTable {
        file: "captures.csv",
        title: "The captures of archives",
        columns: "key,server,asked_at,timestamp,original,status,outcome",
        senders: "",
        from: "audit_captures",
        without_senders: "",
        order: "key",
    },
    BundleTable {
        file: "archives.csv",
        title: "The newest answer of each archive",
        columns: "key,server,asked_at,outcome,form,address",
        senders: "",
        from: "audit_asked",
        without_senders: "",
        order: "key, server",
    },
    BundleTable {
        file: "saves.csv",
        title: "The URLs that were handed to a save service",
        columns: "url,service,sent_at,job,outcome,timestamp,message",
        senders: "",
        from: "audit_saves",
        without_senders: "",
        order: "url",
    },
    BundleTable {
        file: "settings.csv",
        title: "The configuration of the audit, and the versions of the programs",
        columns: "name,value",
        senders: "",
        from: "audit_meta",
        without_senders: "",
        order: "name",
    },
    BundleTable {
        file: "places.csv",
        title: "The citations of the planned links",
        columns: "key,written,path,member,start,cited,digest,list",
        senders: "sender,message_id",
        from: "(SELECT audit_links.key, urls.url AS written, sources.path,
            (SELECT group_concat(value, '!') FROM json_each(sources.member)) AS member,
            urls.start, urls.cited, messages.digest,
            coalesce(messages.list_id, json_extract(messages.newsgroups, '$[0]')) AS list,
            messages.sender, messages.message_id, urls.id
          FROM audit_links JOIN links ON links.key = audit_links.key
            JOIN urls ON urls.link = links.id JOIN messages ON messages.id = urls.message
            JOIN sources ON sources.id = urls.source
          WHERE planned)",
        without_senders: "",
        order: "key, cited NULLS LAST, path, member, start, id",
    },
];

impl BundleTable {
    fn columns(&self, senders: SenderPolicy) -> String {
        match senders {
            SenderPolicy::Named if !self.senders.is_empty() => {
                format!("{},{}", self.columns, self.senders)
            }
            _ => self.columns.to_owned(),
        }
    }

    fn sql(&self, senders: SenderPolicy) -> String {
        let (columns, from, order) = (self.columns(senders), self.from, self.order);
        let condition = match senders {
            SenderPolicy::Named => "",
            SenderPolicy::LeftOut => self.without_senders,
        };
        format!("SELECT {columns} FROM {from} {condition} ORDER BY {order}")
    }
}

/// Writes a bundle. Files of an earlier one are replaced; its description is removed first, so that
/// it never describes others.
///
/// # Errors
///
/// The database cannot be read or has no audit, a file cannot be written, or a file would overwrite
/// the database or a file that urlspool did not write.
pub fn bundle(job: &BundleJob) -> Result<WrittenBundle, AuditError> {
    let audit = AuditDb::open_to_read(&job.database)?;
    if job.folder.as_os_str() == "-" {
        return Err(AuditError::unusable(
            "a bundle has many files, which standard output cannot take; name a folder with `-o` \
             (`-o ./-` for one of that name)",
        ));
    }
    if job.folder.exists() && !job.folder.is_dir() {
        let name = job.folder.display();
        return Err(AuditError::unusable(format!(
            "{name} is a file; name a folder with `-o`"
        )));
    }
    let folder = TableFolder::create(&job.folder)?;
    let mut tables: Vec<_> = TABLES
        .iter()
        .map(|table| (table.file, table.columns.to_owned()))
        .collect();
    tables.push((PACKAGE, PACKAGE_START.to_owned()));
    let outputs = ReportOutputs {
        file: None,
        folder: Some(&job.folder),
        tables: &tables,
        replacement: job.replacement,
    };
    outputs.check(|file| {
        is_file_of_database(&job.database, file).then(|| "the database".to_owned())
    })?;
    audit.run(&format!("PRAGMA cache_size=-{AUDIT_CACHE_KIB}; BEGIN"))?;
    let mut report = ReportJob::new(job.database.clone(), job.folder.join(REPORT));
    report.csv_folder = Some(job.folder.join(FIGURES));
    report.senders = job.senders;
    report.replacement = job.replacement;
    let description = job.folder.join(PACKAGE);
    if let Err(source) = fs::remove_file(&description)
        && source.kind() != io::ErrorKind::NotFound
    {
        return Err(AuditError::output(
            &format!("remove {}", description.display()),
            source,
        ));
    }
    write_report(&audit, &report)?;
    write_tables(&audit, job, &folder)?;
    describe(job, &description)
}

fn write_tables(audit: &AuditDb, job: &BundleJob, folder: &TableFolder) -> Result<(), AuditError> {
    let names = TABLES
        .iter()
        .map(|table| (table.file, table.columns(job.senders)));
    let mut files = TableFiles::create(folder, names)?;
    for table in &TABLES {
        let mut statement = audit.named(audit.db.prepare(&table.sql(job.senders)))?;
        let columns = statement.column_count();
        let mut rows = audit.named(statement.query([]))?;
        while let Some(row) = audit.named(rows.next())? {
            let cells = (0..columns).map(|column| cell(row, column));
            let cells = audit.named(cells.collect::<rusqlite::Result<Vec<_>>>())?;
            files.write(table.file, [cells])?;
        }
    }
    Ok(files.finish()?)
}

/// A cell of a table.
#[derive(Serialize)]
#[serde(untagged)]
enum TableCell<'r> {
    Empty(Option<()>),
    Number(i64),
    Text(TableText<'r>),
}

fn cell<'r>(row: &'r Row<'_>, column: usize) -> rusqlite::Result<TableCell<'r>> {
    Ok(match row.get_ref(column)? {
        ValueRef::Null => TableCell::Empty(None),
        ValueRef::Integer(number) => TableCell::Number(number),
        value => TableCell::Text(TableText(value.as_str()?)),
    })
}

/// Writes the description of the files that are there.
fn describe(job: &BundleJob, description: &Path) -> Result<WrittenBundle, AuditError> {
    let mut resources = vec![resource(job, REPORT, "The report", None)?];
    for table in &TABLES {
        let columns = table.columns(job.senders);
        resources.push(resource(job, table.file, table.title, Some(&columns))?);
    }
    for (name, columns) in report_columns(job.senders) {
        let path = format!("{FIGURES}/{name}");
        resources.push(resource(
            job,
            &path,
            "A table of the report",
            Some(&columns),
        )?);
    }
    let files = resources.len() as u64 + 1;
    let name = job.database.file_name().unwrap_or(job.database.as_os_str());
    let package = Package {
        name: "urlspool-audit",
        title: format!("Link-rot audit of {}", name.to_string_lossy()),
        description: "Plan, results, captures, citations, figures and report of an audit of links. \
                      docs/audit.md of urlspool defines the columns.",
        profile: "data-package",
        program: concat!("urlspool ", env!("CARGO_PKG_VERSION")),
        resources,
    };
    let mut text = serde_json::to_string_pretty(&package)
        .map_err(|error| AuditError::output("describe the bundle", error.into()))?;
    text.push('\n');
    let mut file = OutputFile::create(description)?;
    file.put(text.as_bytes())?;
    file.finish()?;
    let sha256 = hexadecimal(ring::digest::digest(&SHA256, text.as_bytes()).as_ref());
    Ok(WrittenBundle { files, sha256 })
}

/// A Frictionless data package.
#[derive(Serialize)]
struct Package {
    name: &'static str,
    title: String,
    description: &'static str,
    profile: &'static str,
    program: &'static str,
    resources: Vec<Resource>,
}

/// A file of a data package.
#[derive(Serialize)]
struct Resource {
    name: String,
    title: &'static str,
    path: String,
    profile: &'static str,
    format: &'static str,
    mediatype: &'static str,
    encoding: &'static str,
    bytes: u64,
    hash: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    schema: Option<Schema>,
}

#[derive(Serialize)]
struct Schema {
    fields: Vec<Field>,
}

#[derive(Serialize)]
struct Field {
    name: String,
    #[serde(rename = "type")]
    kind: &'static str,
}

/// Returns the description of a file, which is read for it. `columns` are those of a table.
fn resource(
    job: &BundleJob,
    path: &str,
    title: &'static str,
    columns: Option<&str>,
) -> Result<Resource, AuditError> {
    let file = job.folder.join(path);
    let (bytes, hash) = size_and_hash(&file).map_err(|source| OutputError::Failed {
        message: format!("cannot read {}: {source}", file.display()),
        source,
    })?;
    let name = path.rsplit_once('.').map_or(path, |(name, _)| name);
    let fields = |columns: &str| {
        let names = columns.split(',');
        let fields = names.map(|name| Field {
            name: name.to_owned(),
            kind: field_type(name),
        });
        Schema {
            fields: fields.collect(),
        }
    };
    let is_table = columns.is_some();
    Ok(Resource {
        name: name.replace('/', "-"),
        title,
        path: path.to_owned(),
        profile: if is_table {
            "tabular-data-resource"
        } else {
            "data-resource"
        },
        format: if is_table { "csv" } else { "html" },
        mediatype: if is_table { "text/csv" } else { "text/html" },
        encoding: "utf-8",
        bytes,
        hash: format!("sha256:{hash}"),
        schema: columns.map(fields),
    })
}

fn size_and_hash(path: &Path) -> io::Result<(u64, String)> {
    let mut file = File::open(path)?;
    let mut context = Context::new(&SHA256);
    let (mut buffer, mut size) = (vec![0; 64 << 10], 0);
    loop {
        let len = match file.read(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        if len == 0 {
            return Ok((size, hexadecimal(context.finish().as_ref())));
        }
        size += len as u64;
        context.update(&buffer[..len]);
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    data_encoding::HEXLOWER.encode(bytes)
}

/// Returns the Frictionless type of a column. Years are texts: some are `undated`.
fn field_type(column: &str) -> &'static str {
    const NUMBERS: [&str; 2] = ["survival", "weight"];
    const INTEGERS: [&str; 28] = [
        "links",
        "alive",
        "redirected",
        "dead_page",
        "dead_host",
        "unknown",
        "archived",
        "confirmed",
        "population",
        "known",
        "dead",
        "dead_archived",
        "lost",
        "not_asked",
        "citations",
        "messages",
        "failures",
        "age_years",
        "after_months",
        "until_months",
        "gopher",
        "wais",
        "prospero",
        "telnet",
        "planned",
        "sampled",
        "status",
        "start",
    ];
    const PARTS: [&str; 3] = ["_share", "_low", "_high"];
    const TIMES: [&str; 6] = [
        "checked_at",
        "asked_at",
        "sent_at",
        "first_cited",
        "last_cited",
        "cited",
    ];
    if INTEGERS.contains(&column) {
        "integer"
    } else if NUMBERS.contains(&column) || PARTS.iter().any(|part| column.ends_with(part)) {
        "number"
    } else if TIMES.contains(&column) {
        "datetime"
    } else {
        "string"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_types() {
        for (column, expected) in [
            ("year", "string"),
            ("dead_share", "number"),
            ("lost_low", "number"),
            ("dead", "integer"),
            ("checked_at", "datetime"),
            ("url", "string"),
        ] {
            assert_eq!(field_type(column), expected, "{column}");
        }
    }

    #[test]
    fn a_hash_is_that_of_all_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        fs::write(&path, "abc").unwrap();
        let (size, hash) = size_and_hash(&path).unwrap();
        // FIPS 180-2, appendix B.1.
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!((size, hash.as_str()), (3, expected));
    }
}
