//! The sources that the arguments of `scan` and `splits` ask for.

use super::args::SourceArgs;
use super::error::{CommandError, Exit};
use crate::split::Format;
use crate::walk::{PathFilter, SymlinkPolicy};

impl SourceArgs {
    /// The format of all sources, if it is not to be recognized.
    pub(super) fn format(&self) -> Option<Format> {
        self.kind.map(Format::of)
    }

    /// The filter by the patterns that are given.
    pub(super) fn filter(&self) -> Result<PathFilter, CommandError> {
        PathFilter::new(&self.include, &self.exclude).map_err(|bad| {
            CommandError::new(
                Exit::Usage,
                format!("cannot use the pattern {:?}: {}", bad.glob, bad.message),
            )
        })
    }

    /// The treatment of symbolic links.
    pub(super) fn links(&self) -> SymlinkPolicy {
        if self.follow {
            SymlinkPolicy::Follow
        } else {
            SymlinkPolicy::Skip
        }
    }
}
