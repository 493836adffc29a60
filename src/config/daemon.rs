//! The tables of the daemon: where it writes, what it keeps, what it watches, how it is asked.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::Config;
use super::interval::Interval;
use super::size::Size;
use crate::origin::SourceKind;

/// The `[output]` table.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Output {
    /// The folder of the sealed segments. Outside every spool, and on one file system with its `.open`.
    pub dir: PathBuf,
    /// How sealed segments are compressed.
    pub compress: Compress,
    /// Bytes after which a segment is sealed.
    pub seal_bytes: Size,
    /// The time after which a segment is sealed that holds anything.
    pub seal_interval: Interval,
}

impl Default for Output {
    fn default() -> Output {
        Output {
            dir: "/var/lib/urlspool/out".into(),
            compress: Compress::None,
            seal_bytes: Size(64 << 20),
            seal_interval: Interval { ms: 60_000 },
        }
    }
}

/// How sealed segments are compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Compress {
    /// Not at all.
    #[default]
    None,
    /// With zstd; their names end in `.jsonl.zst`.
    Zstd,
}

/// The `[state]` table.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct State {
    /// The folder of the state, the copies of the sidecars and the control socket. Outside every spool.
    pub dir: PathBuf,
    /// The longest time that records wait before they are committed.
    pub commit_interval: Interval,
}

impl Default for State {
    fn default() -> State {
        State {
            dir: "/var/lib/urlspool/state".into(),
            commit_interval: Interval { ms: 250 },
        }
    }
}

/// The `[watch]` table.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Watch {
    /// How long a file must rest before its end is believed to be one.
    pub settle: Interval,
    /// The time between two looks at everything.
    pub sweep: Interval,
    /// What the daemon gives up the right to.
    pub confine: Confine,
}

/// What the daemon gives up the right to, for good, where the kernel has Landlock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Confine {
    /// Nothing.
    Nothing,
    /// To write anything but output, state and metrics, to run programs, and to use TCP.
    #[default]
    Writes,
    /// Also to read anything but the spools and its own files. New spools need a restart, and so do new mounts.
    Reads,
}

impl Default for Watch {
    fn default() -> Watch {
        Watch {
            settle: Interval { ms: 5_000 },
            sweep: Interval { ms: 300_000 },
            confine: Confine::Writes,
        }
    }
}

/// The `[metrics]` table.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Metrics {
    /// `unix:PATH`, a loopback address with its port, or empty for none.
    pub listen: String,
    /// A file that is replaced with the metrics from time to time; empty for none.
    pub textfile: PathBuf,
}

impl Default for Metrics {
    fn default() -> Metrics {
        Metrics {
            listen: "unix:/run/urlspool/metrics.sock".into(),
            textfile: PathBuf::new(),
        }
    }
}

/// One `[[spool]]` table.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Spool {
    /// A file or a folder.
    pub path: PathBuf,
    /// `auto`, or the kind of all its files.
    #[serde(default = "auto")]
    pub kind: String,
    /// Where a message is given once.
    #[serde(default)]
    pub dedupe: Dedupe,
}

fn auto() -> String {
    "auto".to_owned()
}

impl Spool {
    /// The kind of all its files, if it was named.
    #[must_use]
    pub fn kind(&self) -> Option<SourceKind> {
        SourceKind::named(&self.kind)
    }
}

/// Where a message is given once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Dedupe {
    /// In each mailbox: its path without what rotation adds to it.
    #[default]
    Mailbox,
    /// In the whole spool.
    Spool,
}

impl Config {
    /// What is wrong with the daemon's tables, whatever the machine looks like.
    pub(super) fn check_daemon(&self) -> Result<(), String> {
        let zero = [
            ("output.seal_bytes", self.output.seal_bytes.0 == 0),
            ("output.seal_interval", self.output.seal_interval.ms == 0),
            ("state.commit_interval", self.state.commit_interval.ms == 0),
            ("watch.sweep", self.watch.sweep.ms == 0),
        ];
        if let Some((name, _)) = zero.iter().find(|(_, zero)| *zero) {
            return Err(format!("{name} must be more than 0"));
        }
        if let Some(spool) = self
            .spool
            .iter()
            .find(|spool| spool.kind != "auto" && spool.kind().is_none())
        {
            let names: Vec<&str> = SourceKind::ALL.into_iter().map(SourceKind::name).collect();
            return Err(format!(
                "spool.kind {:?} is none of auto, {}",
                spool.kind,
                names.join(", ")
            ));
        }
        if !is_local(&self.metrics.listen) {
            let listen = &self.metrics.listen;
            return Err(format!(
                "metrics.listen {listen:?} is neither \"unix:PATH\", a loopback address nor \"\""
            ));
        }
        Ok(())
    }

    /// Whether the folders of the daemon lie where it would read its own records.
    ///
    /// # Errors
    ///
    /// Which folder lies in which spool.
    pub fn check_places(&self) -> Result<(), String> {
        for (name, dir) in [
            ("output.dir", &self.output.dir),
            ("state.dir", &self.state.dir),
        ] {
            let real = real(dir);
            if let Some(spool) = self
                .spool
                .iter()
                .find(|spool| real.starts_with(self::real(&spool.path)))
            {
                let spool = spool.path.display();
                return Err(format!(
                    "{name} {} lies in the spool {spool}: it would be read again",
                    dir.display()
                ));
            }
        }
        Ok(())
    }
}

/// Whether an address stays on this machine.
fn is_local(listen: &str) -> bool {
    let loopback = |address: std::net::SocketAddr| address.ip().is_loopback();
    listen.is_empty()
        || listen.strip_prefix("unix:/").is_some()
        || listen.parse().is_ok_and(loopback)
}

/// A path without links, as far as it is there.
fn real(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let there = absolute
        .ancestors()
        .find_map(|up| up.canonicalize().ok().map(|real| (up, real)));
    there.map_or_else(
        || absolute.clone(),
        |(up, real)| match absolute.strip_prefix(up) {
            Ok(rest) if !rest.as_os_str().is_empty() => real.join(rest),
            _ => real,
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        let config = Config::parse("[watch]\nsettle = \"250ms\"\nsweep = \"1h\"").unwrap();
        assert_eq!(
            (config.watch.settle.ms, config.watch.sweep.ms),
            (250, 3_600_000)
        );
        assert!(
            Config::parse("[watch]\nsettle = \"5\"")
                .unwrap_err()
                .contains("no time")
        );
        assert!(
            Config::parse("[watch]\nsweep = \"0s\"")
                .unwrap_err()
                .contains("watch.sweep")
        );
    }

    #[test]
    fn spools_are_as_many_as_there_are_tables() {
        let config =
            Config::parse("[[spool]]\npath = \"/a\"\n[[spool]]\npath = \"/b\"\nkind = \"mbox\"")
                .unwrap();
        assert_eq!(
            config.spool.iter().map(Spool::kind).collect::<Vec<_>>(),
            [None, Some(SourceKind::Mbox)]
        );
        assert_eq!(Config::parse(&config.resolved()), Ok(config));
        assert!(
            Config::parse("[[spool]]\npath = \"/a\"\nkind = \"mbux\"")
                .unwrap_err()
                .contains("mbux")
        );
    }

    #[test]
    fn what_leaves_the_machine_is_refused() {
        let listen = |listen: &str| Config::parse(&format!("[metrics]\nlisten = \"{listen}\""));
        assert!(
            listen("127.0.0.1:9464").is_ok() && listen("unix:/run/x").is_ok() && listen("").is_ok()
        );
        assert!(listen("0.0.0.0:9464").is_err() && listen("9464").is_err());
    }

    #[test]
    fn output_in_a_spool_is_refused() {
        let spool = vec![Spool {
            path: "/var".into(),
            kind: auto(),
            dedupe: Dedupe::Mailbox,
        }];
        let mut config = Config {
            spool,
            ..Config::default()
        };
        assert!(config.check_places().unwrap_err().contains("output.dir"));
        config.output.dir = "/nowhere/out".into();
        config.state.dir = "/nowhere/state".into();
        assert_eq!(config.check_places(), Ok(()));
    }
}
