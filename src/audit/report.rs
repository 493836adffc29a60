//! The report of an audit: one HTML file, and CSV files in a folder or a bag, from one view of the
//! database. Nothing is taken from the clock, so that the same database gives the same files.

mod bag;
mod csv_files;
mod curves;
mod figures;
mod links;
mod old_protocols;
mod page;
mod pages;
mod query_table;
mod saves;
#[cfg(test)]
mod simulation;

use std::path::PathBuf;

use super::AuditError;
use super::database::AuditDb;
use super::save::outcomes;
use crate::limits::AUDIT_CACHE_KIB;
use crate::load::is_file_of_database;
use crate::sink::{OutputFile, Replacement, ReportOutputs, TableFolder};
use bag::Bag;
use csv_files::CsvFiles;
use figures::{BothSurvivals, Figures};
use links::{DeadLink, MostCited, Places, Provenance, ReplacedLink, for_each_link};
use old_protocols::OldProtocolFigures;
use page::{PageContent, page};
use pages::PageFigures;

/// A report to write.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ReportJob {
    /// The database with the audit.
    pub database: PathBuf,
    /// The HTML file; `-` is standard output.
    pub output: PathBuf,
    /// The folder of the CSV files, which is created if it is missing; `None` writes none.
    pub csv_folder: Option<PathBuf>,
    /// The folder of a BagIt bag, which must not exist; `None` writes none. It takes the CSV files.
    pub bag_folder: Option<PathBuf>,
    /// The naming of senders.
    pub senders: SenderPolicy,
    /// Treatment of existing files that urlspool did not write.
    pub replacement: Replacement,
}

impl ReportJob {
    /// Creates a report of `database` in the file `output`, without CSV files and with senders.
    #[must_use]
    pub fn new(database: PathBuf, output: PathBuf) -> ReportJob {
        ReportJob {
            database,
            output,
            csv_folder: None,
            bag_folder: None,
            senders: SenderPolicy::default(),
            replacement: Replacement::default(),
        }
    }
}

/// The naming of people in a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SenderPolicy {
    /// Citations name the sender and the Message-ID.
    #[default]
    Named,
    /// They name neither: Message-IDs may hold names too.
    LeftOut,
}

/// Files of a report that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReportFiles {
    /// Number of CSV files; 0 if neither a folder nor a bag was named.
    pub csv_files: usize,
    /// Links that were loaded after the plan, and are in no number of the report.
    pub later_links: u64,
}

/// Writes a report. Files that exist are replaced when the new ones are complete.
///
/// # Errors
///
/// The database cannot be read or has no audit, a file cannot be written, or a file would overwrite
/// the database or a file that urlspool did not write. A bag is refused in the place of anything.
pub fn report(job: &ReportJob) -> Result<ReportFiles, AuditError> {
    let audit = AuditDb::open_to_read(&job.database)?;
    audit.run(&format!("PRAGMA cache_size=-{AUDIT_CACHE_KIB}; BEGIN"))?;
    let bag = job.bag_folder.as_deref().map(Bag::create).transpose()?;
    let csv_folder = bag.as_ref().map(Bag::tables).or(job.csv_folder.clone());
    // First: paths in a folder can be compared when it exists, and the page may be in it.
    let folder = csv_folder.as_deref().map(TableFolder::create);
    let folder = folder.transpose()?;
    let outputs = ReportOutputs {
        file: Some(&job.output),
        folder: csv_folder.as_deref(),
        tables: &csv_files::headers(),
        replacement: job.replacement,
    };
    let is_database = |file: &_| is_file_of_database(&job.database, file);
    outputs.check(|file| is_database(file).then(|| "the database".to_owned()))?;
    let mut output = OutputFile::create(&job.output)?;
    let begin = |folder| CsvFiles::create(folder, job.senders);
    let mut csv_files = folder.as_ref().map(begin).transpose()?;
    let content = content(&audit, job, csv_files.as_mut())?;
    if let Some(files) = &mut csv_files {
        files.write_all(&content)?;
    }
    let page = page(&content);
    output.put(page.as_bytes())?;
    let mut written = ReportFiles {
        csv_files: 0,
        later_links: content.later_links,
    };
    if let Some(files) = csv_files {
        files.finish()?;
        written.csv_files = csv_files::names().len();
    }
    if let Some(bag) = bag {
        bag.finish(&audit, &job.database, &page)?;
    }
    output.finish()?;
    Ok(written)
}

/// Reads the audit. Dead links and replacements are written to their files as they are read.
fn content(
    audit: &AuditDb,
    job: &ReportJob,
    mut files: Option<&mut CsvFiles>,
) -> Result<PageContent, AuditError> {
    let provenance = audit.named(Provenance::read(&audit.db, &job.database))?;
    let mut figures = Figures::default();
    let mut most_cited = MostCited::default();
    let mut places = audit.named(Places::prepare(&audit.db))?;
    for_each_link(audit, |link| {
        figures.add(link, provenance.weight(link.stratum));
        if let (Some(files), Some(replaced)) = (&mut files, ReplacedLink::of(link)) {
            places.for_each(audit, link.key, |place| {
                files.add_replacement(&replaced, place)
            })?;
        }
        let Some(dead) = DeadLink::of(link) else {
            return Ok(());
        };
        most_cited.add(link.key, &dead);
        match &mut files {
            Some(files) => files.add_dead_link(&dead),
            None => Ok(()),
        }
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
        old_protocols: OldProtocolFigures::read(audit)?,
        saves: outcomes(audit)?,
        pages: PageFigures::read(audit, &provenance)?,
        rule: audit.confirmation_rule()?,
        survival: BothSurvivals::of(&figures.ages),
        most_cited: audit.named(most_cited.with_citations(&audit.db))?,
        later_links: audit.later_links()?,
        provenance,
        figures,
        senders: job.senders,
    })
}
