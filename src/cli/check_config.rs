//! `urlspool check-config`.

use std::io;
use std::path::Path;

use super::args::CheckConfigArgs;
use super::config_path::{config_error, daemon_config};
use super::error::CommandResult;
use super::stdout::print;
use crate::config::{Config, ConfigFileError};
use crate::origin::Source;

pub(super) fn check_config(args: &CheckConfigArgs) -> CommandResult {
    if args.default {
        return print(Config::commented_default().as_bytes());
    }
    let path = daemon_config(args.file.as_deref())?;
    let config = read(&path).map_err(|error| config_error(&error, args.file.as_deref()))?;
    print(config.resolved().as_bytes())
}

/// Reads and checks a configuration.
fn read(path: &Path) -> Result<Config, ConfigFileError> {
    let is_stdin = path.as_os_str() == Source::STDIN;
    let (config, path) = if is_stdin {
        let path = Path::new("standard input");
        let config = Config::read_from(io::stdin().lock());
        (config.map_err(|error| error.in_file(path))?, path)
    } else {
        (Config::read(path)?, path)
    };
    let checked = if config.spool.is_empty() {
        config.check_folders()
    } else {
        config.check_watch()
    };
    checked
        .map(|()| config)
        .map_err(|error| error.in_file(path))
}
