//! `urlspool browse`.

use super::args::BrowseArgs;
use super::error::{CommandError, CommandResult, Exit};
use super::load::load_error;
use super::search::check_is_file;
use super::terminal::print_message;
use crate::browse::{BrowseError, Browser};

pub(super) fn browse(args: &BrowseArgs) -> CommandResult {
    check_is_file(&args.database)?;
    let failed = |error: BrowseError| match error {
        BrowseError::Database(error) => load_error(&error),
        BrowseError::Listen(error) => CommandError::new(
            Exit::Unreachable,
            format!(
                "cannot listen on {}: {error}; name another port with --listen 127.0.0.1:PORT",
                args.listen
            ),
        ),
    };
    let browser =
        Browser::open(&args.database, args.files.as_deref(), args.listen).map_err(failed)?;
    let elsewhere = match browser.url_elsewhere() {
        Some(url) => format!(", on another machine {url}"),
        None if browser.is_on_all_addresses() => {
            ", on another machine with the name of this one in it".to_owned()
        }
        None => String::new(),
    };
    print_message(format_args!(
        "urlspool: open {} in a browser{elsewhere}; Ctrl-C ends it",
        browser.url()
    ));
    let waits = |error: &std::io::Error| {
        print_message(format_args!(
            "urlspool: cannot accept clients, waiting: {error}"
        ));
    };
    match browser.serve(waits).map_err(failed)? {}
}
