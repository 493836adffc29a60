//! The arguments of `stats`.

use std::path::PathBuf;

use super::values::{count, threads};
use super::{GENERAL, OUTPUT, SourceArgs, When};

/// The arguments of `stats`.
#[derive(clap::Args, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag that is given or not"
)]
pub(crate) struct StatsArgs {
    /// Files and folders of mail; or a database that `load` made; or records (JSON lines), and
    /// folders of segments
    ///
    /// `-`, or no path at all, is standard input: mail or records. What a path is shows its
    /// beginning.
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) sources: SourceArgs,

    /// Show the N first names of each list
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = count::<u32>, help_heading = OUTPUT)]
    pub(crate) top: u32,

    /// Print one line of JSON
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,

    /// Write the numbers as CSV files into FOLDER, which is created if it is missing
    #[arg(long, value_name = "FOLDER", help_heading = OUTPUT)]
    pub(crate) csv: Option<PathBuf>,

    /// Write a page with charts to FILE, which is replaced when it is complete; `-` is standard
    /// output
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) html: Option<PathBuf>,

    /// Replace existing files, also those that do not show that urlspool wrote them
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) force: bool,

    /// Name no senders
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) no_senders: bool,

    /// Number of threads [default: the number of processors]
    #[arg(short = 'j', long, value_name = "N", value_parser = threads, help_heading = GENERAL)]
    pub(crate) threads: Option<u16>,

    /// Report only errors
    #[arg(short, long, help_heading = GENERAL)]
    pub(crate) quiet: bool,

    /// The use of colours, which all commands have.
    #[arg(skip)]
    pub(crate) color: When,
}
