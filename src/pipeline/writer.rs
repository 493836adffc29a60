//! The end of a run: folds, counts and reports, in order.

use std::io;

use super::chunk::Chunk;
use super::dedup::Dedup;
use super::job::Report;
use crate::diagnostic::DiagnosticKind;
use crate::record::Summary;

/// The end of the line: folds, counts and reports, in order.
pub(super) struct Writer<'w> {
    pub(super) report: &'w mut dyn Report,
    pub(super) given: Dedup,
    pub(super) summary: Summary,
    /// What a stretch of the file that is being written failed with.
    pub(super) broken: Option<DiagnosticKind>,
    /// Whether each record is one line.
    pub(super) lines: bool,
}

impl Writer<'_> {
    pub(super) fn write(&mut self, mut chunk: Chunk, run: &mut Run<'_>) -> io::Result<bool> {
        // A file is cut at one go: the next that is counted is the one of which a stretch failed.
        self.broken = chunk.broken.or(self.broken);
        if chunk.summary.files > 0
            && let Some(kind) = self.broken.take()
            && chunk.summary.files_read > 0
        {
            chunk.summary.read_file_failed(kind.name());
        }
        let records = run.next(chunk.record_bytes);
        let left = self.given.remove_duplicates(&mut chunk, records);
        if self.lines {
            // Counted in what is written, and not where it is encoded: a line that is lost between shows.
            self.summary.lines += memchr::memchr_iter(b'\n', &left).count() as u64;
        } else {
            self.summary.lines += chunk.summary.records + chunk.summary.unwrapped;
        }
        self.summary.absorb(&mut chunk.summary);
        for event in &chunk.events {
            self.report.event(event)?;
        }
        if !chunk.rejects.is_empty() {
            self.report.rejects(&chunk.rejects)?;
        }
        run.put(records.len(), &left, self.report)
    }
}

/// The records of a batch, which are reported at once as far as none of them was folded: many chunks are small articles.
pub(super) struct Run<'b> {
    pub(super) records: &'b [u8],
    /// Up to where they are reported, or folded.
    pub(super) written: usize,
    /// Up to where they shall be reported.
    pub(super) reached: usize,
}

impl<'b> Run<'b> {
    /// The next records.
    fn next(&self, len: usize) -> &'b [u8] {
        &self.records[self.reached..][..len]
    }

    /// Puts what is left of the next `len` bytes behind the others. `false` ends the run.
    fn put(&mut self, len: usize, left: &[u8], report: &mut dyn Report) -> io::Result<bool> {
        if left.len() == len {
            self.reached += len;
            return Ok(true);
        }
        let wants_more = self.write(report)? && (left.is_empty() || report.records(left)?);
        self.reached += len;
        self.written = self.reached;
        Ok(wants_more)
    }

    /// Reports what is not reported yet. `false` ends the run.
    pub(super) fn write(&mut self, report: &mut dyn Report) -> io::Result<bool> {
        let records = &self.records[self.written..self.reached];
        self.written = self.reached;
        Ok(records.is_empty() || report.records(records)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the balance says of files that give these chunks.
    fn files(chunks: Vec<Chunk>) -> (u64, u64, u64) {
        let mut report = Vec::new();
        let (given, summary) = (Dedup::default(), Summary::default());
        let mut writer = Writer {
            report: &mut report,
            given,
            summary,
            broken: None,
            lines: true,
        };
        let mut run = Run {
            records: b"",
            written: 0,
            reached: 0,
        };
        for chunk in chunks {
            assert!(writer.write(chunk, &mut run).unwrap());
        }
        assert!(writer.summary.imbalances().is_empty());
        (
            writer.summary.files,
            writer.summary.files_read,
            writer.summary.files_failed.sum(),
        )
    }

    #[test]
    fn a_file_of_which_a_stretch_failed_is_not_read_to_its_end() {
        let broken = || Chunk {
            broken: Some(DiagnosticKind::Unreadable),
            ..Chunk::default()
        };
        let counted = |count: fn(&mut Summary)| {
            let mut chunk = Chunk::default();
            count(&mut chunk.summary);
            chunk
        };
        let read = || counted(Summary::read_file);
        assert_eq!(
            files(vec![
                read(),
                broken(),
                Chunk::default(),
                broken(),
                read(),
                read()
            ]),
            (3, 2, 1)
        );
        assert_eq!(
            files(vec![
                broken(),
                counted(|balance| balance.fail_file("unreadable")),
                read()
            ]),
            (2, 1, 1)
        );
        assert_eq!(
            files(vec![
                Chunk {
                    broken: Some(DiagnosticKind::Unreadable),
                    ..read()
                },
                read()
            ]),
            (2, 1, 1)
        );
    }
}
