//! The schemas of the output, made from the table of fields: JSON Schema, and the same for loaders.

mod columns;
mod elasticsearch;
mod json_schema;
mod markdown;

pub use elasticsearch::{ELASTICSEARCH_VERSION, elasticsearch_template};
pub use markdown::record_reference;

/// Languages of a schema.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SchemaLanguage {
    /// JSON Schema, draft 2020-12: of records, rejects, events and messages that are gone.
    #[default]
    JsonSchema,
    /// A Python expression that makes a schema of pyarrow.
    Arrow,
    /// A table of DuckDB.
    Duckdb,
    /// A table of PostgreSQL.
    Postgresql,
    /// An index template of Elasticsearch.
    Elasticsearch,
}

/// Returns the schema of the output as text with a line end.
#[must_use]
pub fn schema(language: SchemaLanguage) -> String {
    match language {
        SchemaLanguage::JsonSchema => json_schema::schema(),
        SchemaLanguage::Arrow => columns::pyarrow_schema(),
        SchemaLanguage::Duckdb => columns::duckdb_table(),
        SchemaLanguage::Postgresql => columns::postgresql_table(),
        SchemaLanguage::Elasticsearch => elasticsearch::index_template(),
    }
}
