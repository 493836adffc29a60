//! A folder of Parquet files, with a subfolder per year, in the layout that DuckDB, Spark and
//! pyarrow read: `year=1996/part-00000.parquet`.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::GroupWriter;
use crate::sink::file::rename;
use crate::sink::{LeftOutput, PARTIAL, Sink, resolve, with_end};
use urlspool_record::record::{Columns, Record};
use urlspool_text::limits::{DATASET_GROUPS_BYTES, DATASET_OPEN_FILES};

/// Sink that writes a folder as `FOLDER.partial`, and renames it when it is complete.
pub(super) struct Dataset {
    columns: Columns,
    target: PathBuf,
    partial: PathBuf,
    /// The files being written, by year.
    open: BTreeMap<String, OpenPart>,
    /// Number of files of each year.
    parts: BTreeMap<String, u32>,
    records: u64,
    /// Number of batches so far.
    batches: u64,
    has_ended: bool,
}

struct OpenPart {
    writer: GroupWriter,
    /// The last batch with records for this file.
    last_batch: u64,
}

impl Dataset {
    /// Creates the folder at `target` for records with these columns, which include the date.
    ///
    /// # Errors
    ///
    /// The system's error; also if the folder exists and is not empty, or another run left its
    /// partial folder.
    pub(super) fn create(target: &Path, columns: Columns) -> io::Result<Dataset> {
        match fs::read_dir(target).map(|mut entries| entries.next().is_none()) {
            Ok(true) => {}
            Ok(false) => {
                let message = "the folder is not empty; name another, or remove it";
                return Err(io::Error::other(message));
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        // A trailing slash or a link is not part of the name.
        let target = resolve(target)?;
        let partial = with_end(&target, PARTIAL);
        fs::create_dir(&partial).map_err(|error| {
            let path = partial.display();
            let advice = match error.kind() {
                ErrorKind::AlreadyExists => "; if no other run is writing it, remove it",
                _ => "",
            };
            io::Error::new(error.kind(), format!("{path}: {error}{advice}"))
        })?;
        Ok(Dataset {
            columns,
            target,
            partial,
            open: BTreeMap::new(),
            parts: BTreeMap::new(),
            records: 0,
            batches: 0,
            has_ended: false,
        })
    }

    /// Writes records of one year.
    fn write(&mut self, year: &str, records: &[Record]) -> io::Result<()> {
        if !self.open.contains_key(year) {
            self.open_part(year)?;
        }
        self.records += records.len() as u64;
        if let Some(part) = self.open.get_mut(year) {
            part.last_batch = self.batches;
            part.writer.write(&mut self.columns, records)?;
        }
        Ok(())
    }

    /// Creates the next file of a year. If too many files are open, completes the least recently
    /// used one.
    fn open_part(&mut self, year: &str) -> io::Result<()> {
        if DATASET_OPEN_FILES <= self.open.len() {
            let oldest = self.open.iter().min_by_key(|(_, part)| part.last_batch);
            let oldest = oldest.map(|(year, _)| year.clone()).unwrap_or_default();
            if let Some(mut part) = self.open.remove(&oldest) {
                part.writer.complete()?;
            }
        }
        let number = self.parts.entry(year.to_owned()).or_default();
        let folder = self.partial.join(format!("year={year}"));
        fs::create_dir_all(&folder)?;
        let path = folder.join(format!("part-{number:05}.parquet"));
        *number += 1;
        let part = OpenPart {
            writer: GroupWriter::create(&path, &self.columns)?,
            last_batch: self.batches,
        };
        self.open.insert(year.to_owned(), part);
        Ok(())
    }

    /// Ends the largest row groups until their total size is small enough.
    fn limit_memory(&mut self) -> io::Result<()> {
        let bytes = |part: &OpenPart| part.writer.writer.memory_size();
        while DATASET_GROUPS_BYTES < self.open.values().map(bytes).sum() {
            match self.open.values_mut().max_by_key(|part| bytes(part)) {
                Some(part) => part.writer.end_group()?,
                None => break,
            }
        }
        Ok(())
    }

    fn close_all(&mut self) -> io::Result<()> {
        std::mem::take(&mut self.open)
            .into_values()
            .try_for_each(|mut part| part.writer.complete())
    }
}

impl Sink for Dataset {
    fn put_records(&mut self, records: Vec<Record>) -> io::Result<()> {
        let mut years: BTreeMap<String, Vec<Record>> = BTreeMap::new();
        for record in records {
            let year = year(record.message_date()).to_owned();
            years.entry(year).or_default().push(record);
        }
        self.batches += 1;
        for (year, records) in years {
            self.write(&year, &records)?;
        }
        self.limit_memory()
    }

    fn finish(&mut self) -> io::Result<()> {
        if self.has_ended {
            return Ok(());
        }
        self.close_all()?;
        File::open(&self.partial).and_then(|folder| folder.sync_all())?;
        // An empty folder is replaced.
        rename(&self.partial, &self.target)?;
        self.has_ended = true;
        Ok(())
    }

    fn leave(&mut self) -> io::Result<Option<LeftOutput>> {
        if self.has_ended || self.records == 0 {
            self.discard();
            return Ok(None);
        }
        self.has_ended = true;
        self.close_all()?;
        Ok(Some(LeftOutput {
            path: self.partial.clone(),
            records: Some(self.records),
        }))
    }

    fn discard(&mut self) {
        if !self.has_ended {
            self.has_ended = true;
            self.open.clear();
            // If it cannot be removed, it remains like a folder left by another run.
            let _ = fs::remove_dir_all(&self.partial);
        }
    }
}

impl Drop for Dataset {
    fn drop(&mut self) {
        if self.records == 0 {
            self.discard();
        }
    }
}

/// The year of a date, in the form used in folder names.
fn year(date: Option<&str>) -> &str {
    let year = date.and_then(|date| date.split('-').next());
    year.filter(|year| !year.is_empty()).unwrap_or("undated")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_year_is_taken_from_the_date() {
        assert_eq!(year(Some("1996-01-02T00:00:00Z")), "1996");
        assert_eq!(year(Some("0031-01-02T00:00:00Z")), "0031");
        assert_eq!(year(Some("-000001-01-02T00:00:00Z")), "undated");
        assert_eq!(year(None), "undated");
    }
}
