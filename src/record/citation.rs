//! Citations of a URL as lines: for people, as a table, or as JSON with the names of the record's
//! fields. Links with the numbers of their citations as a table or as JSON.

use serde::Serialize;

use super::format::{GrepStyle, TableSyntax};
use super::found_row::FoundRow;
use super::json_text::append_json_line;
use super::names::list_names;
use crate::diagnostic::printable;

/// A row of a list of citations or links.
pub trait ListRow: Serialize + Sized {
    /// The names of the columns of [`ListRow::write_row`].
    const COLUMNS: &'static [&'static str];

    /// Appends a row of a table.
    fn write_row(&self, syntax: TableSyntax, out: &mut Vec<u8>);

    /// Appends a line of JSON. That of a citation is read by `urlspool show`.
    fn write_json(&self, out: &mut Vec<u8>) {
        append_json_line(out, self);
    }
}

/// A record that cites a URL, with the conversation around it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Citation {
    /// The fields of the record that a search finds.
    #[serde(flatten)]
    pub found: FoundRow,
    /// Number of quote marks before the URL: above 0 somebody quoted an earlier message.
    pub quote_depth: i64,
    /// The `List-Id` of the message.
    pub list_id: Option<String>,
    /// The newsgroups of the message.
    pub newsgroups: Vec<String>,
    /// The first Message-ID of `References`, or that of the message if it has none.
    pub thread: Option<String>,
}

impl Citation {
    /// Returns the names of the mailing list and of the newsgroups, each once.
    #[must_use]
    pub fn lists(&self) -> Vec<String> {
        list_names(self.list_id.as_deref(), &self.newsgroups)
    }

    /// Appends the lines of [`FoundRow::write_text`], with the passage, and below them the list, the
    /// thread, the depth of the quotation and the text of the link, if there are any.
    pub fn write_text(&self, style: GrepStyle, out: &mut Vec<u8>) {
        self.found.write_text(style, out);
        let quoted = (0 < self.quote_depth).then(|| self.quote_depth.to_string());
        for (name, text) in [
            (
                "list",
                Some(self.lists().join(", ")).filter(|text| !text.is_empty()),
            ),
            ("thread", self.thread.clone()),
            ("quoted", quoted),
            ("text", self.found.anchor.clone()),
        ] {
            if let Some(text) = text {
                out.extend_from_slice(format!("  {name:<8}{}\n", printable(&text)).as_bytes());
            }
        }
    }
}

impl ListRow for Citation {
    const COLUMNS: &[&str] = &[
        "message.date",
        "message.from",
        "message.subject",
        "list",
        "thread",
        "quote_depth",
        "url",
        "anchor",
        "passage",
        "source.path",
        "source.start",
        "message.id",
    ];

    fn write_row(&self, syntax: TableSyntax, out: &mut Vec<u8>) {
        let found = &self.found;
        let lists = self.lists().join(" ");
        let (depth, start) = (self.quote_depth.to_string(), found.source.start.to_string());
        let url = found.whole_url();
        let passage = found
            .context
            .as_ref()
            .map(|context| context.passage_text(&url));
        syntax.write_cells(
            [
                found.message.date.as_deref(),
                found.message.from.as_deref(),
                found.message.subject.as_deref(),
                Some(&*lists),
                self.thread.as_deref(),
                Some(&*depth),
                Some(&*url),
                found.anchor.as_deref(),
                passage.as_deref(),
                Some(&*found.source.path),
                Some(&*start),
                found.message.id.as_deref(),
            ],
            out,
        );
    }
}

/// A link with the number of its citations.
#[cfg(feature = "browse")]
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct CitedLink {
    /// The key of the link.
    pub(crate) url: String,
    pub(crate) citations: u64,
}

#[cfg(feature = "browse")]
impl ListRow for CitedLink {
    const COLUMNS: &[&str] = &["url", "citations"];

    fn write_row(&self, syntax: TableSyntax, out: &mut Vec<u8>) {
        let citations = self.citations.to_string();
        syntax.write_cells([Some(&*self.url), Some(&*citations)], out);
    }
}
