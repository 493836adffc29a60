//! Last stage of a run: removes duplicates, counts and reports, in the order of the input.

use std::collections::HashSet;
use std::ops::Range;
use std::{io, vec};

use super::batch::{ArticleChunk, BatchRecords, Chunk};
use super::{Job, Report, Summary};
use urlspool_record::extract::Unique;
use urlspool_record::record::{LineFormat, Record};
use urlspool_text::diagnostic::DiagnosticKind;

/// Writer of chunks to a report.
pub(super) struct Writer<'w> {
    pub(super) report: &'w mut dyn Report,
    pub(super) summary: Summary,
    format: &'w LineFormat,
    dedup: Dedup,
    /// The error of a byte range of the current file.
    broken: Option<DiagnosticKind>,
    /// `true` if messages of a file were written and the file was not counted yet.
    is_in_file: bool,
}

impl<'w> Writer<'w> {
    pub(super) fn new(job: &'w Job, unique: Unique, report: &'w mut dyn Report) -> Writer<'w> {
        Writer {
            report,
            summary: Summary::default(),
            format: &job.line_format,
            dedup: Dedup::new(unique),
            broken: None,
            is_in_file: false,
        }
    }

    /// Ends the run, and returns its summary. If the reader closed its end within a file, the file
    /// counts as read.
    pub(super) fn end(mut self) -> Summary {
        if self.is_in_file {
            self.summary.read_file();
        }
        self.summary
    }

    /// Writes the line before all records, if the format has one. `Ok(false)` ends the run.
    pub(super) fn write_header(&mut self) -> io::Result<bool> {
        match self.format.header() {
            Some(line) => self.report.lines(&line),
            None => Ok(true),
        }
    }

    /// Writes a chunk, whose records are next in `records`. `Ok(false)` ends the run.
    pub(super) fn write(
        &mut self,
        mut chunk: Chunk,
        records: &mut UnreportedRecords,
    ) -> io::Result<bool> {
        self.count_broken_file(&mut chunk);
        self.is_in_file =
            chunk.summary.files == 0 && (self.is_in_file || chunk.summary.messages > 0);
        let len = chunk.records_len;
        let kept = self.dedup.remove_duplicates(&mut chunk, len);
        if self.format.has_line_per_record() {
            // Counted in the output rather than where they are made, so a lost record is noticed.
            chunk.summary.records = records.count(len, &kept);
        }
        self.summary.absorb(&mut chunk.summary);
        for event in &chunk.events {
            self.report.event(event)?;
        }
        for path in &chunk.read_files {
            self.report.file_read(path);
        }
        if !chunk.rejects.is_empty() {
            self.report.rejects(&chunk.rejects)?;
        }
        records.put(len, &kept, self.report)
    }

    /// Counts a file as failed if one of its byte ranges failed. The chunks of a file are
    /// consecutive, so the next file counted after a failed range is that file.
    fn count_broken_file(&mut self, chunk: &mut Chunk) {
        self.broken = chunk.broken.or(self.broken);
        if chunk.summary.files > 0
            && let Some(kind) = self.broken.take()
            && chunk.summary.files_read > 0
        {
            chunk.summary.read_file_failed(kind);
        }
    }
}

/// Records of a batch on their way to the report. Many chunks are small articles, so records
/// without duplicates between them are reported together.
pub(super) enum UnreportedRecords {
    Lines {
        lines: Vec<u8>,
        /// Offset up to which lines were reported or removed.
        reported: usize,
        /// Offset up to which lines are ready to be reported.
        ready: usize,
    },
    Values {
        rest: vec::IntoIter<Record>,
        /// Records to be reported.
        ready: Vec<Record>,
    },
}

impl From<BatchRecords> for UnreportedRecords {
    fn from(records: BatchRecords) -> UnreportedRecords {
        match records {
            BatchRecords::Lines(lines) => UnreportedRecords::Lines {
                lines,
                reported: 0,
                ready: 0,
            },
            BatchRecords::Values { records, .. } => UnreportedRecords::Values {
                rest: records.into_iter(),
                ready: Vec::new(),
            },
        }
    }
}

impl UnreportedRecords {
    /// Reports all records that are ready. `Ok(false)` ends the run.
    pub(super) fn flush(&mut self, report: &mut dyn Report) -> io::Result<bool> {
        match self {
            UnreportedRecords::Lines {
                lines,
                reported,
                ready,
            } => {
                let lines = &lines[*reported..*ready];
                *reported = *ready;
                Ok(lines.is_empty() || report.lines(lines)?)
            }
            UnreportedRecords::Values { ready, .. } => {
                let records = std::mem::take(ready);
                Ok(records.is_empty() || report.records(records)?)
            }
        }
    }

    /// The buffer of the lines, unless the records are values.
    pub(super) fn into_lines(self) -> Option<Vec<u8>> {
        match self {
            UnreportedRecords::Lines { lines, .. } => Some(lines),
            UnreportedRecords::Values { .. } => None,
        }
    }

    /// Returns how many of the next records, whose length is `len`, are kept.
    fn count(&self, len: usize, kept: &Kept) -> u64 {
        let count = match self {
            UnreportedRecords::Lines { lines, ready, .. } => {
                let lines = &lines[*ready..][..len];
                let count = |lines| memchr::memchr_iter(b'\n', lines).count();
                match kept {
                    Kept::All => count(lines),
                    Kept::Places(places) => places
                        .iter()
                        .map(|place| count(&lines[place.clone()]))
                        .sum(),
                }
            }
            UnreportedRecords::Values { rest, .. } => match kept {
                Kept::All => rest.len().min(len),
                Kept::Places(places) => places.iter().map(ExactSizeIterator::len).sum(),
            },
        };
        count as u64
    }

    /// Makes those of the next records ready that are kept; the length of all is `len`. `Ok(false)`
    /// ends the run.
    fn put(&mut self, len: usize, kept: &Kept, report: &mut dyn Report) -> io::Result<bool> {
        let Kept::Places(places) = kept else {
            match self {
                UnreportedRecords::Lines { ready, .. } => *ready += len,
                UnreportedRecords::Values { rest, ready } => ready.extend(rest.take(len)),
            }
            return Ok(true);
        };
        match self {
            UnreportedRecords::Lines {
                lines,
                reported,
                ready,
            } => {
                let kept: Vec<u8> = places
                    .iter()
                    .flat_map(|place| &lines[*ready..][place.clone()])
                    .copied()
                    .collect();
                let before = &lines[*reported..*ready];
                *ready += len;
                *reported = *ready;
                Ok((before.is_empty() || report.lines(before)?)
                    && (kept.is_empty() || report.lines(&kept)?))
            }
            UnreportedRecords::Values { rest, ready } => {
                let mut places = places.iter().flat_map(Clone::clone).peekable();
                let is_kept = |(index, _): &(usize, Record)| places.next_if_eq(index).is_some();
                let kept = rest.take(len).enumerate().filter(is_kept);
                ready.extend(kept.map(|(_, record)| record));
                Ok(true)
            }
        }
    }
}

/// The articles and URLs written so far.
#[derive(Debug, Default)]
struct Dedup {
    unique: Unique,
    articles: HashSet<u128>,
    /// `true` if the last article is a copy of an earlier one.
    is_copy: bool,
    keys: HashSet<u128>,
}

/// The records of a chunk to write.
#[derive(Debug, PartialEq, Eq)]
enum Kept {
    All,
    /// The records at these positions, in order.
    Places(Vec<Range<usize>>),
}

impl Dedup {
    /// The state before the first chunk.
    pub(super) fn new(unique: Unique) -> Dedup {
        Dedup {
            unique,
            ..Dedup::default()
        }
    }

    /// Returns which records of `chunk`, whose length is `len`, were not written before, and
    /// corrects the chunk's summary.
    fn remove_duplicates(&mut self, chunk: &mut Chunk, len: usize) -> Kept {
        if chunk.article.is_some_and(|article| self.is_copy(article)) {
            chunk.summary = chunk.summary.as_duplicate();
            chunk.rejects.clear();
            return Kept::Places(Vec::new());
        }
        match self.unique {
            Unique::Run => self.new_records(chunk, len),
            Unique::None | Unique::Message => Kept::All,
        }
    }

    /// Returns `true` if the article was written before. A continuation is a copy if its start is
    /// one.
    fn is_copy(&mut self, article: ArticleChunk) -> bool {
        if !article.is_continuation {
            self.is_copy = !self.articles.insert(article.hash);
        }
        self.is_copy
    }

    fn new_records(&mut self, chunk: &mut Chunk, len: usize) -> Kept {
        let mut places = Vec::with_capacity(chunk.keys.len());
        let mut start = 0;
        for record in &chunk.keys {
            if self.keys.insert(record.key) {
                places.push(start..record.end);
            } else {
                chunk.summary.records -= 1;
                if record.is_unwrapped {
                    chunk.summary.unwrapped -= 1;
                } else {
                    chunk.summary.duplicates += 1;
                }
            }
            start = record.end;
        }
        assert_eq!(start, len, "each record has a key");
        if places.len() == chunk.keys.len() {
            Kept::All
        } else {
            Kept::Places(places)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Eq)]
    struct Files {
        all: u64,
        read: u64,
        failed: u64,
    }

    /// Counts of files after these chunks.
    fn files(chunks: Vec<Chunk>) -> Files {
        let mut report = Vec::new();
        let job = Job::default();
        let mut writer = Writer::new(&job, Unique::None, &mut report);
        let mut records = UnreportedRecords::from(BatchRecords::default());
        for chunk in chunks {
            assert!(writer.write(chunk, &mut records).unwrap());
        }
        assert!(writer.summary.imbalances().is_empty());
        Files {
            all: writer.summary.files,
            read: writer.summary.files_read,
            failed: writer.summary.files_failed.sum(),
        }
    }

    fn counted(count: fn(&mut Summary)) -> Chunk {
        let mut chunk = Chunk::default();
        count(&mut chunk.summary);
        chunk
    }

    fn read() -> Chunk {
        counted(Summary::read_file)
    }

    fn broken(chunk: Chunk) -> Chunk {
        Chunk {
            broken: Some(DiagnosticKind::Unreadable),
            ..chunk
        }
    }

    #[test]
    fn a_file_that_is_not_read_to_its_end_is_counted() {
        let mut report = Vec::new();
        let job = Job::default();
        let mut writer = Writer::new(&job, Unique::None, &mut report);
        let mut records = UnreportedRecords::from(BatchRecords::default());
        let started = || {
            counted(|summary| {
                summary.messages = 1;
                summary.messages_scanned = 1;
            })
        };
        for chunk in [started(), read(), started()] {
            writer.write(chunk, &mut records).unwrap();
        }
        let summary = writer.end();
        assert_eq!((summary.files, summary.files_read), (2, 2));
        assert!(summary.imbalances().is_empty());
    }

    #[test]
    fn a_file_with_a_failed_range_is_not_read_to_its_end() {
        let later = || broken(Chunk::default());
        let chunks = vec![read(), later(), Chunk::default(), later(), read(), read()];
        let expected = |all, read, failed| Files { all, read, failed };
        assert_eq!(files(chunks), expected(3, 2, 1));
        let failed = counted(|summary| summary.fail_file(DiagnosticKind::Unreadable));
        assert_eq!(files(vec![later(), failed, read()]), expected(2, 1, 1));
        assert_eq!(files(vec![broken(read()), read()]), expected(2, 1, 1));
    }
}
