//! A reader that stops at a limit and says so, and one that counts.

use std::cell::Cell;
use std::io::{self, BufRead, Read};
use std::rc::Rc;

use super::error as fault;

/// Bytes that went by, for those who watch.
pub(super) type Count = Rc<Cell<u64>>;

/// Counts what is read through it.
pub(super) struct Counted<R> {
    inner: R,
    count: Count,
}

impl<R> Counted<R> {
    pub(super) fn new(inner: R, count: &Count) -> Counted<R> {
        Counted {
            inner,
            count: Rc::clone(count),
        }
    }
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.count.set(self.count.get() + read as u64);
        Ok(read)
    }
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.count.set(self.count.get() + amount as u64);
        self.inner.consume(amount);
    }
}

/// How much may come out of so much: `most` bytes for each that went in, looked at behind `from_bytes` bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ratio {
    /// Bytes out for each byte in.
    pub most: u64,
    /// Bytes out below which nothing is looked at: short runs compress to almost nothing.
    pub from_bytes: u64,
}

/// Gives what `inner` gives, as long as that is in proportion to what went into it.
pub(super) struct Capped<R> {
    inner: R,
    taken: Count,
    given: u64,
    ratio: Ratio,
    ended: bool,
}

impl<R> Capped<R> {
    /// `taken` counts what goes into `inner`.
    pub(super) fn new(inner: R, taken: &Count, ratio: Ratio) -> Capped<R> {
        Capped {
            inner,
            taken: Rc::clone(taken),
            given: 0,
            ratio,
            ended: false,
        }
    }
}

impl<R: Read> Read for Capped<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Ratio { most, from_bytes } = self.ratio;
        if self.ended {
            return Ok(0);
        }
        if self.given > from_bytes && self.given / most > self.taken.get() {
            self.ended = true;
            return Err(fault::limit(format!(
                "unpacks to more than {most} times its size: the rest is not read"
            )));
        }
        let read = self.inner.read(buffer)?;
        self.given += read as u64;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_swells_beyond_its_ratio_is_cut_off() {
        let taken = Count::default();
        taken.set(10);
        let mut capped = Capped::new(
            io::repeat(0).take(10_000),
            &taken,
            Ratio {
                most: 100,
                from_bytes: 500,
            },
        );
        let mut seen = Vec::new();
        let mut buffer = [0; 10];
        let error = loop {
            match capped.read(&mut buffer) {
                Ok(read) => seen.extend_from_slice(&buffer[..read]),
                Err(error) => break error,
            }
        };
        assert!(seen.len() >= 1_000 && seen.len() <= 1_130, "{}", seen.len());
        assert!(error.to_string().contains("100 times"));
    }

    #[test]
    fn what_is_counted_is_what_was_read() {
        let count = Count::default();
        let mut counted = Counted::new(&b"abcdef"[..], &count);
        counted.read_exact(&mut [0; 2]).unwrap();
        counted.consume(1);
        assert_eq!(count.get(), 3);
    }
}
