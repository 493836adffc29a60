//! Character references in XML and in the pages of mail archives.

/// Decodes numeric character references and the five named entities of XML. Linear.
pub(crate) fn decode_references(text: &str) -> String {
    let mut decoded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        decoded.push_str(&rest[..at]);
        let (len, character) = reference(&rest.as_bytes()[at + 1..]).unwrap_or((0, '&'));
        decoded.push(character);
        rest = &rest[at + 1 + len..];
    }
    decoded + rest
}

/// Returns the length and the character of the reference whose `&` precedes `text`. The length
/// covers the name and the semicolon.
pub(crate) fn reference(text: &[u8]) -> Option<(usize, char)> {
    /// Maximum length of a reference's name: `#` and eight characters.
    const NAME_BYTES: usize = 9;
    let mut start = text.iter().take(NAME_BYTES + 1);
    let len = start.position(|&byte| byte == b';')?;
    let name = std::str::from_utf8(&text[..len]).ok()?;
    Some((len + 1, character(name)?))
}

/// Returns the character of a reference, given without its `&` and `;`.
fn character(name: &str) -> Option<char> {
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        "nbsp" => Some('\u{A0}'),
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hexadecimal) => u32::from_str_radix(hexadecimal, 16),
                None => number.parse(),
            };
            char::from_u32(code.ok()?)
        }
    }
}
