//! The search for a configuration file, and `urlspool config check`.

use std::ffi::OsString;
use std::io;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::error::{CommandError, CommandResult};
use super::terminal::print;
use urlspool_files::config::{CONFIG_VARIABLE as VARIABLE, Config, ConfigError, scan_config};
use urlspool_text::origin::Source;

/// The system-wide configuration file.
const SYSTEM_FILE: &str = "/etc/urlspool/urlspool.toml";

/// Returns the daemon's configuration file: the same as for a scan, or else the first existing one
/// of the default places.
pub(super) fn daemon_config(given: Option<&Path>) -> Result<PathBuf, CommandError> {
    if let Some(path) = scan_config(given) {
        return Ok(path);
    }
    let places = default_places();
    let found = places.iter().find(|path| !is_missing(path));
    found.cloned().ok_or_else(|| {
        let places: Vec<String> = places
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        CommandError::usage(format!(
            "there is no configuration file: {VARIABLE} is not set, and none of {} exists; pass \
             --config FILE, write one with `urlspool config default`, or watch without \
             one: `urlspool watch ~/Maildir`",
            places.join(", ")
        ))
    })
}

/// Returns `true` if the file does not exist. An unreadable file is not skipped.
fn is_missing(path: &Path) -> bool {
    path.metadata()
        .is_err_and(|error| error.kind() == ErrorKind::NotFound)
}

/// Reads a configuration file of [`daemon_config`], which was called with `given`.
pub(super) fn read_config(path: &Path, given: Option<&Path>) -> Result<Config, CommandError> {
    Config::read(path).map_err(|error| config_error(&error, given))
}

/// Returns the error in a configuration file, with a note if the variable named the file.
pub(super) fn config_error(error: &ConfigError, given: Option<&Path>) -> CommandError {
    let error = CommandError::config(error);
    match variable(VARIABLE) {
        Some(_) if given.is_none() => error.with_note(&format!("{VARIABLE} names this file")),
        _ => error,
    }
}

/// The user's file and the system-wide file.
fn default_places() -> Vec<PathBuf> {
    let xdg = variable("XDG_CONFIG_HOME").map(PathBuf::from);
    let folder = xdg
        .filter(|path| path.is_absolute())
        .or_else(|| std::env::home_dir().map(|home| home.join(".config")));
    let user = folder.map(|folder| folder.join("urlspool/urlspool.toml"));
    user.into_iter()
        .chain([PathBuf::from(SYSTEM_FILE)])
        .collect()
}

/// The value of an environment variable that is set and not empty.
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

pub(super) fn check(given: Option<&Path>) -> CommandResult {
    let path = daemon_config(given)?;
    let config = read(&path).map_err(|error| config_error(&error, given))?;
    print(config.resolved().as_bytes())
}

/// Reads and checks a configuration.
fn read(path: &Path) -> Result<Config, ConfigError> {
    let (config, path) = if path.as_os_str() == Source::STDIN {
        let name = Path::new("standard input");
        let config = Config::read_from(io::stdin().lock());
        (config.map_err(|error| error.in_file(name))?, name)
    } else {
        (Config::read(path)?, path)
    };
    let checked = if config.spool.is_empty() {
        config.check_folders()
    } else {
        config.check_watch()
    };
    checked.map_err(|error| error.in_file(path))?;
    Ok(config)
}
