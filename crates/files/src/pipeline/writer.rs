//! Last stage of a run: removes duplicates, counts and reports, in the order of the input.

use std::collections::HashSet;
use std::io;
use std::ops::Range;

use super::batch::{ArticleChunk, BatchRecords, Chunk};
use super::{Job, Report, Summary};
use urlspool_record::extract::Unique;
use urlspool_record::record::LineFormat;
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
            dedup: Dedup {
                unique,
                ..Dedup::default()
            },
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

    /// Writes the chunks of a batch and their records. `Ok(false)` ends the run.
    pub(super) fn write(
        &mut self,
        chunks: Vec<Chunk>,
        records: &mut BatchRecords,
    ) -> io::Result<bool> {
        let has_line_per_record = self.format.has_line_per_record();
        let (mut kept, mut start) = (Vec::new(), 0);
        for mut chunk in chunks {
            self.count_broken_file(&mut chunk);
            self.is_in_file =
                chunk.summary.files == 0 && (self.is_in_file || chunk.summary.messages > 0);
            self.dedup.add_kept(&mut chunk, start, &mut kept);
            start += chunk.records_len;
            if has_line_per_record {
                // Counted in the output rather than where they are made, so a lost record is
                // noticed.
                chunk.summary.records = 0;
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
        }
        let wants_more = match records {
            BatchRecords::Lines(lines) => {
                retain(lines, &kept);
                if has_line_per_record {
                    self.summary.records += memchr::memchr_iter(b'\n', lines).count() as u64;
                }
                lines.is_empty() || self.report.lines(lines)?
            }
            BatchRecords::Values { records, .. } => {
                retain(records, &kept);
                self.summary.records += records.len() as u64;
                records.is_empty() || self.report.records(std::mem::take(records))?
            }
        };
        self.report.progress(&self.summary);
        Ok(wants_more)
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

/// Removes the items of a list that are in none of the ranges, which are in order.
fn retain<T>(list: &mut Vec<T>, kept: &[Range<usize>]) {
    if !matches!(kept, [all] if *all == (0..list.len())) {
        let mut kept = kept.iter().flat_map(Clone::clone).peekable();
        let mut indices = 0..;
        list.retain(|_| {
            kept.next_if_eq(&indices.next().unwrap_or_default())
                .is_some()
        });
    }
}

/// Adds a range to ranges in order. A range that continues the last one extends it.
fn add_range(ranges: &mut Vec<Range<usize>>, range: Range<usize>) {
    match ranges.last_mut() {
        Some(last) if last.end == range.start => last.end = range.end,
        _ => ranges.push(range),
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

impl Dedup {
    /// Adds the records of `chunk` that were not written before to `kept`, and corrects the chunk's
    /// summary. The chunk's records begin at `start` in their batch.
    fn add_kept(&mut self, chunk: &mut Chunk, start: usize, kept: &mut Vec<Range<usize>>) {
        if chunk.article.is_some_and(|article| self.is_copy(article)) {
            chunk.summary = chunk.summary.as_duplicate();
            chunk.rejects.clear();
        } else if self.unique == Unique::Run {
            self.add_new_records(chunk, start, kept);
        } else {
            add_range(kept, start..start + chunk.records_len);
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

    fn add_new_records(&mut self, chunk: &mut Chunk, start: usize, kept: &mut Vec<Range<usize>>) {
        let mut end = 0;
        for record in &chunk.keys {
            let begin = std::mem::replace(&mut end, record.end);
            if self.keys.insert(record.key) {
                add_range(kept, start + begin..start + end);
                chunk.summary.count_url(&record.url);
            } else {
                chunk.summary.records -= 1;
                chunk.summary.duplicates += 1;
            }
        }
        assert_eq!(end, chunk.records_len, "each record has a key");
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

    struct Discarding;

    impl Report for Discarding {
        fn lines(&mut self, _: &[u8]) -> io::Result<bool> {
            Ok(true)
        }
    }

    /// Counts of files after these chunks.
    fn files(chunks: Vec<Chunk>) -> Files {
        let mut report = Discarding;
        let job = Job::default();
        let mut writer = Writer::new(&job, Unique::None, &mut report);
        assert!(writer.write(chunks, &mut BatchRecords::default()).unwrap());
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
        let mut report = Discarding;
        let job = Job::default();
        let mut writer = Writer::new(&job, Unique::None, &mut report);
        let started = || {
            counted(|summary| {
                summary.messages = 1;
                summary.messages_scanned = 1;
            })
        };
        let chunks = vec![started(), read(), started()];
        writer.write(chunks, &mut BatchRecords::default()).unwrap();
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
