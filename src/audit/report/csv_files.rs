//! The CSV files: all rows of the tables, and what the curves are made from.

use super::SenderPolicy;
use super::csv::{CsvCell, csv_count, csv_share, csv_text, put_row};
use super::dead_links::{CitedLink, DeadLink};
use super::figures::{Figures, TallyMap};
use super::output_file::OutputFile;
use super::page::PageContent;
use super::survival::Survival;
use super::table_folder::TableFolder;
use super::tally::{ArchiveAnswer, Tally};
use crate::audit::error::AuditError;
use crate::audit::state::LinkState;
use crate::audit::statistics::{LifetimeCounts, SurvivalCurve};

/// Names of the files.
pub(super) const NAMES: &[&str] = &[
    DEAD_LINKS,
    "cohorts-by-year.csv",
    "shares-by-year.csv",
    "by-scheme.csv",
    "by-tld.csv",
    "by-domain.csv",
    "by-host.csv",
    "by-list.csv",
    "by-age.csv",
    "survival.csv",
    "lifetimes.csv",
    "dead-protocols.csv",
    "exclusions.csv",
    "citations.csv",
];

const DEAD_LINKS: &str = "dead-links.csv";

const DEAD_LINK_COLUMNS: &str =
    "url,state,result,checked_at,citations,messages,first_cited,last_cited,list,archive,snapshot\n";

/// The files of a folder, begun before the database is read.
pub(super) struct CsvFiles {
    dead_links: OutputFile,
    /// The others, in the order of [`NAMES`].
    others: Vec<OutputFile>,
}

impl CsvFiles {
    /// Begins all files.
    pub(super) fn create(folder: &TableFolder) -> Result<CsvFiles, AuditError> {
        let mut files: Vec<_> = NAMES
            .iter()
            .map(|name| OutputFile::create(&folder.path().join(name)))
            .collect::<Result<_, _>>()?;
        let others = files.split_off(1);
        let mut dead_links = files.remove(0);
        dead_links.put(DEAD_LINK_COLUMNS.as_bytes())?;
        Ok(CsvFiles { dead_links, others })
    }

    /// Appends a dead link.
    pub(super) fn add_dead_link(&mut self, link: &DeadLink) -> Result<(), AuditError> {
        let archive = match link.archive {
            ArchiveAnswer::Captured => "captured",
            ArchiveAnswer::None => "none",
            ArchiveAnswer::Unknown => "unknown",
        };
        put_row(
            &mut self.dead_links,
            &[
                csv_text(&link.url),
                csv_text(link.state.name()),
                csv_text(&link.result),
                csv_text(&link.checked_at),
                csv_count(link.citations),
                csv_count(link.messages),
                CsvCell::Text(link.first_cited.as_deref()),
                CsvCell::Text(link.last_cited.as_deref()),
                csv_text(&link.list),
                csv_text(archive),
                CsvCell::Text(link.snapshot.as_deref()),
            ],
        )
    }

    /// Writes all files but that of the dead links.
    pub(super) fn write(&mut self, content: &PageContent) -> Result<(), AuditError> {
        let (figures, groups) = (&content.figures, &content.figures.groups);
        let mut files = self.others.iter_mut();
        let mut write = |table: CsvTable<'_>| files.next().map_or(Ok(()), |file| table.write(file));
        write(CsvTable::Cohorts(figures))?;
        write(CsvTable::Shares(figures))?;
        write(CsvTable::Group("scheme", &groups.schemes))?;
        write(CsvTable::Group("tld", &groups.tlds))?;
        write(CsvTable::Group("domain", &groups.domains))?;
        write(CsvTable::Group("host", &groups.hosts))?;
        write(CsvTable::Group("list", &groups.lists))?;
        write(CsvTable::Ages(figures))?;
        write(CsvTable::Survival(content.survival.as_ref()))?;
        write(CsvTable::Lifetimes(figures))?;
        write(CsvTable::Protocols(figures))?;
        write(CsvTable::Exclusions(figures))?;
        write(CsvTable::Citations(&content.most_cited, content.senders))
    }

    /// Gives all files their names.
    pub(super) fn finish(self) -> Result<(), AuditError> {
        self.dead_links.finish()?;
        self.others.into_iter().try_for_each(OutputFile::finish)
    }
}

/// A table that is written from the numbers of a report.
enum CsvTable<'c> {
    Cohorts(&'c Figures),
    Shares(&'c Figures),
    /// The name of the first column, and the groups.
    Group(&'static str, &'c TallyMap),
    Ages(&'c Figures),
    Survival(Option<&'c Survival>),
    Lifetimes(&'c Figures),
    Protocols(&'c Figures),
    Exclusions(&'c Figures),
    Citations(&'c [CitedLink], SenderPolicy),
}

impl CsvTable<'_> {
    fn write(&self, file: &mut OutputFile) -> Result<(), AuditError> {
        match self {
            CsvTable::Cohorts(figures) => cohorts(file, figures),
            CsvTable::Shares(figures) => shares(file, figures),
            CsvTable::Group(name, map) => group(file, name, map),
            CsvTable::Ages(figures) => ages(file, figures),
            CsvTable::Survival(survival) => curves(file, *survival),
            CsvTable::Lifetimes(figures) => lifetimes(file, figures),
            CsvTable::Protocols(figures) => protocols(file, figures),
            CsvTable::Exclusions(figures) => exclusions(file, figures),
            CsvTable::Citations(links, senders) => citations(file, links, *senders),
        }
    }
}

/// The numbers of links in all states, and of archived ones.
fn counts(tally: &Tally) -> Vec<CsvCell<'static>> {
    let mut cells = vec![csv_count(tally.links())];
    cells.extend(LinkState::ALL.map(|state| csv_count(tally.count(state))));
    cells.push(csv_count(tally.archived));
    cells
}

fn cohorts(file: &mut OutputFile, figures: &Figures) -> Result<(), AuditError> {
    file.put(b"year,links,alive,redirected,dead_page,dead_host,unknown,archived\n")?;
    figures.years.iter().try_for_each(|(year, tally)| {
        let mut cells = vec![csv_text(year)];
        cells.extend(counts(tally));
        put_row(file, &cells)
    })
}

fn shares(file: &mut OutputFile, figures: &Figures) -> Result<(), AuditError> {
    file.put(
        b"year,population,known,dead,dead_share,dead_low,dead_high,dead_archived,lost,not_asked,lost_share,lost_low,lost_high\n",
    )?;
    figures
        .populations
        .iter()
        .try_for_each(|(year, population)| {
            let tally = figures.years.get(year).copied().unwrap_or_default();
            let mut cells = vec![csv_text(year), csv_count(*population)];
            cells.extend([tally.known(), tally.dead()].map(csv_count));
            cells.extend(csv_share(tally.dead_share()));
            cells.extend([tally.dead_archived, tally.lost, tally.unanswered()].map(csv_count));
            cells.extend(csv_share(tally.lost_share()));
            put_row(file, &cells)
        })
}

fn group(file: &mut OutputFile, name: &str, map: &TallyMap) -> Result<(), AuditError> {
    let columns =
        "links,alive,redirected,dead_page,dead_host,unknown,archived,dead_share,dead_low,dead_high";
    file.put(format!("{name},{columns}\n").as_bytes())?;
    map.sorted().into_iter().try_for_each(|(name, tally)| {
        let mut cells = vec![csv_text(name)];
        cells.extend(counts(tally));
        cells.extend(csv_share(tally.dead_share()));
        put_row(file, &cells)
    })
}

fn ages(file: &mut OutputFile, figures: &Figures) -> Result<(), AuditError> {
    file.put(
        b"age_years,links,alive,redirected,dead_page,dead_host,unknown,archived,surviving_share,surviving_low,surviving_high\n",
    )?;
    figures.ages.by_year.iter().try_for_each(|(years, tally)| {
        let mut cells = vec![csv_count(u64::from(*years))];
        cells.extend(counts(tally));
        cells.extend(csv_share(tally.surviving_share()));
        put_row(file, &cells)
    })
}

/// The names of the two definitions of an end, in the first column of survival and lifetimes.
const ENDS: [&str; 2] = ["dead", "dead_or_redirected"];

fn curves(file: &mut OutputFile, survival: Option<&Survival>) -> Result<(), AuditError> {
    file.put(b"end,after_months,until_months,survival\n")?;
    let curves: Vec<&SurvivalCurve> =
        survival.map_or(Vec::new(), |both| vec![&both.dead, &both.strict]);
    for (end, curve) in ENDS.into_iter().zip(curves) {
        for step in &curve.steps {
            let months = [step.after, step.until].map(|month| csv_count(u64::from(month)));
            let survival = CsvCell::Number(Some(step.survival));
            put_row(file, &[csv_text(end), months[0], months[1], survival])?;
        }
    }
    Ok(())
}

fn lifetimes(file: &mut OutputFile, figures: &Figures) -> Result<(), AuditError> {
    file.put(b"end,after_months,until_months,weight\n")?;
    let both: [&LifetimeCounts; 2] = [&figures.ages.lifetimes, &figures.ages.strict_lifetimes];
    for (end, lifetimes) in ENDS.into_iter().zip(both) {
        for (lifetime, weight) in lifetimes.iter() {
            let after = csv_count(u64::from(lifetime.after));
            let until = CsvCell::Count(lifetime.until.map(u64::from));
            put_row(
                file,
                &[csv_text(end), after, until, CsvCell::Number(Some(weight))],
            )?;
        }
    }
    Ok(())
}

fn protocols(file: &mut OutputFile, figures: &Figures) -> Result<(), AuditError> {
    file.put(b"year,gopher,wais,prospero,telnet\n")?;
    figures.protocols.iter().try_for_each(|(year, counts)| {
        let mut cells = vec![csv_text(year)];
        cells.extend(counts.map(csv_count));
        put_row(file, &cells)
    })
}

fn exclusions(file: &mut OutputFile, figures: &Figures) -> Result<(), AuditError> {
    file.put(b"reason,links\n")?;
    let mut excluded = figures.excluded.iter();
    excluded.try_for_each(|(reason, count)| put_row(file, &[csv_text(reason), csv_count(*count)]))
}

fn citations(
    file: &mut OutputFile,
    links: &[CitedLink],
    senders: SenderPolicy,
) -> Result<(), AuditError> {
    let is_named = senders == SenderPolicy::Named;
    let columns: &[u8] = if is_named {
        b"url,date,subject,anchor,list,place,sender,message_id\n"
    } else {
        b"url,date,subject,anchor,list,place\n"
    };
    file.put(columns)?;
    for link in links {
        for citation in &link.citations {
            let mut cells = vec![
                csv_text(&link.link.url),
                CsvCell::Text(citation.date.as_deref()),
                CsvCell::Text(citation.subject.as_deref()),
                CsvCell::Text(citation.anchor.as_deref()),
                CsvCell::Text(citation.list.as_deref()),
                csv_text(&citation.place),
            ];
            if is_named {
                cells.push(CsvCell::Text(citation.sender.as_deref()));
                cells.push(CsvCell::Text(citation.message_id.as_deref()));
            }
            put_row(file, &cells)?;
        }
    }
    Ok(())
}
