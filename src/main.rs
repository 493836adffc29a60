//! The `urlspool` program: everything is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    urlspool::cli::run()
}
