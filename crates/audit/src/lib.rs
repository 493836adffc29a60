//! Link-rot audits of a database made by `load`: selects the links to check, and records what their
//! servers and an archive answer.
//!
//! Each step can be repeated and continues where it was interrupted. Results are stored by link
//! key, so they survive when rows are removed and loaded again.

mod archive;
mod check;
mod client;
mod confirmation;
mod database;
mod due;
mod guard;
mod import;
mod inspect;
mod plan;
mod protocols;
mod public_host;
mod report;
mod save;
mod state;
mod statistics;
mod step;

pub use archive::{ArchiveCounts, ArchiveJob, archive};
pub use check::{CheckCounts, CheckJob, check};
pub use confirmation::ConfirmationRule;
pub use database::CheckTime;
pub use due::{AuditStatus, CheckReason, status};
pub use import::{ImportCounts, ImportJob, import};
pub use inspect::{InspectCounts, InspectJob, RobotsPolicy, inspect};
pub use plan::{Exclusion, PlanCounts, PlanJob, Sample, Stratum, StratumKind, plan};
pub use protocols::{OldProtocol, check_protocols};
pub use public_host::host_in_url;
pub use report::{ReportFiles, ReportFormat, ReportJob, SenderPolicy, report};
pub use save::{
    LeftOut, SaveCounts, SaveJob, SaveList, SaveOutcome, save, seed_file, seed_files, urls_to_save,
};
pub use state::{LinkState, PageState};
pub use step::AuditProgress;

use std::error::Error as StdError;
use std::io;

use thiserror::Error;

use urlspool_files::sink::OutputError;
use urlspool_store::load::LoadError;

/// Error that ends a step of an audit. Each kind has a separate exit code.
#[derive(Debug, Error)]
pub enum AuditError {
    /// The database cannot be read or written, or is not a loaded database.
    #[error(transparent)]
    Database(#[from] LoadError),
    /// An argument, the plan or a file of results cannot be used as it is.
    #[error("{message}")]
    Unusable {
        /// The reason and the way out.
        message: String,
        /// The underlying error.
        source: Option<Box<dyn StdError + Send + Sync>>,
    },
    /// The servers or the archive do not answer.
    #[error("{0}")]
    NoAnswers(String),
    /// A file or a folder cannot be created.
    #[error("{message}")]
    Output {
        /// The reason.
        message: String,
        /// The underlying error.
        source: io::Error,
    },
}

impl AuditError {
    fn unusable(message: impl Into<String>) -> AuditError {
        AuditError::Unusable {
            message: message.into(),
            source: None,
        }
    }

    fn no_answers(message: impl Into<String>) -> AuditError {
        AuditError::NoAnswers(message.into())
    }

    /// Creates the error of a failed action, for example `cannot write a.html: no space left`.
    fn output(action: &str, source: io::Error) -> AuditError {
        AuditError::Output {
            message: format!("cannot {action}: {source}"),
            source,
        }
    }

    /// Adds the underlying error.
    fn caused_by(mut self, error: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        if let AuditError::Unusable { source, .. } = &mut self {
            *source = Some(error.into());
        }
        self
    }
}

impl From<OutputError> for AuditError {
    fn from(error: OutputError) -> AuditError {
        match error {
            OutputError::Refused(message) => AuditError::unusable(message),
            OutputError::Failed { message, source } => AuditError::Output { message, source },
        }
    }
}
