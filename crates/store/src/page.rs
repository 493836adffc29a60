//! HTML pages: self-contained files that are readable without their script.
//!
//! A page consists of sections, tables and charts; the caller provides the content. A folder next
//! to the page may contain its tables as CSV files, all of which are created before the first row
//! is known.

pub mod charts;
pub mod html;

use csv::{Writer, WriterBuilder};
use maud::{Markup, PreEscaped, html};
use serde::{Serialize, Serializer};

use charts::patterns;
use urlspool_files::sink::{OutputError, OutputFile, PAGE_MARK, TableFolder};
use urlspool_record::record::is_formula;
use urlspool_text::diagnostic::{EscapeForm, printable_lines};

/// Style sheet of all pages.
pub const STYLE: &str = include_str!("page/style.css");

/// Script that adds a sort button to each table header.
const SCRIPT: &str = include_str!("page/script.js");

/// SHA-256 of [`STYLE`] for the content security policy.
const STYLE_HASH: &str = "sha256-SjbD39Vpi1LEJjAoZXiIMJ/3x8ns1FhHCZO+Z80VOMw=";

/// SHA-256 of [`SCRIPT`] for the content security policy.
const SCRIPT_HASH: &str = "sha256-PHxd3ZO8sU+eZQnYrcKfc1Hd+1+RytWMuzJBrh7Y6bo=";

/// Renders a page. `header` is the markup after its title.
#[must_use]
pub fn document(title: &str, header: &Markup, main: &Markup) -> String {
    let page = html! {
        (PreEscaped("<!doctype html>\n"))
        html lang="en" { "\n"
            (head(title))
            body { "\n"
                header { "\n"
                    h1 { (title) } "\n"
                    (header)
                } "\n"
                main { "\n"
                    (patterns())
                    (main)
                } "\n"
                footer { p {
                    "Made by urlspool " (env!("CARGO_PKG_VERSION")) ". This file needs no network."
                } } "\n"
                script { (PreEscaped(SCRIPT)) } "\n"
            } "\n"
        } "\n"
    };
    page.into_string()
}

fn head(title: &str) -> Markup {
    let policy = format!(
        "default-src 'none'; style-src '{STYLE_HASH}'; script-src '{SCRIPT_HASH}'; base-uri \
         'none'; form-action 'none'"
    );
    html! {
        head { "\n"
            meta charset="utf-8"; "\n"
            (PreEscaped(PAGE_MARK)) "\n"
            meta http-equiv="Content-Security-Policy" content=(policy); "\n"
            meta name="viewport" content="width=device-width, initial-scale=1"; "\n"
            meta name="color-scheme" content="light dark"; "\n"
            meta name="referrer" content="no-referrer"; "\n"
            title { (title) } "\n"
            style { (PreEscaped(STYLE)) } "\n"
        } "\n"
    }
}

/// Size of the write buffer of each file.
const BUFFER_BYTES: usize = 256 << 10;

/// CSV files of a folder.
pub struct TableFiles {
    files: Vec<(&'static str, Writer<OutputFile>)>,
}

impl TableFiles {
    /// Creates a file for each name and writes the header row. Column names are separated by
    /// commas.
    ///
    /// # Errors
    ///
    /// A file cannot be written.
    pub fn create(
        folder: &TableFolder,
        tables: impl IntoIterator<Item = (&'static str, String)>,
    ) -> Result<TableFiles, OutputError> {
        let mut files = Vec::new();
        for (name, columns) in tables {
            let file = OutputFile::create(&folder.path.join(name))?;
            let mut options = WriterBuilder::new();
            options.has_headers(false).buffer_capacity(BUFFER_BYTES);
            let mut file = options.from_writer(file);
            put(&mut file, columns.split(',').collect::<Vec<_>>())?;
            files.push((name, file));
        }
        Ok(TableFiles { files })
    }

    /// Appends rows to the file with this name.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn write<R: Serialize>(
        &mut self,
        name: &str,
        rows: impl IntoIterator<Item = R>,
    ) -> Result<(), OutputError> {
        let Some((_, file)) = self.files.iter_mut().find(|(of, _)| *of == name) else {
            return Ok(());
        };
        rows.into_iter().try_for_each(|row| put(file, row))
    }

    /// Completes all files and gives them their final names.
    ///
    /// # Errors
    ///
    /// A file cannot be written.
    pub fn finish(self) -> Result<(), OutputError> {
        for (_, file) in self.files {
            let path = file.get_ref().path.clone();
            let file = file.into_inner();
            let file = file.map_err(|error| OutputError::unwritable(&path, error.into_error()));
            file?.finish()?;
        }
        Ok(())
    }
}

fn put(file: &mut Writer<OutputFile>, row: impl Serialize) -> Result<(), OutputError> {
    file.serialize(row)
        .map_err(|error| OutputError::unwritable(&file.get_ref().path, error.into()))
}

/// Untrusted text in a table. If a spreadsheet would read it as a formula, it is prefixed with an
/// apostrophe. Control characters are escaped, except line feeds and tabs.
pub struct TableText<'t>(pub &'t str);

impl Serialize for TableText<'_> {
    fn serialize<S: Serializer>(&self, cell: S) -> Result<S::Ok, S::Error> {
        let is_formula = is_formula(self.0.as_bytes());
        let guard = if is_formula { "'" } else { "" };
        let text = printable_lines(self.0.as_bytes(), EscapeForm::Text);
        let text = String::from_utf8_lossy(&text);
        cell.collect_str(&format_args!("{guard}{text}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ring::digest::{SHA256, digest};

    #[test]
    fn the_hashes_match_the_style_and_the_script() {
        for (text, expected) in [(STYLE, STYLE_HASH), (SCRIPT, SCRIPT_HASH)] {
            let hash = data_encoding::BASE64.encode(digest(&SHA256, text.as_bytes()).as_ref());
            assert_eq!(format!("sha256-{hash}"), expected);
        }
    }
}
