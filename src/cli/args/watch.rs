//! The arguments of `watch` and `status`.

use std::path::PathBuf;

use super::values::named;
use crate::config::{NamedValue, named_values};

/// The arguments of `watch`.
#[derive(clap::Args, Debug)]
pub(crate) struct WatchArgs {
    /// The configuration file; SIGHUP reads it again [default: the first of several places]
    ///
    /// Without it, the file that URLSPOOL_CONFIG names is read, or the first that exists of
    /// urlspool/urlspool.toml in the folder XDG_CONFIG_HOME (~/.config if it is not set) and
    /// /etc/urlspool/urlspool.toml.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// Read everything that is new, seal the segment, and exit
    #[arg(long)]
    pub(crate) once: bool,

    /// Rebuild a lost or damaged state from the sidecars first
    ///
    /// Messages that no sidecar lists are read again, and their records written again; the log says so. The old database is
    /// kept as state.db.old.
    #[arg(long)]
    pub(crate) rebuild_state: bool,

    /// Format of the log
    #[arg(long, value_parser = named::<LogFormat>(), default_value = LogFormat::default().name())]
    pub(crate) log: LogFormat,
}

/// The format of the daemon's log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum LogFormat {
    /// One line of text for each event (the default).
    #[default]
    Text,
    /// One JSON object for each event.
    Json,
}

named_values! {
    LogFormat {
        Text = "text": "One line of text for each event",
        Json = "json": "One JSON object for each event",
    }
}

/// The arguments of `status`.
#[derive(clap::Args, Debug)]
pub(crate) struct StatusArgs {
    /// The daemon's configuration file [default: as for `watch`]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}
