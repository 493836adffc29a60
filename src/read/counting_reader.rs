//! Counts the bytes that are read.

use std::cell::Cell;
use std::io::{self, BufRead, Read};
use std::rc::Rc;

/// Number of bytes read, shared with those who use the number.
pub(super) type ByteCount = Rc<Cell<u64>>;

/// Reader that counts the bytes read through it.
pub(super) struct CountingReader<R> {
    inner: R,
    count: ByteCount,
}

impl<R> CountingReader<R> {
    pub(super) fn new(inner: R, count: &ByteCount) -> CountingReader<R> {
        CountingReader {
            inner,
            count: Rc::clone(count),
        }
    }
}

impl<R: Read> Read for CountingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.count.set(self.count.get() + read as u64);
        Ok(read)
    }
}

impl<R: BufRead> BufRead for CountingReader<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.count.set(self.count.get() + amount as u64);
        self.inner.consume(amount);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_read_and_consumed_are_counted() {
        let count = ByteCount::default();
        let mut reader = CountingReader::new(&b"abcdef"[..], &count);
        reader.read_exact(&mut [0; 2]).unwrap();
        reader.consume(1);
        assert_eq!(count.get(), 3);
    }
}
