//! Blocks of header lines that mail programs put before the message that is answered or forwarded.
//!
//! Outlook writes no line of hyphens, but the fields in the language of its user:
//! `Von:`, `Gesendet:`, `An:`, `Betreff:`.

/// The names of the fields in one language.
struct FieldNames {
    from: &'static str,
    /// The field that only this kind of block has.
    sent: &'static [&'static str],
    /// The field that pasted headers have, too.
    date: &'static str,
    to: &'static str,
    copy: &'static [&'static str],
    subject: &'static str,
}

const fn language(
    names: [&'static str; 4],
    sent: &'static [&'static str],
    copy: &'static [&'static str],
) -> FieldNames {
    let [from, date, to, subject] = names;
    FieldNames {
        from,
        sent,
        date,
        to,
        copy,
        subject,
    }
}

const COPY: &[&str] = &["Cc", "CC", "Bcc"];

/// The languages of Outlook that occur in archives.
const LANGUAGES: [FieldNames; 9] = [
    language(["From", "Date", "To", "Subject"], &["Sent"], COPY),
    language(
        ["Von", "Datum", "An", "Betreff"],
        &["Gesendet"],
        &["Cc", "CC", "Bcc", "Kopie"],
    ),
    language(
        ["De", "Date", "\u{c0}", "Objet"],
        &["Envoy\u{e9}", "Envoy\u{e9} le"],
        COPY,
    ),
    language(
        ["De", "Fecha", "Para", "Asunto"],
        &["Enviado", "Enviado el"],
        COPY,
    ),
    language(
        ["De", "Data", "Para", "Assunto"],
        &["Enviado", "Enviada", "Enviado em", "Enviada em"],
        COPY,
    ),
    language(["Da", "Data", "A", "Oggetto"], &["Inviato"], COPY),
    language(["Van", "Datum", "Aan", "Onderwerp"], &["Verzonden"], COPY),
    language(
        ["Fr\u{e5}n", "Datum", "Till", "\u{c4}mne"],
        &["Skickat"],
        &["Kopia", "Cc"],
    ),
    language(
        [
            "\u{53d1}\u{4ef6}\u{4eba}",
            "\u{65e5}\u{671f}",
            "\u{6536}\u{4ef6}\u{4eba}",
            "\u{4e3b}\u{9898}",
        ],
        &["\u{53d1}\u{9001}\u{65f6}\u{95f4}"],
        &["\u{6284}\u{9001}"],
    ),
];

/// Maximum length of a block. Longer ones have many recipients, and are not recognised.
const BLOCK_BYTES: usize = 4_096;

/// Maximum number of lines in a block between two fields, which a field was folded over.
const FOLDED_LINES: usize = 8;

/// Returns `true` if a block begins at the start of `text`, which is the start of a line: the sender,
/// the time, and last the subject, each once, with no other field in between. Of the time the name
/// `Date` counts only before that of the recipient: copies of headers and patches have other orders.
pub(super) fn begins_block(text: &[u8]) -> bool {
    let text = &text[..text.len().min(BLOCK_BYTES)];
    let Some(first) = field_name(text) else {
        return false;
    };
    LANGUAGES
        .iter()
        .any(|names| first == names.from.as_bytes() && names.is_followed(text))
}

impl FieldNames {
    /// Returns `true` if the lines after the first are those of a block.
    fn is_followed(&self, text: &[u8]) -> bool {
        let is = |name: &[u8], known: &str| name == known.as_bytes();
        let is_any = |name: &[u8], known: &[&str]| known.iter().any(|known| is(name, known));
        let (mut is_sent, mut is_dated, mut is_addressed, mut folded) = (false, false, false, 0);
        for line in text.split(|&byte| byte == b'\n').skip(1) {
            let name = field_name(line).unwrap_or_default();
            if is(name, self.subject) {
                return is_sent || is_dated && is_addressed;
            } else if is_any(name, self.sent) && !is_sent {
                is_sent = true;
            } else if is(name, self.date) && !is_dated && !is_addressed {
                is_dated = true;
            } else if is(name, self.to) && !is_addressed {
                is_addressed = true;
            } else if !is_any(name, self.copy) {
                folded += 1;
                let is_folded = folded <= FOLDED_LINES
                    && !line.trim_ascii().is_empty()
                    && (name.is_empty() || line.starts_with(b" ") || line.starts_with(b"\t"));
                if !is_folded {
                    return false;
                }
            }
        }
        false
    }
}

/// Maximum length of a name in bytes, with marks of bold type.
const NAME_BYTES: usize = 32;

/// Returns the name of the field at the start of a line, without marks of bold type
/// (`*From:* Joe`) and the blank that French has before a colon.
fn field_name(line: &[u8]) -> Option<&[u8]> {
    let stars = line.iter().take_while(|&&byte| byte == b'*').count();
    let start = &line[stars..line.len().min(stars + NAME_BYTES)];
    // The colon may be full-width (U+FF1A). No name has a character with its first byte.
    let name = &start[..memchr::memchr3(b':', b'\n', 0xEF, start)?];
    let name = name.strip_suffix("\u{a0}".as_bytes()).unwrap_or(name);
    let name = name.trim_ascii_end();
    Some(name.strip_suffix(b"*").unwrap_or(name)).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, found: &[usize]) {
        let lines = text.match_indices('\n').map(|(end, _)| end + 1);
        let starts = std::iter::once(0).chain(lines);
        let blocks = starts.filter(|&at| begins_block(&text.as_bytes()[at..]));
        assert_eq!(blocks.collect::<Vec<_>>(), found, "{text}");
    }

    #[test]
    fn outlook_writes_the_fields_in_the_language_of_its_user() {
        for block in [
            "From: Joe <joe@a.example>\nSent: Monday, 1 May 2006\nTo: jane; list\nSubject: x\n",
            "From: Joe\r\nSent: Monday\r\nTo: jane;\r\n list\r\nCc: b\r\nSubject: RE: x\r\n",
            "*From:* Joe\n*Sent:* Monday\n*To:* jane\n*Subject:* x\n",
            "From: \"Joe\" <joe@a.example>\nTo: <list>\nSent: Monday\nSubject: x\n",
            "From: Joe\nDate: Monday\nTo: jane\nSubject: x\n",
            "Von: Joe\nGesendet: Montag\nAn: jane\nBetreff: x\n",
            "De : Joe\nEnvoy\u{e9}\u{a0}: lundi\n\u{c0} : jane\nObjet : x\n",
            "De: Joe\nEnviado el: lunes\nPara: jane\nAsunto: x\n",
            "De: Joe\nEnviado: segunda-feira\nAssunto: x\n",
            "Da: Joe\nInviato: luned\u{ec}\nA: jane\nOggetto: x\n",
            "Van: Joe\nVerzonden: maandag\nAan: jane\nOnderwerp: x\n",
            "Fr\u{e5}n: Joe\nSkickat: m\u{e5}ndag\nTill: jane\n\u{c4}mne: x\n",
            "\u{53d1}\u{4ef6}\u{4eba}\u{ff1a}Joe\n\u{53d1}\u{9001}\u{65f6}\u{95f4}\u{ff1a}1\n\u{4e3b}\u{9898}\u{ff1a}x\n",
        ] {
            check(block, &[0]);
            check(
                &format!("text\n{block}text\n{block}"),
                &[5, 10 + block.len()],
            );
        }
    }

    #[test]
    fn other_header_lines_begin_no_block() {
        for text in [
            "From: Joe\nSubject: x\n",
            // A patch, and a copy of a header.
            "From: Joe\nDate: Mon, 1 May 2006\nSubject: [PATCH] x\n",
            "From: Joe\nMessage-ID: <1@a.example>\nDate: Monday\nTo: jane\nSubject: x\n",
            "From: Joe\nTo: jane\nSubject: x\nDate: Monday\n",
            "> From: Joe\n> Sent: Monday\n> To: jane\n> Subject: x\n",
            "From: Joe\n\nSent: Monday\nTo: jane\nSubject: x\n",
            "From: Joe\nSent: Monday\nTo: jane\n",
            "Von: Joe\nSent: Monday\nTo: jane\nSubject: x\n",
            "From here to there: a way\nSent: x\nSubject: x\n",
        ] {
            check(text, &[]);
        }
    }
}
