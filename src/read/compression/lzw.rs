//! compress(1), the `.Z` of archives before gzip: LZW with codes of 9 to 16 bits.
//!
//! The format is what ncompress writes and reads; it has no specification but that. Two bytes of magic, one of flags,
//! then codes, lowest bit first. Codes come in groups of eight, and a group is filled up whenever their width changes.
//! There is neither an end mark nor a checksum: damage shows only by a code that stands for nothing yet.

use std::io::{self, BufRead, Read};

use crate::read::error as fault;

/// The code that empties the table, where the flags allow it.
const CLEAR: usize = 256;

/// Bits of the first codes.
const FIRST_WIDTH: u32 = 9;

/// Bits of the widest codes that any compress writes.
const LAST_WIDTH: u32 = 16;

/// The bytes of a compressed stream, unpacked.
///
/// Holds a table of 65,536 entries.
pub(super) struct Lzw<R> {
    input: R,
    /// Bits of the widest code; zero before the head was read.
    most_width: u32,
    clears: bool,
    width: u32,
    /// Bits read and not yet used, lowest first.
    bits: u64,
    bits_held: u32,
    /// Codes of the current group that were read.
    in_group: u32,
    /// For each code from 256: the code of all but its last byte, and that byte.
    prefix: Vec<u16>,
    suffix: Vec<u8>,
    /// The next code that gets a meaning.
    free: usize,
    /// The code before, and the first byte of what it stands for.
    previous: Option<(usize, u8)>,
    /// What a code stands for, last byte first.
    stack: Vec<u8>,
}

impl<R: BufRead> Lzw<R> {
    pub(super) fn new(input: R) -> Lzw<R> {
        Lzw {
            input,
            most_width: 0,
            clears: false,
            width: FIRST_WIDTH,
            bits: 0,
            bits_held: 0,
            in_group: 0,
            prefix: vec![0; 1 << LAST_WIDTH],
            suffix: vec![0; 1 << LAST_WIDTH],
            free: CLEAR,
            previous: None,
            stack: Vec::new(),
        }
    }

    fn head(&mut self) -> io::Result<()> {
        let mut head = [0; 3];
        self.input.read_exact(&mut head)?;
        self.most_width = u32::from(head[2] & 0x1F);
        self.clears = head[2] & 0x80 != 0;
        self.free = self.first_free();
        if (FIRST_WIDTH..=LAST_WIDTH).contains(&self.most_width) {
            Ok(())
        } else {
            Err(fault::damage(format!(
                "codes of {} bits are none that compress writes",
                self.most_width
            )))
        }
    }

    fn first_free(&self) -> usize {
        if self.clears { CLEAR + 1 } else { CLEAR }
    }

    /// The next code, or nothing where too few bits for one are left.
    fn code(&mut self) -> io::Result<Option<usize>> {
        while self.bits_held < self.width {
            let Some(&byte) = self.input.fill_buf()?.first() else {
                return Ok(None);
            };
            self.input.consume(1);
            self.bits |= u64::from(byte) << self.bits_held;
            self.bits_held += 8;
        }
        let code = self.bits & ((1 << self.width) - 1);
        self.bits >>= self.width;
        self.bits_held -= self.width;
        self.in_group = (self.in_group + 1) % 8;
        Ok(Some(code as usize))
    }

    /// Reads codes of another width from here on, behind what fills up the group.
    fn set_width(&mut self, width: u32) -> io::Result<()> {
        while self.in_group != 0 && self.code()?.is_some() {}
        self.in_group = 0;
        self.width = width;
        Ok(())
    }

    /// Puts on the stack what the next code stands for. `false` at the end.
    fn fill(&mut self) -> io::Result<bool> {
        if self.free >= 1 << self.width && self.width < self.most_width {
            self.set_width(self.width + 1)?;
        }
        let Some(code) = self.code()? else {
            return Ok(false);
        };
        if self.clears && code == CLEAR {
            self.set_width(FIRST_WIDTH)?;
            self.free = self.first_free();
            self.previous = None;
            return Ok(true);
        }
        let known = if code < CLEAR {
            code
        } else {
            self.known(code)?
        };
        self.unroll(known);
        let first = self.stack.last().copied().unwrap_or_default();
        if let Some((previous, _)) = self.previous
            && self.free < 1 << self.most_width
        {
            self.prefix[self.free] = previous as u16;
            self.suffix[self.free] = first;
            self.free += 1;
        }
        self.previous = Some((code, first));
        Ok(true)
    }

    /// A code whose meaning is known. That of the next free one is what the code before stood for and its first byte.
    fn known(&mut self, code: usize) -> io::Result<usize> {
        match self.previous {
            Some(_) if code < self.free => Ok(code),
            Some((previous, first)) if code == self.free && self.free < 1 << self.most_width => {
                self.stack.push(first);
                Ok(previous)
            }
            _ => Err(fault::damage(
                "its compressed data is damaged: a code that stands for nothing",
            )),
        }
    }

    fn unroll(&mut self, mut code: usize) {
        // Each prefix is a smaller code, so that this comes to an end.
        while code >= CLEAR {
            self.stack.push(self.suffix[code]);
            code = usize::from(self.prefix[code]);
        }
        self.stack.push(code as u8);
    }
}

impl<R: BufRead> Read for Lzw<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.most_width == 0 {
            self.head()?;
        }
        let mut given = 0;
        while given < buffer.len() {
            match self.stack.pop() {
                Some(byte) => {
                    buffer[given] = byte;
                    given += 1;
                }
                None if given > 0 => break,
                None if !self.fill()? => break,
                None => {}
            }
        }
        Ok(given)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::collections::HashMap;

    use super::*;

    /// What compress writes, without ever emptying its table.
    pub(in crate::read) fn packed(text: &[u8], most_width: u32) -> Vec<u8> {
        let mut out = vec![0x1F, 0x9D, 0x80 | most_width as u8];
        let mut group: Vec<(usize, u32)> = Vec::new();
        let mut table: HashMap<(usize, u8), usize> = HashMap::new();
        let (mut free, mut width) = (CLEAR + 1, FIRST_WIDTH);
        let flush = |group: &mut Vec<(usize, u32)>, out: &mut Vec<u8>, fill: bool| {
            let Some(&(_, width)) = group.first() else {
                return;
            };
            let (mut bits, mut held) = (0_u128, 0);
            for (code, width) in group.iter() {
                bits |= (*code as u128) << held;
                held += width;
            }
            let octets = if fill {
                width as usize
            } else {
                held.div_ceil(8) as usize
            };
            out.extend(&bits.to_le_bytes()[..octets]);
            group.clear();
        };
        let mut current: Option<usize> = None;
        let mut emit = |code: usize, free: usize, out: &mut Vec<u8>| {
            // The reader's table is one entry behind ours.
            if free > 1 << width && width < most_width {
                flush(&mut group, out, true);
                width += 1;
            }
            group.push((code, width));
            if group.len() == 8 {
                flush(&mut group, out, true);
            }
            group.clone()
        };
        let mut rest = Vec::new();
        for &byte in text {
            let Some(code) = current else {
                current = Some(usize::from(byte));
                continue;
            };
            if let Some(&longer) = table.get(&(code, byte)) {
                current = Some(longer);
                continue;
            }
            rest = emit(code, free, &mut out);
            if free < 1 << most_width {
                table.insert((code, byte), free);
                free += 1;
            }
            current = Some(usize::from(byte));
        }
        if let Some(code) = current {
            rest = emit(code, free, &mut out);
        }
        flush(&mut rest, &mut out, false);
        out
    }

    fn unpacked(octets: &[u8]) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        Lzw::new(octets).read_to_end(&mut out).map(|_| out)
    }

    #[test]
    fn what_compress_wrote_is_read() {
        let octets = include_bytes!("../../../corpus/containers/lines.txt.Z");
        let line = |n: u64| format!("{n} http://a.example/{}\n", n * 7_919 % 10_007);
        let digits = |n: u64| format!("{:016X}\n", n.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let text: Vec<String> = (0..1_000)
            .map(line)
            .chain((0..500).map(digits))
            .chain((0..1_000).map(line))
            .collect();
        assert_eq!(
            String::from_utf8(unpacked(octets).unwrap()).unwrap(),
            text.concat()
        );
    }

    #[test]
    fn codes_of_every_width_are_read_back() {
        let text: Vec<u8> = (0..300_000_u32)
            .flat_map(|n| (n.wrapping_mul(2_654_435_761) >> 7).to_le_bytes())
            .collect();
        for width in 10..=16 {
            assert!(unpacked(&packed(&text, width)).unwrap() == text, "{width}");
        }
    }

    #[test]
    fn a_run_gives_the_code_that_is_not_known_yet() {
        assert_eq!(
            unpacked(&packed(&[b'a'; 1_000], 16)).unwrap(),
            [b'a'; 1_000]
        );
        assert_eq!(unpacked(&packed(b"", 16)).unwrap(), b"");
    }

    #[test]
    fn codes_that_stand_for_nothing_are_damage() {
        let mut octets = packed(b"http://a.example/", 16);
        octets[5..].fill(0xFF);
        assert!(
            unpacked(&octets)
                .unwrap_err()
                .to_string()
                .contains("stands for nothing")
        );
        assert!(unpacked(b"\x1F\x9D\x9F").is_err());
    }
}
