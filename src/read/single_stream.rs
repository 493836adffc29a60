//! The steps through a source in a build without the feature `archives`: the source is its only
//! stream.
//!
//! A compressed file is then skipped as `binary` by `split`; a tar archive is read as text.

use std::io;

use super::input::{ByteCount, Input};
use super::stream_step::StreamStep;
use crate::limits::Limits;
use crate::origin::{FormatHint, Source};

/// Returns `false`: no container is unpacked in this build.
#[must_use]
pub fn is_container(_: &[u8]) -> bool {
    false
}

/// Iterator over the one step through a source.
pub struct SingleStream {
    step: Option<StreamStep>,
    bytes_read: ByteCount,
}

impl SingleStream {
    /// Creates the steps through `input`, which is the content of `source`.
    #[must_use]
    pub fn new(input: Input, source: Source, hint: FormatHint, _: &Limits) -> SingleStream {
        let bytes_read = ByteCount::default();
        let input = input.counted(&bytes_read);
        SingleStream {
            step: Some(StreamStep::Stream {
                source,
                hint,
                stream: input.into_stream(),
            }),
            bytes_read,
        }
    }

    /// Git repositories are archives, which this build does not read.
    ///
    /// # Errors
    ///
    /// Always.
    pub fn of_blob(_: &[u8], _: Source, _: &Limits) -> io::Result<SingleStream> {
        Err(io::Error::other(
            "it is a git repository, and this build reads no archives",
        ))
    }

    /// The number of bytes of the source that were read so far.
    #[must_use]
    pub fn bytes_read(&self) -> u64 {
        self.bytes_read.get()
    }

    /// Returns 0: nothing is unpacked.
    #[must_use]
    pub fn unpacked_times(&self) -> u64 {
        0
    }

    /// Returns `false`: no stream comes from a container.
    #[must_use]
    pub fn is_unpacked(&self) -> bool {
        false
    }
}

impl Iterator for SingleStream {
    type Item = StreamStep;

    fn next(&mut self) -> Option<StreamStep> {
        self.step.take()
    }
}
