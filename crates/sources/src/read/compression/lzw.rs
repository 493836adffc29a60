//! compress(1), the `.Z` of archives before gzip: LZW with codes of 9 to 16 bits.
//!
//! The format has no specification; ncompress is the reference. Two bytes of magic and one byte of
//! flags are followed by codes, lowest bit first. Codes come in groups of eight, and a group is
//! padded when the code width changes. There is neither an end mark nor a checksum, so damage is
//! only visible as a code that is not defined yet.
//!
//! The LZW crates (`weezl` 0.2, `lzw` 0.10) read the GIF and TIFF variants: at most 12 bits per
//! code, an end code, and no padding of groups. compress(1) needs 16 bits, has no end code, and in
//! block mode has a clear code that pads its group.

use std::io::{self, BufRead, Read};

use crate::read::error;

/// The clear code, which empties the table in block mode.
const CLEAR: usize = 256;

/// Width of the first codes, in bits.
const MIN_WIDTH: u32 = 9;

/// Width of the widest codes that compress writes, in bits.
const MAX_WIDTH: u32 = 16;

/// Reader of the unpacked bytes of a compressed stream.
///
/// Holds a table of 65,536 entries.
pub(super) struct LzwReader<R> {
    input: R,
    /// Maximum width of a code in this stream, in bits; 0 before the header is read.
    max_width: u32,
    /// `true` in block mode, where code 256 empties the table.
    block_mode: bool,
    /// Width of the next code, in bits.
    width: u32,
    /// Bits that were read but not used yet, lowest first.
    bits: u64,
    /// Number of these bits.
    bit_count: u32,
    /// Number of codes read in the current group.
    in_group: u32,
    /// For each code from 256: the code of its string without the last byte.
    prefix: Vec<u16>,
    /// For each code from 256: the last byte of its string.
    suffix: Vec<u8>,
    /// The next undefined code.
    free: usize,
    /// The code before the next one, and the first byte of its string. `None` at the start and
    /// after a clear code.
    previous: Option<(usize, u8)>,
    /// The part of the last code's string that was not returned yet, last byte first.
    stack: Vec<u8>,
}

impl<R: BufRead> LzwReader<R> {
    pub(super) fn new(input: R) -> LzwReader<R> {
        LzwReader {
            input,
            max_width: 0,
            block_mode: false,
            width: MIN_WIDTH,
            bits: 0,
            bit_count: 0,
            in_group: 0,
            prefix: vec![0; 1 << MAX_WIDTH],
            suffix: vec![0; 1 << MAX_WIDTH],
            free: CLEAR,
            previous: None,
            stack: Vec::new(),
        }
    }

    /// Reads magic and flags.
    fn read_header(&mut self) -> io::Result<()> {
        let mut header = [0; 3];
        self.input.read_exact(&mut header)?;
        self.max_width = u32::from(header[2] & 0x1F);
        self.block_mode = header[2] & 0x80 != 0;
        self.free = self.first_free();
        if (MIN_WIDTH..=MAX_WIDTH).contains(&self.max_width) {
            Ok(())
        } else {
            Err(error::damage(format!(
                "has codes of {} bits, which compress does not write",
                self.max_width
            )))
        }
    }

    fn first_free(&self) -> usize {
        if self.block_mode { CLEAR + 1 } else { CLEAR }
    }

    /// Reads the next code. Returns `None` if too few bits are left.
    fn read_code(&mut self) -> io::Result<Option<usize>> {
        while self.bit_count < self.width {
            let Some(&byte) = self.input.fill_buf()?.first() else {
                return Ok(None);
            };
            self.input.consume(1);
            self.bits |= u64::from(byte) << self.bit_count;
            self.bit_count += 8;
        }
        let code = self.bits & ((1 << self.width) - 1);
        self.bits >>= self.width;
        self.bit_count -= self.width;
        self.in_group = (self.in_group + 1) % 8;
        Ok(Some(code as usize))
    }

    /// Skips the padding of the current group and changes the code width.
    fn set_width(&mut self, width: u32) -> io::Result<()> {
        while self.in_group != 0 && self.read_code()?.is_some() {}
        self.in_group = 0;
        self.width = width;
        Ok(())
    }

    /// Puts the string of the next code on the stack. Returns `false` at the end.
    fn fill_stack(&mut self) -> io::Result<bool> {
        if self.free >= 1 << self.width && self.width < self.max_width {
            self.set_width(self.width + 1)?;
        }
        let Some(code) = self.read_code()? else {
            return Ok(false);
        };
        if self.block_mode && code == CLEAR {
            self.set_width(MIN_WIDTH)?;
            self.free = self.first_free();
            self.previous = None;
            return Ok(true);
        }
        let known = if code < CLEAR {
            code
        } else {
            self.known_code(code)?
        };
        self.push_string(known);
        let first = self.stack.last().copied().unwrap_or_default();
        if let Some((previous, _)) = self.previous
            && self.free < 1 << self.max_width
        {
            self.prefix[self.free] = previous as u16;
            self.suffix[self.free] = first;
            self.free += 1;
        }
        self.previous = Some((code, first));
        Ok(true)
    }

    /// Returns a code whose string is in the table. The next free code stands for the previous
    /// code's string followed by its first byte; this function puts that byte on the stack.
    fn known_code(&mut self, code: usize) -> io::Result<usize> {
        match self.previous {
            Some(_) if code < self.free => Ok(code),
            Some((previous, first)) if code == self.free && self.free < 1 << self.max_width => {
                self.stack.push(first);
                Ok(previous)
            }
            _ => Err(error::damage(
                "its compressed data is damaged: a code without a meaning",
            )),
        }
    }

    /// Puts the string of a code on the stack.
    fn push_string(&mut self, mut code: usize) {
        // Each prefix is a smaller code, so the loop terminates.
        while code >= CLEAR {
            self.stack.push(self.suffix[code]);
            code = usize::from(self.prefix[code]);
        }
        self.stack.push(code as u8);
    }
}

impl<R: BufRead> Read for LzwReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.max_width == 0 {
            self.read_header()?;
        }
        let mut given = 0;
        while given < buffer.len() {
            match self.stack.pop() {
                Some(byte) => {
                    buffer[given] = byte;
                    given += 1;
                }
                None if given > 0 => break,
                None if !self.fill_stack()? => break,
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

    /// Compresses like compress(1), without clear codes.
    pub(in crate::read) fn packed(text: &[u8], max_width: u32) -> Vec<u8> {
        let mut out = vec![0x1F, 0x9D, 0x80 | max_width as u8];
        let mut group: Vec<(usize, u32)> = Vec::new();
        let mut table: HashMap<(usize, u8), usize> = HashMap::new();
        let (mut free, mut width) = (CLEAR + 1, MIN_WIDTH);
        let flush = |group: &mut Vec<(usize, u32)>, out: &mut Vec<u8>, fill: bool| {
            let Some(&(_, width)) = group.first() else {
                return;
            };
            let (mut bits, mut held) = (0_u128, 0);
            for (code, width) in group.iter() {
                bits |= (*code as u128) << held;
                held += width;
            }
            let bytes = if fill {
                width as usize
            } else {
                held.div_ceil(8) as usize
            };
            out.extend(&bits.to_le_bytes()[..bytes]);
            group.clear();
        };
        let mut current: Option<usize> = None;
        let mut emit = |code: usize, free: usize, out: &mut Vec<u8>| {
            // The reader's table has one entry less than this one.
            if free > 1 << width && width < max_width {
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
            if free < 1 << max_width {
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

    fn unpacked(packed: &[u8]) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        LzwReader::new(packed).read_to_end(&mut out).map(|_| out)
    }

    #[test]
    fn a_file_made_by_compress_is_unpacked() {
        let bytes = include_bytes!("../../../../../corpus/containers/lines.txt.Z");
        let line = |n: u64| format!("{n} http://a.example/{}\n", n * 7_919 % 10_007);
        let digits = |n: u64| format!("{:016X}\n", n.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let text: Vec<String> = (0..1_000)
            .map(line)
            .chain((0..500).map(digits))
            .chain((0..1_000).map(line))
            .collect();
        assert_eq!(
            String::from_utf8(unpacked(bytes).unwrap()).unwrap(),
            text.concat()
        );
    }

    #[test]
    fn codes_of_every_width_are_unpacked() {
        let text: Vec<u8> = (0..80_000_u32)
            .flat_map(|n| (n.wrapping_mul(2_654_435_761) >> 7).to_le_bytes())
            .collect();
        for width in 10..=16 {
            assert!(unpacked(&packed(&text, width)).unwrap() == text, "{width}");
        }
    }

    #[test]
    fn a_run_uses_the_next_undefined_code() {
        assert_eq!(
            unpacked(&packed(&[b'a'; 1_000], 16)).unwrap(),
            [b'a'; 1_000]
        );
        assert_eq!(unpacked(&packed(b"", 16)).unwrap(), b"");
    }

    #[test]
    fn undefined_codes_are_damage() {
        let mut bytes = packed(b"http://a.example/", 16);
        bytes[5..].fill(0xFF);
        assert!(
            unpacked(&bytes)
                .unwrap_err()
                .to_string()
                .contains("without a meaning")
        );
        assert!(unpacked(b"\x1F\x9D\x9F").is_err());
    }
}
