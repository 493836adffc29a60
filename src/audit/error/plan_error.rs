//! Reasons why a database or a plan cannot be used.

use std::fmt;
use std::path::PathBuf;

/// The reason why a database, or a plan for it, cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PlanError {
    /// The database has no plan.
    NoPlan {
        /// The database.
        database: PathBuf,
    },
    /// Its audit tables are those of another version of this program.
    TableVersion {
        /// The database.
        database: PathBuf,
        /// The version of its tables.
        found: String,
        /// The version that this program needs.
        needed: u32,
    },
    /// The sample would leave strata out: shares of all links would be wrong.
    SmallSample {
        /// Links of the sample.
        size: u64,
        /// Strata, of which each needs a link.
        strata: u64,
    },
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlanError::NoPlan { database } => {
                let name = database.display();
                write!(
                    f,
                    "{name} has no plan of an audit; make one with `urlspool audit plan {name}`"
                )
            }
            PlanError::TableVersion {
                database,
                found,
                needed,
            } => write!(
                f,
                "{} has audit tables of version {found}, and this program needs version {needed}; use the urlspool that planned it, or load \
                 the records into a new database and plan that",
                database.display()
            ),
            PlanError::SmallSample { size, strata } => write!(
                f,
                "a sample of {size} is too small for {strata} strata; give `--sample` at least {strata}, or another `--by`"
            ),
        }
    }
}

impl std::error::Error for PlanError {}
