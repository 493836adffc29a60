//! The outputs of a scan together: opened before it begins, completed when it has ended, left when it fails.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use super::super::args::ScanArgs;
use super::super::error::{CommandError, Exit};
use super::lines::LineSyntax;
use super::output::{Output, OutputContent, RecordEncoding};
#[cfg(feature = "parquet")]
use crate::record::Record;
use crate::record::Summary;
use crate::sink::OutputPlace;
use crate::walk::DeviceInode;

/// The places of all outputs.
pub(super) struct OutputPlaces {
    pub(super) records: OutputPlace,
    pub(super) rejects: Option<OutputPlace>,
    pub(super) events: Option<OutputPlace>,
    pub(super) summary: Option<OutputPlace>,
}

impl OutputPlaces {
    /// The places that the arguments name.
    pub(super) fn of(args: &ScanArgs) -> OutputPlaces {
        let place = |path: &Option<_>| path.as_deref().map(OutputPlace::of);
        OutputPlaces {
            records: if is_loaded(args) {
                nowhere()
            } else {
                place(&args.output).unwrap_or(OutputPlace::Stdout)
            },
            rejects: place(&args.rejects),
            events: place(&args.events),
            summary: place(&args.summary),
        }
    }

    /// The places of a run that reads nothing: files of records and rejects stay as they are, also those that an earlier run left.
    pub(super) fn without_records(mut self) -> OutputPlaces {
        if matches!(self.records, OutputPlace::File(_)) {
            self.records = nowhere();
        }
        if matches!(self.rejects, Some(OutputPlace::File(_))) {
            self.rejects = Some(nowhere());
        }
        self
    }

    /// Returns `true` if anything is written to standard output.
    pub(super) fn has_stdout(&self) -> bool {
        self.all().any(|(_, place)| *place == OutputPlace::Stdout)
    }

    /// All places, with what is written there.
    pub(super) fn all(&self) -> impl Iterator<Item = (OutputContent, &OutputPlace)> {
        [
            (OutputContent::Records, Some(&self.records)),
            (OutputContent::Rejects, self.rejects.as_ref()),
            (OutputContent::Events, self.events.as_ref()),
            (OutputContent::Summary, self.summary.as_ref()),
        ]
        .into_iter()
        .filter_map(|(content, place)| Some((content, place?)))
    }
}

fn nowhere() -> OutputPlace {
    OutputPlace::Device("/dev/null".into())
}

/// Returns `true` if the records are loaded and not written.
fn is_loaded(args: &ScanArgs) -> bool {
    #[cfg(feature = "load")]
    return args.into.is_some();
    #[cfg(not(feature = "load"))]
    {
        let _ = args;
        false
    }
}

/// The open outputs.
pub(super) struct Outputs {
    records: Output,
    rejects: Option<Output>,
    events: Option<Output>,
    summary: Option<Output>,
    /// The error that ends the run.
    error: Option<CommandError>,
}

impl Outputs {
    /// Opens all outputs. `records` is the encoding of the records; the others are JSON.
    pub(super) fn open(
        places: &OutputPlaces,
        records: &RecordEncoding,
    ) -> Result<Outputs, CommandError> {
        let open = |content, place: &Option<OutputPlace>| {
            place
                .as_ref()
                .map(|place| {
                    let json = RecordEncoding::Lines {
                        syntax: LineSyntax::Json,
                        compression: None,
                    };
                    Output::open(content, &json, place)
                })
                .transpose()
        };
        Ok(Outputs {
            records: Output::open(OutputContent::Records, records, &places.records)?,
            rejects: open(OutputContent::Rejects, &places.rejects)?,
            events: open(OutputContent::Events, &places.events)?,
            summary: open(OutputContent::Summary, &places.summary)?,
            error: None,
        })
    }

    /// The files that are being written.
    pub(super) fn files(&mut self) -> Vec<DeviceInode> {
        self.all()
            .filter_map(|output| output.file()?.id().ok())
            .collect()
    }

    /// Appends records as lines. `None` after an error, which [`Outputs::failed`] returns.
    pub(super) fn put_lines(&mut self, lines: &[u8]) -> Option<bool> {
        let put = self.records.put(lines);
        self.keep_error(put)
    }

    /// Appends records as values. `None` after an error.
    #[cfg(feature = "parquet")]
    pub(super) fn put_records(&mut self, records: Vec<Record>) -> Option<()> {
        let put = self.records.put_records(records);
        self.keep_error(put)
    }

    /// Appends rejects, if they are wanted. `None` after an error.
    pub(super) fn put_rejects(&mut self, batch: &[u8]) -> Option<()> {
        let put = self.rejects.as_mut().map_or(Ok(true), |out| out.put(batch));
        self.keep_error(put).map(|_| ())
    }

    /// Appends events, if there is an output for them. `None` after an error.
    pub(super) fn put_events(&mut self, batch: &[u8]) -> Option<()> {
        let put = self.events.as_mut().map_or(Ok(true), |out| out.put(batch));
        self.keep_error(put).map(|_| ())
    }

    /// Writes the summary and completes all outputs, also those after one that fails.
    pub(super) fn finish(&mut self, summary: &Summary) -> Result<(), CommandError> {
        let mut text = Vec::new();
        summary.write(&mut text);
        let mut result = match &mut self.summary {
            Some(out) => out.put(&text).map(|_| ()),
            None => Ok(()),
        };
        let has_summary = result.is_ok();
        for output in self.all() {
            if has_summary || output.content() != OutputContent::Summary {
                result = result.and(output.finish());
            }
        }
        result.map_err(|error| self.with_partial_files(&error))
    }

    /// Gives up records and rejects: existing files stay as they are.
    pub(super) fn discard_records(&mut self) {
        self.records.discard();
        if let Some(rejects) = &mut self.rejects {
            rejects.discard();
        }
    }

    /// Gives up the outputs of a run whose records cannot be loaded. Returns the error, and what it leaves.
    #[cfg(feature = "load")]
    pub(super) fn not_loaded(&mut self, error: &CommandError) -> CommandError {
        self.with_partial_files(error)
    }

    /// The error of a run that failed with `error`, and what it leaves.
    pub(super) fn failed(&mut self, error: &std::io::Error) -> CommandError {
        let error = self
            .error
            .take()
            .unwrap_or_else(|| CommandError::new(Exit::Output, format!("cannot scan: {error}")));
        self.with_partial_files(&error)
    }

    /// Leaves the files that are not complete. Returns a clause for each.
    pub(super) fn leave(&mut self) -> Vec<String> {
        self.all().filter_map(Output::leave).collect()
    }

    fn with_partial_files(&mut self, error: &CommandError) -> CommandError {
        let mut clauses = vec![error.to_string()];
        clauses.extend(self.leave());
        CommandError::new(error.exit, clauses.join("; "))
    }

    fn keep_error<T>(&mut self, result: Result<T, CommandError>) -> Option<T> {
        result.map_err(|error| self.error = Some(error)).ok()
    }

    fn all(&mut self) -> impl Iterator<Item = &mut Output> {
        std::iter::once(&mut self.records)
            .chain(&mut self.rejects)
            .chain(&mut self.events)
            .chain(&mut self.summary)
    }
}

/// The outputs, shared with the thread that waits for signals.
#[derive(Clone)]
pub(super) struct SharedOutputs(Arc<Mutex<Outputs>>);

impl SharedOutputs {
    pub(super) fn new(outputs: Outputs) -> SharedOutputs {
        SharedOutputs(Arc::new(Mutex::new(outputs)))
    }

    /// Waits until no batch is being written. A panic leaves nothing half done: each call writes whole batches.
    pub(super) fn lock(&self) -> MutexGuard<'_, Outputs> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns `None` if a batch is being written.
    pub(super) fn try_lock(&self) -> Option<MutexGuard<'_, Outputs>> {
        match self.0.try_lock() {
            Ok(outputs) => Some(outputs),
            Err(TryLockError::Poisoned(outputs)) => Some(outputs.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}
