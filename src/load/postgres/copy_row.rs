//! Rows in the text format of `COPY`: columns divided by tabs, `\N` for null.

use std::fmt::{Display, Write};

use crate::load::target::LoadRow;
use crate::load::words::each_word;
use crate::record::JsonList;

/// Maximum size of a word in a tsvector, in bytes. Longer ones are left out.
const WORD_BYTES: usize = 2_046;

/// Largest position in a tsvector.
const LAST_POSITION: usize = 16_383;

/// Maximum size of a tsvector, in bytes, with room for its own data.
const VECTOR_BYTES: usize = 512 << 10;

/// Appends the columns of the table `staging`.
pub(super) fn append_row(row: &LoadRow<'_>, number: u64, cited: Option<&str>, out: &mut String) {
    let (record, mut columns) = (row.record, CopyRow { out });
    let (source, message) = (&record.source, &record.message);
    columns.shown(number);
    columns.hash(row.record_key);
    columns.hash(row.source_key);
    columns.text(&record.id);
    columns.optional(record.key.as_deref());
    match record.key_hash() {
        Some(hash) => columns.hash(hash),
        None => columns.null(),
    }
    columns.text(&record.url);
    columns.optional(record.fragment.as_deref());
    columns.text(&record.scheme);
    columns.optional(record.host.as_deref());
    columns.optional(record.domain.as_deref());
    columns.optional_shown(record.port);
    columns.optional(record.href.as_deref());
    columns.optional(cited);
    columns.list(&record.conforms);
    columns.list(&record.warnings);
    columns.list(&record.hazards);
    columns.optional(record.form.as_deref());
    columns.text(&record.wrapper);
    columns.list(&record.repairs);
    columns.shown(record.confidence);
    columns.shown(record.truncated);
    columns.text(&record.region);
    columns.shown(record.quote_depth);
    columns.optional(record.anchor.as_deref());
    columns.optional_shown(record.mismatch);
    columns.optional(record.unwrapped_from.as_deref());
    columns.optional(record.unwrapped_by.as_deref());
    columns.text(&source.path);
    columns.optional(source.path_b64.as_deref());
    columns.optional(source.member.as_ref().map(JsonList::json));
    columns.optional(source.member_b64.as_ref().map(JsonList::json));
    columns.text(&source.mailbox);
    columns.text(&source.kind);
    columns.shown(source.start);
    columns.shown(source.end);
    columns.shown(source.line);
    columns.shown(source.exact);
    columns.optional_shown(record.count);
    columns.optional(message.id.as_deref());
    columns.text(&message.digest);
    columns.optional(message.date.as_deref());
    columns.optional(message.date_raw.as_deref());
    columns.optional(message.from.as_deref());
    columns.optional(message.subject.as_deref());
    columns.list(&message.newsgroups);
    columns.optional(message.list_id.as_deref());
    columns.list(&message.references);
    append_words(row, columns.out);
    columns.out.push('\n');
}

/// Appends the tsvector of the texts that are searched. Between two texts is a gap, so that no phrase spans them.
fn append_words(row: &LoadRow<'_>, out: &mut String) {
    let record = row.record;
    let texts = [
        Some(&*record.url),
        record.anchor.as_deref(),
        record.message.subject.as_deref(),
        record.message.from.as_deref(),
    ];
    let (mut position, limit) = (0, out.len() + VECTOR_BYTES);
    for text in texts {
        each_word(text.unwrap_or_default(), |word| {
            position += 1;
            if word.len() <= WORD_BYTES && out.len() < limit {
                let _ = write!(out, "'{word}':{} ", position.min(LAST_POSITION));
            }
        });
        position += 1;
    }
}

/// The columns of a row.
struct CopyRow<'o> {
    out: &'o mut String,
}

impl CopyRow<'_> {
    fn text(&mut self, text: &str) {
        for c in text.chars() {
            match c {
                '\\' => self.out.push_str("\\\\"),
                '\n' => self.out.push_str("\\n"),
                '\r' => self.out.push_str("\\r"),
                '\t' => self.out.push_str("\\t"),
                c => self.out.push(c),
            }
        }
        self.out.push('\t');
    }

    fn optional(&mut self, text: Option<&str>) {
        match text {
            Some(text) => self.text(text),
            None => self.null(),
        }
    }

    fn list(&mut self, list: &JsonList) {
        self.text(list.json());
    }

    fn shown(&mut self, value: impl Display) {
        // A String takes all texts.
        let _ = write!(self.out, "{value}\t");
    }

    fn optional_shown(&mut self, value: Option<impl Display>) {
        match value {
            Some(value) => self.shown(value),
            None => self.null(),
        }
    }

    fn null(&mut self) {
        self.out.push_str("\\N\t");
    }

    /// A hash as a uuid.
    fn hash(&mut self, hash: u128) {
        let _ = write!(self.out, "{hash:032x}\t");
    }
}
