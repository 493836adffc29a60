//! The hash of what a program must not take for something else: identifiers and keys.

use twox_hash::XxHash3_128;

/// Returns the hash of the concatenation of `pieces`.
pub(crate) fn hash_pieces(pieces: &[&[u8]]) -> u128 {
    // There is one call for each record, and most are short: these are concatenated without an allocation.
    const USUAL_BYTES: usize = 256;
    let mut buffer = [0; USUAL_BYTES];
    let len = pieces.iter().map(|piece| piece.len()).sum();
    let Some(joined) = buffer.get_mut(..len) else {
        return XxHash3_128::oneshot(&pieces.concat());
    };
    let mut rest = &mut *joined;
    for piece in pieces {
        let (here, after) = rest.split_at_mut(piece.len());
        here.copy_from_slice(piece);
        rest = after;
    }
    XxHash3_128::oneshot(joined)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Identifiers must be the same on every processor, and the hash has one implementation for each instruction set. The
    /// answers are those of the reference implementation, xxHash 0.8.4.
    #[test]
    fn the_hash_gives_the_answers_of_the_reference() {
        for (len, short, long) in [
            (
                0,
                0x2d06_8005_38d3_94c2,
                0x99aa_06d3_0147_98d8_6001_c324_468d_497f,
            ),
            (
                17,
                0x6331_a734_7274_566f,
                0xeb9e_c83d_311d_d7b9_f93b_0dc5_a4c7_b5ca,
            ),
            (
                129,
                0x619d_c111_5e4d_15ad,
                0xf733_a22c_53d6_dc89_1fe4_dc11_17a2_7928,
            ),
            (
                240,
                0x8806_0493_6179_a23b,
                0x56ff_1d15_8ba3_c873_6c00_8b71_6a0a_3e3e,
            ),
            (
                241,
                0xf6ec_cceb_6853_5f08,
                0x606f_ceda_bb00_503d_f6ec_cceb_6853_5f08,
            ),
            (
                1_024,
                0xdf9d_e2eb_c167_0ac5,
                0x0011_03a1_8617_7873_df9d_e2eb_c167_0ac5,
            ),
            (
                100_000_u64,
                0x76cc_51f1_3275_c3eb,
                0x4a7c_7803_3dbf_cf07_76cc_51f1_3275_c3eb,
            ),
        ] {
            let text: Vec<u8> = (0..len)
                .map(|at| ((at * at * 31 + at * 7 + len) & 255) as u8)
                .collect();
            assert_eq!(twox_hash::XxHash3_64::oneshot(&text), short, "{len}");
            assert_eq!(XxHash3_128::oneshot(&text), long, "{len}");
        }
    }

    #[test]
    fn pieces_are_hashed_as_their_concatenation() {
        let text: Vec<u8> = (0..=255).cycle().take(600).collect();
        for len in [0, 1, 16, 255, 256, 257, 600] {
            for at in [0, len / 3, len] {
                let (before, after) = text[..len].split_at(at);
                assert_eq!(
                    hash_pieces(&[before, b"", after]),
                    XxHash3_128::oneshot(&text[..len]),
                    "{len} {at}"
                );
            }
        }
    }
}
