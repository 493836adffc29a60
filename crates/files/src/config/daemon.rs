//! The tables of the daemon: output, state, watching, metrics, spools.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use jiff::fmt::serde::unsigned_duration::friendly::compact::required as duration;
use serde::{Deserialize, Serialize};

use super::named::named_values;
use super::{named, size};
use urlspool_record::record::LineFormat;
use urlspool_text::limits::{GONE_AFTER_MS, LOCK_TIMEOUT_MS};
use urlspool_text::origin::SourceKind;

/// The `[output]` table.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct OutputTable {
    /// The folder of the sealed segments, outside all spools. Unfinished segments are in its folder
    /// `.open/`.
    pub dir: PathBuf,
    /// The compression of sealed segments.
    #[serde(with = "named")]
    pub compress: SegmentCompression,
    /// Size in bytes at which a segment is sealed.
    #[serde(with = "size")]
    pub seal_bytes: usize,
    /// The time after which a segment with records is sealed.
    #[serde(with = "duration")]
    pub seal_interval: Duration,
    /// `true` to write a line of type `gone` for each message that is permanently gone from its
    /// mailbox.
    pub tombstones: bool,
    /// The format of the lines printed on standard output; `None` to write segments. Not a key of
    /// the file.
    #[serde(skip)]
    pub stdout: Option<LineFormat>,
}

impl Default for OutputTable {
    fn default() -> OutputTable {
        OutputTable {
            dir: "/var/lib/urlspool/out".into(),
            compress: SegmentCompression::default(),
            seal_bytes: 64 << 20,
            seal_interval: Duration::from_mins(1),
            tombstones: false,
            stdout: None,
        }
    }
}

impl OutputTable {
    /// The format of the records' lines.
    #[must_use]
    pub fn lines(&self) -> LineFormat {
        self.stdout.clone().unwrap_or_default()
    }
}

named_values! {
    /// The compression of sealed segments.
    #[derive(Default)]
    pub enum SegmentCompression {
        /// No compression (the default).
        #[default]
        None = "none": "Plain JSON lines",
        /// zstd; the file names end in `.jsonl.zst`.
        Zstd = "zstd": "zstd; the file names end in .jsonl.zst",
    }
}

/// The `[state]` table.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct StateTable {
    /// The folder of the state database, the copies of the sidecars and the control socket, outside
    /// all spools.
    pub dir: PathBuf,
    /// The maximum time that records wait before they are committed.
    #[serde(with = "duration")]
    pub commit_interval: Duration,
}

impl Default for StateTable {
    fn default() -> StateTable {
        StateTable {
            dir: "/var/lib/urlspool/state".into(),
            commit_interval: Duration::from_millis(250),
        }
    }
}

/// The `[watch]` table.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct WatchTable {
    /// The time for which a file must be unchanged before its last message counts as complete,
    /// unless its writer closed or unlocked it.
    #[serde(with = "duration")]
    pub settle: Duration,
    /// The time between two rescans of all spools.
    #[serde(with = "duration")]
    pub sweep: Duration,
    /// The time for which an mbox may be locked before it is reported, and before `--once` ends
    /// without it.
    #[serde(with = "duration")]
    pub lock_timeout: Duration,
    /// The time for which a message must be missing before it counts as gone, see
    /// [`OutputTable::tombstones`].
    #[serde(with = "duration")]
    pub gone_after: Duration,
    /// The rights that the daemon gives up.
    #[serde(with = "named")]
    pub confine: Confinement,
    /// Handling of mail that exists in a spool when it is watched for the first time. Not a key of
    /// the file: a configured daemon writes its URLs.
    #[serde(skip)]
    pub existing: Option<ExistingMail>,
}

/// Handling of mail that exists in a spool when it is watched for the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExistingMail {
    /// Its URLs are written.
    Write,
    /// It is recorded as known, and its URLs are not written. Files created after `start` are new.
    Skip {
        /// Start of the program.
        start: SystemTime,
    },
}

impl Default for WatchTable {
    fn default() -> WatchTable {
        WatchTable {
            settle: Duration::from_secs(5),
            sweep: Duration::from_mins(5),
            lock_timeout: Duration::from_millis(LOCK_TIMEOUT_MS),
            gone_after: Duration::from_millis(GONE_AFTER_MS),
            confine: Confinement::default(),
            existing: None,
        }
    }
}

named_values! {
    /// The rights that the daemon gives up permanently, on kernels with Landlock.
    #[derive(Default)]
    pub enum Confinement {
        /// No rights are given up.
        None = "none": "No confinement",
        /// Writes outside the output, state and metrics folders, running programs, and TCP (the
        /// default).
        #[default]
        Writes = "writes": "Write only in the output, state and metrics folders; no programs, no \
                            TCP",
        /// Also reads outside the spools and the daemon's own files. New spools and new mounts
        /// require a restart.
        Reads = "reads": "Also read only the spools and the daemon's own folders",
    }
}

/// The `[metrics]` table.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct MetricsTable {
    /// `unix:PATH`, a loopback address with its port, or empty to serve no metrics.
    pub listen: String,
    /// A file that is replaced with the current metrics every few seconds; empty for none.
    pub textfile: PathBuf,
}

impl Default for MetricsTable {
    fn default() -> MetricsTable {
        MetricsTable {
            listen: "unix:/run/urlspool/metrics.sock".into(),
            textfile: PathBuf::new(),
        }
    }
}

/// One `[[spool]]` table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Spool {
    /// A file or a folder.
    pub path: PathBuf,
    /// The kind of all its files; `None`, written `auto`, to detect the kind of each.
    #[serde(default, with = "named")]
    pub kind: Option<SourceKind>,
    /// The scope in which a message is written once.
    #[serde(default, with = "named")]
    pub dedupe: DedupeScope,
}

named_values! {
    /// The scope in which a message is written once.
    #[derive(Default)]
    pub enum DedupeScope {
        /// The mailbox: the file's path without the suffixes of rotation and compression (the
        /// default).
        #[default]
        Mailbox = "mailbox": "Write each message once per mailbox",
        /// The spool.
        Spool = "spool": "Write each message once per spool",
    }
}

#[cfg(test)]
mod tests {
    use super::super::Config;
    use super::*;

    #[test]
    fn every_value_is_found_by_its_name() {
        named::tests::check(SegmentCompression::default());
        named::tests::check(Confinement::default());
        named::tests::check(DedupeScope::default());
    }

    #[test]
    fn durations_have_units() {
        let config = Config::parse(
            "[watch]\nsettle = \"250ms\"\nsweep = \"1h\"\n[output]\nseal_interval = \"60s\"",
        )
        .unwrap();
        assert_eq!(
            (config.watch.settle, config.watch.sweep),
            (Duration::from_millis(250), Duration::from_hours(1))
        );
        assert_eq!(config.output, OutputTable::default());
        assert!(config.resolved().contains("settle = \"250ms\""));
        for bad in ["\"5\"", "\"-5s\"", "\"5 lamps\"", "5"] {
            let error = Config::parse(&format!("[watch]\nsettle = {bad}")).unwrap_err();
            assert!(error.to_string().contains("line 2"), "{bad}: {error}");
        }
    }

    #[test]
    fn each_spool_table_is_a_spool() {
        let config =
            Config::parse("[[spool]]\npath = \"/a\"\n[[spool]]\npath = \"/b\"\nkind = \"mbox\"")
                .unwrap();
        let kinds: Vec<_> = config.spool.iter().map(|spool| spool.kind).collect();
        assert_eq!(kinds, [None, Some(SourceKind::Mbox)]);
        assert_eq!(Config::parse(&config.resolved()).unwrap(), config);
        let error = Config::parse("[[spool]]\npath = \"/a\"\nkind = \"mbux\"").unwrap_err();
        assert!(
            error
                .to_string()
                .contains("`mbux` is not a value; did you mean `mbox`?"),
            "{error}"
        );
    }
}
