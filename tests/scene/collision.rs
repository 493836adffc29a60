//! Two messages that differ in a URL but share one `message.digest`.

/// Offsets of two places in the canonical form at which XXH3 multiplies 32 bits with other bits.
/// The message has the bytes of the secret before each place, which makes the products zero, so
/// that only the sum of the bytes at both places counts.
const PLACES: [usize; 2] = [1220, 1540];

/// The bytes of the secret before each place.
const SECRETS: [[u8; 4]; 2] = [*b"r@\xA4\xA4", *b"<(R\xBB"];

/// Bytes at both places. Read as numbers, they have equal sums.
const BYTES: [[[u8; 4]; 2]; 2] = [
    [*b" -- ", *b"\xA8\xC7\xE6\xAB"],
    [*b"http", *b"\x60\x80\x9F\x5B"],
];

/// Returns two messages with one digest and one URL, `http://benign.example/`. The second also
/// contains `http://evil.example/payload`.
pub(crate) fn colliding_messages() -> [Vec<u8>; 2] {
    BYTES.map(|bytes| {
        let head = "From: m@x.example\nSubject: Minutes\nMessage-ID: <1@x.example>\n\n";
        let mut text = format!("{head}See http://benign.example/ for the text. ").into_bytes();
        let rest: [&[u8]; 2] = [
            b"://evil.example/payload ",
            b" end.\nThe last 64 bytes are hashed in another way, so that they must be the same in \
             both.\n",
        ];
        for at in 0..2 {
            while text.len() < PLACES[at] - 5 {
                text.extend(if text.len() % 40 == 0 { b"\n" } else { b"x" });
            }
            for piece in [b" ", &SECRETS[at][..], &bytes[at], rest[at]] {
                text.extend(piece);
            }
        }
        text
    })
}
