//! Files of comma-separated values in a folder, all of them begun before the first row is known.

use csv::{Writer, WriterBuilder};
use serde::{Serialize, Serializer};

use super::output_file::{OutputError, OutputFile, TableFolder};
use crate::diagnostic::printable;
use crate::record::is_formula;

/// Bytes that are collected before they are written.
const BUFFER_BYTES: usize = 256 << 10;

/// The files of a folder.
pub struct TableFiles {
    files: Vec<(&'static str, Writer<OutputFile>)>,
}

impl TableFiles {
    /// Begins a file for each name, with its columns, which commas separate.
    ///
    /// # Errors
    ///
    /// A file cannot be written.
    pub fn create(
        folder: &TableFolder,
        tables: impl IntoIterator<Item = (&'static str, String)>,
    ) -> Result<TableFiles, OutputError> {
        let begin = |(name, columns): (&'static str, String)| {
            let file = OutputFile::create(&folder.path().join(name))?;
            let mut file = WriterBuilder::new()
                .has_headers(false)
                .buffer_capacity(BUFFER_BYTES)
                .from_writer(file);
            put(&mut file, columns.split(',').collect::<Vec<_>>())?;
            Ok((name, file))
        };
        let files = tables.into_iter().map(begin).collect::<Result<_, _>>()?;
        Ok(TableFiles { files })
    }

    /// Appends rows to the file of this name.
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

    /// Gives all files their names.
    ///
    /// # Errors
    ///
    /// A file cannot be written.
    pub fn finish(self) -> Result<(), OutputError> {
        for (_, file) in self.files {
            let path = file.get_ref().path().to_owned();
            let file = file
                .into_inner()
                .map_err(|error| OutputError::unwritable(&path, error.into_error()))?;
            file.finish()?;
        }
        Ok(())
    }
}

fn put(file: &mut Writer<OutputFile>, row: impl Serialize) -> Result<(), OutputError> {
    file.serialize(row)
        .map_err(|error| OutputError::unwritable(file.get_ref().path(), error.into()))
}

/// A text of others in a table. One that a spreadsheet would take for a formula begins with an
/// apostrophe; characters that a terminal would obey are escaped.
pub struct TableText<'t>(pub &'t str);

impl Serialize for TableText<'_> {
    fn serialize<S: Serializer>(&self, cell: S) -> Result<S::Ok, S::Error> {
        let guard = if is_formula(self.0.as_bytes()) {
            "'"
        } else {
            ""
        };
        cell.collect_str(&format_args!("{guard}{}", printable(self.0)))
    }
}
