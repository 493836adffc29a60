//! The arguments that `scan` and `splits` share.

use super::values::{KindOption, named};

/// The arguments about the sources.
#[derive(clap::Args, Debug)]
pub(crate) struct SourceArgs {
    /// Kind of the sources, which decides how they are divided into messages
    #[arg(long, value_parser = named::<KindOption>(), default_value = "auto")]
    pub(crate) kind: KindOption,

    /// Read only files that match GLOB; can be given again
    #[arg(long, value_name = "GLOB")]
    pub(crate) include: Vec<String>,

    /// Skip files that match GLOB; can be given again
    #[arg(long, value_name = "GLOB")]
    pub(crate) exclude: Vec<String>,

    /// Follow symbolic links that stay beneath their root
    #[arg(long)]
    pub(crate) follow: bool,
}
