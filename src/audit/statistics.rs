//! The statistics of a report: shares with intervals, and survival from censored lifetimes. Only computes.

mod isotonic;
mod lifetime;
mod share;
mod turnbull;

pub(super) use lifetime::{Lifetime, LifetimeCounts};
pub(super) use share::{Share, Trials, ratio};
pub(super) use turnbull::{HalfLife, SurvivalCurve, turnbull};
