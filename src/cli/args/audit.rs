//! The arguments of `audit` and its steps.

use std::path::PathBuf;

use clap::Subcommand;

use super::values::named;
use super::{GENERAL, INPUT};
use crate::audit::{Exclusion, StratumKind};
use crate::config::NamedValue;

/// The arguments of `audit`.
#[derive(clap::Args, Debug)]
pub(crate) struct AuditArgs {
    #[command(subcommand)]
    pub(crate) step: AuditStep,
}

/// A step of an audit.
#[derive(Subcommand, Debug)]
pub(crate) enum AuditStep {
    /// Plan which links are checked, and print how many are not and why
    ///
    /// Each link is planned once, whatever the number of its citations. Never planned are links cited only in header fields
    /// (unsubscribe links), with a user or password, that ask for an action, that were cut short or read with a confidence
    /// below 0.8, and of private or reserved hosts. A plan can be repeated after more was loaded; results are kept.
    Plan(AuditPlanArgs),
}

/// The arguments of `audit plan`.
#[derive(clap::Args, Debug)]
pub(crate) struct AuditPlanArgs {
    /// The database that `urlspool load` made
    #[arg(value_name = "DB")]
    pub(crate) database: PathBuf,

    /// Plan a sample of N links, equally divided among the strata
    #[arg(long, value_name = "N", help_heading = INPUT)]
    pub(crate) sample: Option<u64>,

    /// The strata of the sample
    #[arg(long, value_parser = named::<StratumKind>(), default_value = StratumKind::Year.name(), requires = "sample", help_heading = INPUT)]
    pub(crate) by: StratumKind,

    /// Seed of the sample: the same seed gives the same links
    #[arg(long, value_name = "S", default_value_t = 0, requires = "sample", help_heading = INPUT)]
    pub(crate) seed: u64,

    /// Plan links of this kind too, which are left out for caution
    #[arg(long, value_name = "REASON", value_parser = named::<Exclusion>(), help_heading = INPUT)]
    pub(crate) force: Vec<Exclusion>,

    /// Plan links of this host although it is private; give the option to `check` too
    #[arg(long, value_name = "HOST", help_heading = INPUT)]
    pub(crate) allow_private: Vec<String>,

    /// Report only errors
    #[arg(short, long, help_heading = GENERAL)]
    pub(crate) quiet: bool,
}

impl NamedValue for StratumKind {
    fn all() -> impl Iterator<Item = StratumKind> {
        StratumKind::ALL.into_iter()
    }

    fn name(self) -> &'static str {
        StratumKind::name(self)
    }

    fn meaning(self) -> &'static str {
        match self {
            StratumKind::Year => "the year of the first citation",
            StratumKind::Scheme => "http and https",
            StratumKind::List => "the list, newsgroup or file of the first citation",
        }
    }
}

impl NamedValue for Exclusion {
    fn all() -> impl Iterator<Item = Exclusion> {
        Exclusion::LIFTABLE.into_iter()
    }

    fn name(self) -> &'static str {
        Exclusion::name(self)
    }

    fn meaning(self) -> &'static str {
        Exclusion::meaning(self)
    }
}
