//! The hash of identifiers and keys, which must not collide.

/// Returns the first 128 bits of the BLAKE3 hash of the concatenation of `pieces`. Nobody can
/// construct two inputs with the same hash.
#[must_use]
pub fn hash_pieces(pieces: &[&[u8]]) -> u128 {
    hash(&pieces.concat())
}

fn hash(bytes: &[u8]) -> u128 {
    let mut first = [0; 16];
    first.copy_from_slice(&blake3::hash(bytes).as_bytes()[..16]);
    u128::from_be_bytes(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The hashes are the test vectors of the reference implementation.
    #[test]
    fn hashes_match_the_reference_test_vectors() {
        let text: Vec<u8> = (0..=250).cycle().take(1024).collect();
        for (len, first) in [
            (0, 0xaf13_49b9_f5f9_a1a6_a040_4dea_36dc_c949),
            (1, 0x2d3a_dedf_f11b_61f1_4c88_6e35_afa0_3673),
            (1023, 0x1010_8970_eeda_3eb9_32ba_ac14_28c7_a216),
            (1024, 0x4221_4739_f095_a406_f3fc_83de_b889_744a),
        ] {
            assert_eq!(hash(&text[..len]), first, "{len}");
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
                    hash(&text[..len]),
                    "{len} {at}"
                );
            }
        }
    }
}
