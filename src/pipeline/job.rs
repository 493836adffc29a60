//! What is asked of a run, and where its yield goes.

use std::io;
use std::path::PathBuf;

use crate::diagnostic::Event;
use crate::origin;
use crate::record::Summary;
use crate::sink::Sink;
use crate::split::Format;
use crate::walk::{PathFilter, SymlinkPolicy};

/// What is to be done.
#[derive(Debug, Default)]
pub struct Job {
    /// Files and folders, `-` for standard input.
    pub roots: Vec<PathBuf>,
    /// Parts of files, instead of the roots.
    pub items: Option<Vec<origin::FileRange>>,
    /// Which files are wanted.
    pub filter: PathFilter,
    /// Whether links are followed.
    pub links: SymlinkPolicy,
    /// The format of all sources, if it is not to be recognised.
    pub format: Option<Format>,
    /// Threads that work; at least one.
    pub threads: usize,
    /// What is written of a URL.
    pub output: Output,
    /// Whether refused candidates are wanted.
    pub rejects: bool,
    /// Which repetitions are folded. Within messages the extractor does it.
    pub unique: Unique,
    /// Messages of this moment and later (seconds since 1970).
    pub since: Option<i64>,
    /// Messages before this moment.
    pub until: Option<i64>,
}

/// Which repetitions of a URL are folded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unique {
    /// None.
    #[default]
    None,
    /// Those within a message; its record tells how many there were.
    Message,
    /// Those within the run.
    Run,
}

/// Which of a record's forms is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Output {
    /// The whole record.
    #[default]
    Records,
    /// The URL and its fragment.
    Urls,
}

/// Where the yield of a run goes, in the order of its input.
pub trait Report {
    /// Records. `Ok(false)` ends the run.
    ///
    /// # Errors
    ///
    /// What the sink says; it ends the run.
    fn records(&mut self, batch: &[u8]) -> io::Result<bool>;

    /// Refused candidates, if they were asked for.
    ///
    /// # Errors
    ///
    /// What the sink says; it ends the run.
    fn rejects(&mut self, batch: &[u8]) -> io::Result<()>;

    /// Something was wrong.
    ///
    /// # Errors
    ///
    /// What the sink says; it ends the run.
    fn event(&mut self, event: &Event) -> io::Result<()>;

    /// How far it is: everything counted so far.
    fn progress(&mut self, balance: &Summary);
}

/// A report for those who want the records alone.
impl<S: Sink> Report for S {
    fn records(&mut self, batch: &[u8]) -> io::Result<bool> {
        self.put(batch)
    }

    fn rejects(&mut self, _: &[u8]) -> io::Result<()> {
        Ok(())
    }

    fn event(&mut self, _: &Event) -> io::Result<()> {
        Ok(())
    }

    fn progress(&mut self, _: &Summary) {}
}
