//! Survival of the audited links, by two definitions of its end.

use super::figures::Ages;
use crate::audit::statistics::{SurvivalCurve, turnbull};

/// Estimated survival from the first citation.
#[derive(Clone, Debug)]
pub(super) struct Survival {
    /// To the death of the page or its host.
    pub(super) dead: SurvivalCurve,
    /// To its death or a redirect elsewhere.
    pub(super) strict: SurvivalCurve,
}

impl Survival {
    /// Estimates survival; `None` if no link has a lifetime.
    pub(super) fn of(ages: &Ages) -> Option<Survival> {
        Some(Survival {
            dead: turnbull(&ages.lifetimes)?,
            strict: turnbull(&ages.strict_lifetimes)?,
        })
    }
}
