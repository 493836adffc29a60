//! The report of an audit: an HTML file, and CSV files in a folder or a bag, all from one view of
//! the database. The report contains no current time, so the same database produces the same files.

mod csv_files;
mod curves;
mod figures;
mod links;
mod other_steps;
mod page;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use ring::digest::{Context, SHA256};

use super::AuditError;
use super::database::AuditDb;
use super::save::{SaveList, outcomes, save_list, seed_files};
use csv_files::CsvFiles;
use figures::{BothSurvivals, Figures};
use links::{MostCited, Provenance, for_each_link};
use other_steps::{PageFigures, old_protocol_counts};
use page::{PageContent, page};
use urlspool_files::config::named_values;
use urlspool_files::sink::{ASIDE, OutputFile, Replacement, ReportOutputs, TableFolder, with_end};
use urlspool_store::load::is_file_of_database;
use urlspool_text::diagnostic::printable;
use urlspool_text::limits::AUDIT_CACHE_KIB;

/// Options of a report.
#[derive(Clone, Debug)]
pub struct ReportJob {
    /// The database of the audit.
    pub database: PathBuf,
    /// The file or folder to write; `-` is standard output.
    pub output: PathBuf,
    /// The form of the report.
    pub format: ReportFormat,
    /// Policy on senders in citations.
    pub senders: SenderPolicy,
    /// Handling of existing files that urlspool did not write.
    pub replacement: Replacement,
}

named_values! {
    /// Form of a report.
    pub enum ReportFormat {
        /// An HTML file.
        Html = "html": "A page in one file that needs no network",
        /// A folder of CSV files, created if missing.
        Csv = "csv": "A folder of CSV files",
        /// A folder that must not exist: a BagIt bag of the page, the CSV files and seed lists.
        Bag = "bag": "A new folder, a BagIt bag of all files",
    }
}

/// Policy on names of people in a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SenderPolicy {
    /// Citations include the sender and the Message-ID.
    #[default]
    Named,
    /// Citations omit both, because Message-IDs may also contain names.
    LeftOut,
}

/// Summary of a written report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportFiles {
    /// Number of CSV files; 0 for an HTML file.
    pub csv_files: usize,
    /// Links that were loaded or removed after the plan was made, by words that follow "links".
    pub changes: BTreeMap<String, u64>,
}

/// Writes a report. Existing files are replaced once the new ones are complete.
///
/// # Errors
///
/// The database cannot be read or has no audit, a file cannot be written, or a file would overwrite
/// the database or a file that urlspool did not write. A bag never replaces anything.
pub fn report(job: &ReportJob) -> Result<ReportFiles, AuditError> {
    let audit = AuditDb::open_to_read(&job.database)?;
    audit.run(&format!("PRAGMA cache_size=-{AUDIT_CACHE_KIB}; BEGIN"))?;
    let is_bag = job.format == ReportFormat::Bag;
    let bag = is_bag.then(|| Bag::create(&job.output)).transpose()?;
    let (file, csv_folder) = match (&bag, job.format) {
        (Some(bag), _) => (None, Some(bag.tables())),
        (None, ReportFormat::Csv) => (None, Some(job.output.clone())),
        (None, _) => (Some(job.output.as_path()), None),
    };
    // Create the folder first: paths in it can be compared only if it exists.
    let folder = csv_folder.as_deref().map(TableFolder::create);
    let folder = folder.transpose()?;
    let outputs = ReportOutputs {
        file,
        folder: csv_folder.as_deref(),
        tables: &csv_files::headers(),
        replacement: job.replacement,
    };
    outputs.check(|file| {
        is_file_of_database(&job.database, file).then(|| "the database".to_owned())
    })?;
    let output = file.map(OutputFile::create).transpose()?;
    let mut csv_files = match &folder {
        Some(folder) => Some(CsvFiles::create(folder, job.senders)?),
        None => None,
    };
    let content = content(&audit, job, csv_files.as_mut())?;
    if let Some(files) = &mut csv_files {
        files.write_all(&content)?;
    }
    let page = page(&content);
    let mut written = ReportFiles {
        csv_files: 0,
        changes: content.changes,
    };
    if let Some(files) = csv_files {
        files.finish()?;
        written.csv_files = csv_files::names().len();
    }
    if let Some(bag) = bag {
        bag.finish(&audit, &job.database, &page)?;
    }
    if let Some(mut output) = output {
        output.put(page.as_bytes())?;
        output.finish()?;
    }
    Ok(written)
}

/// Reads the audit. Dead links are written to their file while they are read.
fn content(
    audit: &AuditDb,
    job: &ReportJob,
    mut files: Option<&mut CsvFiles>,
) -> Result<PageContent, AuditError> {
    let provenance = Provenance::read(audit, &job.database)?;
    let mut figures = Figures::default();
    let mut most_cited = MostCited::default();
    for_each_link(audit, |link| {
        figures.add(link, provenance.weight(&link.stratum));
        if link.is_dead() {
            most_cited.add(link);
            if let Some(files) = &mut files {
                files.add_dead_link(link)?;
            }
        }
        Ok(())
    })?;
    figures.finish();
    if let Some(files) = files {
        files.write_queries(audit)?;
    }
    let servers = audit.rows("SELECT DISTINCT server FROM audit_asked", [], |row| {
        row.get(0)
    })?;
    figures.sources.servers.extend(servers);
    Ok(PageContent {
        old_protocols: old_protocol_counts(audit)?,
        saves: outcomes(audit)?,
        pages: PageFigures::read(audit, &provenance)?,
        rule: audit.confirmation_rule()?,
        survival: BothSurvivals::of(&figures.ages),
        most_cited: audit.named(most_cited.with_citations(&audit.db))?,
        changes: audit.changes()?,
        provenance,
        figures,
        senders: job.senders,
    })
}

/// The `bagit.txt` declaration.
const DECLARATION: &str = "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n";

/// Folder of the CSV files.
const BAG_TABLES: &str = "data/tables";

const BAG_REPORT: &str = "data/report.html";

/// Seed lists with one URL per line: of the living links, and of those in no archive.
const BAG_SEEDS: [&str; 2] = ["data/seeds/living.txt", "data/seeds/unarchived.txt"];

/// Size of the buffer for hashing a file, in bytes.
const BUFFER_BYTES: usize = 64 << 10;

/// A bag in progress, in a temporary folder next to its final path. Removed if it is dropped before
/// [`Bag::finish`].
struct Bag {
    folder: PathBuf,
    partial: PathBuf,
}

impl Bag {
    /// Creates a temporary folder for the bag at `folder`. Removes a temporary folder left by a run
    /// that was killed.
    ///
    /// # Errors
    ///
    /// The path already exists, or the folder cannot be created.
    fn create(folder: &Path) -> Result<Bag, AuditError> {
        // Removes a trailing slash.
        let folder: PathBuf = folder.components().collect();
        if folder.symlink_metadata().is_ok() || folder.as_os_str() == "-" {
            return Err(AuditError::unusable(format!(
                "{} exists, and a bag replaces no folder; name a new one with `-o`",
                folder.display()
            )));
        }
        let partial = with_end(&folder, ASIDE);
        let unmade =
            |source| AuditError::output(&format!("make the bag {}", folder.display()), source);
        match fs::remove_dir_all(&partial) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(unmade(error)),
            _ => {}
        }
        fs::create_dir(&partial).map_err(unmade)?;
        let bag = Bag {
            folder: folder.clone(),
            partial,
        };
        for folder in [BAG_TABLES, "data/seeds"] {
            fs::create_dir_all(bag.partial.join(folder)).map_err(unmade)?;
        }
        Ok(bag)
    }

    /// Returns the folder of the CSV files while the bag is being written.
    fn tables(&self) -> PathBuf {
        self.partial.join(BAG_TABLES)
    }

    /// Adds the page and the seed lists to the CSV files, and renames the folder to its final path.
    /// `database` is the path of the audited database.
    fn finish(self, audit: &AuditDb, database: &Path, page: &str) -> Result<(), AuditError> {
        self.put(BAG_REPORT, page)?;
        let tables = csv_files::names().map(|name| format!("{BAG_TABLES}/{name}"));
        let mut payload = vec![BAG_REPORT.to_owned()];
        payload.extend(tables);
        let SaveList { due, living, .. } = save_list(audit, None)?;
        for (file, urls) in BAG_SEEDS.into_iter().zip([living, due]) {
            for (file, lines) in seed_files(Path::new(file), &urls) {
                let file = file.display().to_string();
                self.put(&file, &lines)?;
                payload.push(file);
            }
        }
        payload.sort_unstable();
        let (manifest, bytes) = self.manifest(&payload)?;
        let database = database.file_name().unwrap_or(database.as_os_str());
        let version = env!("CARGO_PKG_VERSION");
        let mut info = format!("Bag-Software-Agent: urlspool {version}\nExternal-Description: ");
        for name in ["title", "collection", "author"] {
            if let Some(text) = audit.meta(name)? {
                info += &format!("{}. ", printable(&text));
            }
        }
        let (database, files) = (database.to_string_lossy(), payload.len());
        let database = printable(&database);
        info += &format!("Link-rot audit of {database}\nPayload-Oxum: {bytes}.{files}\n");
        let tags = [
            ("bag-info.txt", info.as_str()),
            ("bagit.txt", DECLARATION),
            ("manifest-sha256.txt", &manifest),
        ];
        for (file, text) in tags {
            self.put(file, text)?;
        }
        let (manifest, _) = self.manifest(&tags.map(|(file, _)| file.to_owned()))?;
        self.put("tagmanifest-sha256.txt", &manifest)?;
        fs::rename(&self.partial, &self.folder).map_err(|source| {
            AuditError::output(&format!("make the bag {}", self.folder.display()), source)
        })
    }

    fn put(&self, name: &str, text: &str) -> Result<(), AuditError> {
        let mut file = OutputFile::create(&self.partial.join(name))?;
        file.put(text.as_bytes())?;
        Ok(file.finish()?)
    }

    /// Returns the manifest of files, with a hash and a name on each line, and the total file size.
    fn manifest(&self, files: &[String]) -> Result<(String, u64), AuditError> {
        let (mut manifest, mut bytes) = (String::new(), 0);
        for name in files {
            let path = self.partial.join(name);
            let (size, hash) = size_and_hash(&path).map_err(|source| {
                AuditError::output(&format!("read {}", path.display()), source)
            })?;
            bytes += size;
            manifest.push_str(&format!("{hash}  {name}\n"));
        }
        Ok((manifest, bytes))
    }
}

impl Drop for Bag {
    fn drop(&mut self) {
        // After `finish`, the folder no longer exists under this name.
        let _ = fs::remove_dir_all(&self.partial);
    }
}

/// Returns the size of a file and its SHA-256 in hexadecimal.
fn size_and_hash(path: &Path) -> io::Result<(u64, String)> {
    let mut file = File::open(path)?;
    let mut context = Context::new(&SHA256);
    let (mut buffer, mut size) = (vec![0; BUFFER_BYTES], 0);
    loop {
        let len = match file.read(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        if len == 0 {
            let hash = data_encoding::HEXLOWER.encode(context.finish().as_ref());
            return Ok((size, hash));
        }
        size += len as u64;
        context.update(&buffer[..len]);
    }
}
