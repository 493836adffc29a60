//! Link-rot audits on a database that `load` made: which links to check, what a checker and an archive say of them.
//!
//! Each step can be repeated and continues where it was interrupted. Results are stored by the key of the link, so that they
//! outlive rows that are removed and loaded again.

mod archive;
mod check;
mod clock;
mod database;
mod error;
mod import;
mod lychee_answers;
mod plan;
mod public_host;
mod report;
mod results;
mod schema;
mod state;
mod statistics;

pub use archive::{ArchiveCounts, ArchiveJob, archive};
pub use check::{AuditProgress, CheckCounts, CheckJob, check};
pub use error::{
    ArchiveEnd, ArchiveError, AuditError, CheckerError, ImportError, ImportErrorReason,
    OutputError, PlanError, Silence,
};
pub use import::{
    CheckTime, ImportCounts, ImportJob, ImportReport, ResultError, ResultPlace, import,
};
pub use plan::{Exclusion, PlanCounts, PlanJob, Sample, Stratum, StratumKind, plan};
pub use public_host::host_in_url;
pub use report::{ReportFiles, ReportJob, SenderPolicy, report};
pub use state::{CheckFailure, CheckOutcome, LinkState, link_state, without_fragment};
