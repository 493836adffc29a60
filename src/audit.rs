//! Link-rot audits on a database that `load` made: which links to check, what a checker and an
//! archive say of them.
//!
//! Each step can be repeated and continues where it was interrupted. Results are stored by the key
//! of the link, so that they outlive rows that are removed and loaded again.

mod archive;
mod check;
mod database;
mod error;
mod import;
mod lychee;
mod plan;
mod public_host;
mod report;
mod state;
mod statistics;
mod times;

pub use archive::{ArchiveCounts, ArchiveJob, archive};
pub use check::{AuditProgress, CheckCounts, CheckJob, check};
pub use error::AuditError;
pub use import::{ImportCounts, ImportJob, ImportReport, ResultPlace, import};
pub use plan::{Exclusion, PlanCounts, PlanJob, Sample, Stratum, StratumKind, plan};
pub use public_host::host_in_url;
pub use report::{ReportFiles, ReportJob, SenderPolicy, report};
pub use state::{CheckFailure, CheckOutcome, LinkState, link_state, without_fragment};
pub use times::CheckTime;
