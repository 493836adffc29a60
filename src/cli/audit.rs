//! `urlspool audit`: the steps of an audit.

mod archive;
mod check;
mod import;
mod plan;
mod progress;
mod report;
mod stop;

use super::args::{AuditArgs, AuditStep};
use super::error::{CommandError, CommandResult};
use super::exit::Exit;
use super::load::load_error;
use crate::audit::{ArchiveError, AuditError, OutputError};

pub(super) fn audit(args: &AuditArgs) -> CommandResult {
    match &args.step {
        AuditStep::Plan(args) => plan::plan(args),
        AuditStep::Check(args) => check::check(args),
        AuditStep::Import(args) => import::import(args),
        AuditStep::Archive(args) => archive::archive(args),
        AuditStep::Report(args) => report::report(args),
    }
}

impl From<AuditError> for CommandError {
    fn from(error: AuditError) -> CommandError {
        let exit = match &error {
            AuditError::Database(error) => return load_error(error),
            AuditError::Plan(_) | AuditError::Import(_) => Exit::Usage,
            AuditError::Checker(_)
            | AuditError::Silence(_)
            | AuditError::Archive(ArchiveError::Ended { .. }) => Exit::Unreachable,
            AuditError::Archive(_)
            | AuditError::Output(
                OutputError::OverwritesDatabase { .. }
                | OutputError::SameFile { .. }
                | OutputError::NoFolder { .. },
            ) => Exit::Usage,
            AuditError::Output(_) => Exit::Output,
        };
        CommandError::new(exit, error.to_string())
    }
}
