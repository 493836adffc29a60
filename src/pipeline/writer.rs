//! End of a run: removes duplicates, counts and reports, in the order of the input.

use std::io;

use super::chunk::Chunk;
use super::dedup::Dedup;
use super::job::{Job, Report};
use crate::diagnostic::DiagnosticKind;
use crate::extract::Unique;
use crate::record::{LineFormat, Summary};

/// Writer of chunks to a report.
pub(super) struct Writer<'w> {
    pub(super) report: &'w mut dyn Report,
    pub(super) summary: Summary,
    format: &'w LineFormat,
    dedup: Dedup,
    /// The error of a byte range of the file that is being written.
    broken: Option<DiagnosticKind>,
    /// `true` if messages of a file were written and the file was not counted yet.
    is_in_file: bool,
}

impl<'w> Writer<'w> {
    /// A writer that has written nothing.
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

    /// Ends the run, and returns its summary. If the reader has closed its end within a file, that is counted as read.
    pub(super) fn end(mut self) -> Summary {
        if self.is_in_file {
            self.summary.read_file();
        }
        self.summary
    }

    /// Writes the line before all records, if the format has one. `Ok(false)` ends the run.
    pub(super) fn write_header(&mut self) -> io::Result<bool> {
        match self.format.header() {
            Some(line) => self.report.records(&line),
            None => Ok(true),
        }
    }

    /// Writes a chunk, whose records are the next of `records`. `Ok(false)` ends the run.
    pub(super) fn write(
        &mut self,
        mut chunk: Chunk,
        records: &mut BatchRecords<'_>,
    ) -> io::Result<bool> {
        self.count_broken_file(&mut chunk);
        self.is_in_file =
            chunk.summary.files == 0 && (self.is_in_file || chunk.summary.messages > 0);
        let own = records.next(chunk.record_bytes);
        let kept = self.dedup.remove_duplicates(&mut chunk, own);
        self.summary.lines += if self.format.has_line_per_record() {
            // Counted in what is written and not where it is encoded, so that a line that is lost in between shows.
            memchr::memchr_iter(b'\n', &kept).count() as u64
        } else {
            chunk.summary.records + chunk.summary.unwrapped
        };
        self.summary.absorb(&mut chunk.summary);
        for event in &chunk.events {
            self.report.event(event)?;
        }
        if !chunk.rejects.is_empty() {
            self.report.rejects(&chunk.rejects)?;
        }
        records.put(own.len(), &kept, self.report)
    }

    /// Counts a file as failed if one of its byte ranges failed. The chunks of a file follow one another, so the next file
    /// that is counted after a failed range is that file.
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

/// Records of a batch on their way to the report. They are reported together as far as no duplicate is among them: many
/// chunks are small articles.
pub(super) struct BatchRecords<'b> {
    records: &'b [u8],
    /// Offset up to which they were reported or removed.
    reported: usize,
    /// Offset up to which they are to be reported.
    ready: usize,
}

impl<'b> BatchRecords<'b> {
    /// Records of which none was reported yet.
    pub(super) fn new(records: &'b [u8]) -> BatchRecords<'b> {
        BatchRecords {
            records,
            reported: 0,
            ready: 0,
        }
    }

    /// Reports everything that is ready. `Ok(false)` ends the run.
    pub(super) fn flush(&mut self, report: &mut dyn Report) -> io::Result<bool> {
        let records = &self.records[self.reported..self.ready];
        self.reported = self.ready;
        Ok(records.is_empty() || report.records(records)?)
    }

    /// The next records.
    fn next(&self, len: usize) -> &'b [u8] {
        &self.records[self.ready..][..len]
    }

    /// Makes the next `len` bytes ready, of which `kept` is left without duplicates. `Ok(false)` ends the run.
    fn put(&mut self, len: usize, kept: &[u8], report: &mut dyn Report) -> io::Result<bool> {
        if kept.len() == len {
            self.ready += len;
            return Ok(true);
        }
        let wants_more = self.flush(report)? && (kept.is_empty() || report.records(kept)?);
        self.ready += len;
        self.reported = self.ready;
        Ok(wants_more)
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
        let mut records = BatchRecords::new(b"");
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
        let mut records = BatchRecords::new(b"");
        let begun = || {
            counted(|summary| {
                summary.messages = 1;
                summary.messages_scanned = 1;
            })
        };
        for chunk in [begun(), read(), begun()] {
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
