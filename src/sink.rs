//! Where encoded records go. Encoding happens before, beside extraction; a sink takes batches in order.

mod file;
pub mod segment;

pub use file::FileSink;

use std::io::{self, ErrorKind, Write};

/// Takes records.
pub trait Sink {
    /// Takes a batch of whole lines. `Ok(false)` means "send no more": a reader that went away is no error.
    ///
    /// # Errors
    ///
    /// What the system says. What was put before stays valid.
    fn put(&mut self, batch: &[u8]) -> io::Result<bool>;

    /// Returns once everything put so far has left the process.
    ///
    /// # Errors
    ///
    /// What the system says.
    fn finish(&mut self) -> io::Result<()>;
}

/// The sink of tests and of library users.
impl Sink for Vec<u8> {
    fn put(&mut self, batch: &[u8]) -> io::Result<bool> {
        self.extend_from_slice(batch);
        Ok(true)
    }

    fn finish(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A pipe, a terminal, standard output.
#[derive(Debug)]
pub struct PipeSink<W>(pub W);

impl<W: Write> Sink for PipeSink<W> {
    fn put(&mut self, batch: &[u8]) -> io::Result<bool> {
        unless_closed(self.0.write_all(batch))
    }

    fn finish(&mut self) -> io::Result<()> {
        unless_closed(self.0.flush()).map(|_| ())
    }
}

/// A closed pipe is a normal end.
fn unless_closed(result: io::Result<()>) -> io::Result<bool> {
    match result {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(error),
    }
}
