//! Contradictions of the input, or of the target.

use std::fmt;
use std::path::PathBuf;

/// The contradiction that ends a load or a search.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InconsistentError {
    /// Another segment of this number was loaded.
    OtherSegment {
        /// The name of the segment's file.
        input: String,
        /// The number of the segment.
        seq: u64,
        /// The name of the state that it is an output of.
        instance: String,
        /// The epoch of that state.
        epoch: u64,
        /// The hash of the segment.
        hash: String,
        /// The hash of the segment that was loaded.
        loaded_hash: String,
    },
    /// A segment is not the one that its sidecar describes.
    Sidecar {
        /// The name of the segment's file.
        input: String,
        /// The sidecar.
        sidecar: PathBuf,
        /// The step that was not done.
        omitted: OmittedStep,
    },
    /// The database is damaged.
    Damaged {
        /// The database.
        file: PathBuf,
        /// The error of `SQLite`.
        reason: String,
    },
}

/// The step that is not done with a segment which is not the one that its sidecar describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OmittedStep {
    /// Nothing of it was loaded.
    Load,
    /// It was loaded before, and not removed.
    Removal,
}

impl fmt::Display for InconsistentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InconsistentError::OtherSegment {
                input,
                seq,
                instance,
                epoch,
                hash,
                loaded_hash,
            } => write!(
                f,
                "{input}: segment {seq} of instance {instance}, epoch {epoch}, has the hash {hash}, but one with the hash {loaded_hash} was \
                 loaded; the output of a restored state must be loaded into a new database"
            ),
            InconsistentError::Sidecar {
                input,
                sidecar,
                omitted,
            } => write!(
                f,
                "{input} is not what its sidecar {} describes; {omitted}",
                sidecar.display()
            ),
            InconsistentError::Damaged { file, reason } => {
                write!(f, "{} is damaged: {reason}", file.display())
            }
        }
    }
}

impl fmt::Display for OmittedStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            OmittedStep::Load => "nothing of it was loaded",
            OmittedStep::Removal => "it was not removed",
        })
    }
}

impl std::error::Error for InconsistentError {}
