//! `urlspool completions`, as the crate `clap_complete` writes them.

use clap::CommandFactory;

use super::args::{Args, CompletionsArgs};
use super::error::CommandResult;
use super::stdout::print;

pub(super) fn completions(args: &CompletionsArgs) -> CommandResult {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "urlspool", &mut script);
    print(&script)
}
