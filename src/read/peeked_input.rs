//! Input whose first bytes were read, to recognise its format.

use std::io::{self, Cursor, Read};

use super::input::Input;
use crate::limits::MAGIC_BYTES;

/// Input and its first bytes.
pub(super) struct PeekedInput {
    /// The first bytes.
    pub(super) start: Vec<u8>,
    /// All bytes, the first included.
    pub(super) input: Input,
}

impl Input {
    /// Reads the first [`MAGIC_BYTES`] bytes, and returns them with the whole input. A stream that fails within them fails again after
    /// them.
    pub(super) fn peek(self) -> PeekedInput {
        let mut start = Vec::with_capacity(MAGIC_BYTES);
        match self {
            Input::Seekable(input) => {
                // An error here occurs again, and is reported, when the input is read.
                let _ = input
                    .uncounted()
                    .range(0, MAGIC_BYTES as u64)
                    .read_to_end(&mut start);
                let input = Input::Seekable(input);
                PeekedInput { start, input }
            }
            Input::Stream(mut stream) => {
                let error = (&mut stream)
                    .take(MAGIC_BYTES as u64)
                    .read_to_end(&mut start)
                    .err();
                let again = Cursor::new(start.clone());
                let rest: Box<dyn Read> = match error {
                    Some(error) => Box::new(FailingReader(Some(error))),
                    None => stream,
                };
                let input = Input::Stream(Box::new(again.chain(rest)));
                PeekedInput { start, input }
            }
        }
    }
}

/// Reader that returns one error and then ends.
struct FailingReader(Option<io::Error>);

impl Read for FailingReader {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}
