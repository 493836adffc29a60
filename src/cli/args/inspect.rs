//! The arguments of `parse`, `show` and `explain`.

use std::ffi::OsString;

use super::values::{KindOption, named};
use crate::config::NamedValue;
use crate::scan::Rules;

/// The arguments of `parse`.
#[derive(clap::Args, Debug)]
pub(crate) struct ParseArgs {
    /// URLs; `-`, or no URL at all, reads them from standard input, one per line
    #[arg(value_name = "URL")]
    pub(crate) urls: Vec<String>,

    /// Read each line of standard input as a JSON string
    #[arg(long)]
    pub(crate) from_json: bool,

    /// Split a fragment (`#...`) off first; it is not part of a URL
    #[arg(long)]
    pub(crate) fragment: bool,

    /// Exit with status 1 if RFC 1738 rejects a URL
    #[arg(long)]
    pub(crate) check: bool,
}

/// The arguments of `show`.
#[derive(clap::Args, Debug)]
pub(crate) struct ShowArgs {
    /// PATH:START-END, in bytes, or PATH:START for the rest of the line, with PATH!MEMBER for a member of an archive;
    /// without it, records are read from standard input
    #[arg(value_name = "PLACE")]
    pub(crate) place: Option<OsString>,
}

/// The arguments of `explain`.
#[derive(clap::Args, Debug)]
pub(crate) struct ExplainArgs {
    /// A file, a member of it if it is an archive, and the offset of a byte of the message; without an offset, the first
    /// message
    #[arg(value_name = "FILE[!MEMBER][:OFFSET]")]
    pub(crate) place: OsString,

    /// FILE is written in base64, as the field `source.path_b64` of records has names that are not UTF-8
    #[arg(long)]
    pub(crate) base64: bool,

    /// Kind of the file, which decides how it is divided into messages
    #[arg(long, value_parser = named::<KindOption>(), default_value = "auto")]
    pub(crate) kind: KindOption,

    /// Rules by which URLs are found
    #[arg(long, value_name = "RULES", value_parser = named::<Rules>(), default_value = Rules::default().name())]
    pub(crate) rules: Rules,
}
