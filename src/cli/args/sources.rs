//! The arguments that `scan` and `splits` share.

use super::INPUT;
use super::values::{KindOption, named};

/// The arguments about the sources.
#[derive(clap::Args, Debug)]
pub(crate) struct SourceArgs {
    /// Kind of the sources, which decides how they are divided into messages
    #[arg(long, value_parser = named::<KindOption>(), default_value = "auto", help_heading = INPUT)]
    pub(crate) kind: KindOption,

    /// Read only files that match GLOB, or are in a folder that matches; can be given again
    #[arg(long, value_name = "GLOB", help_heading = INPUT)]
    pub(crate) include: Vec<String>,

    /// Skip files and folders that match GLOB; can be given again
    ///
    /// A GLOB without a slash is compared with the names of files and folders. One with a slash is compared with the path
    /// beneath the PATH that was given, and with the whole path; a slash at its start stands for that PATH, one at its end
    /// is ignored. `*` stands for any characters but a slash, `**` for any folders, `?` for one character, `[a-z]` for one
    /// of these, `{a,b}` for either. `--exclude` takes precedence over `--include`.
    #[arg(long, value_name = "GLOB", help_heading = INPUT)]
    pub(crate) exclude: Vec<String>,

    /// Follow symbolic links that stay beneath their root
    #[arg(long, help_heading = INPUT)]
    pub(crate) follow: bool,
}
