//! The sandbox (Landlock): the process gives up for good all rights that it does not need. Code that a crafted message might
//! inject can write nowhere else, run no program and open no connection.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, NetPort, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetError, RulesetStatus, path_beneath_rules,
};

use crate::config::{Config, Confinement};
use crate::daemon::error::{AtPath, DaemonError};
use crate::daemon::schedule::watched_path;

/// The newest set of rights that this program knows. An older kernel applies those that it knows.
const KNOWN_RIGHTS: ABI = ABI::V5;

/// The result of entering the sandbox.
#[derive(Debug)]
pub(super) enum Sandbox {
    /// The process is confined.
    On(AllowedPaths),
    /// It is not.
    Off(NoSandbox),
}

/// The folders that a confined process may use.
#[derive(Debug)]
pub(super) struct AllowedPaths {
    writable: Vec<PathBuf>,
    /// `None` if reading is not confined.
    readable: Option<Vec<PathBuf>>,
    coverage: Coverage,
}

/// The part of [`KNOWN_RIGHTS`] that the kernel knows, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Coverage {
    Full,
    Partial,
}

/// Reason for which the process is not confined.
#[derive(Debug)]
pub(super) enum NoSandbox {
    /// The configuration turns it off.
    Disabled,
    /// The kernel has no Landlock.
    Unsupported,
    /// The kernel refused the rules.
    Refused(RulesetError),
}

impl fmt::Display for NoSandbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoSandbox::Disabled => f.write_str("watch.confine is \"none\""),
            NoSandbox::Unsupported => f.write_str("the kernel does not support it"),
            NoSandbox::Refused(error) => error.fmt(f),
        }
    }
}

/// Confines this thread, and all that it starts later, to what `config` needs. `config_path` is the path of its file, if it has one.
///
/// # Errors
///
/// The folders of output and state cannot be created.
pub(super) fn enter(config_path: Option<&Path>, config: &Config) -> Result<Sandbox, DaemonError> {
    for dir in [&config.output.dir, &config.state.dir] {
        fs::create_dir_all(dir).at(dir)?;
    }
    let readable = match config.watch.confine {
        Confinement::None => return Ok(Sandbox::Off(NoSandbox::Disabled)),
        Confinement::Writes => None,
        Confinement::Reads => Some(readable_folders(config_path, config)),
    };
    let mut allowed = AllowedPaths {
        writable: writable_folders(config),
        readable,
        coverage: Coverage::Partial,
    };
    Ok(match restrict(&allowed, config) {
        Ok(RulesetStatus::NotEnforced) => Sandbox::Off(NoSandbox::Unsupported),
        Ok(status) => {
            if status == RulesetStatus::FullyEnforced {
                allowed.coverage = Coverage::Full;
            }
            Sandbox::On(allowed)
        }
        Err(error) => Sandbox::Off(NoSandbox::Refused(error)),
    })
}

impl Sandbox {
    /// Reports the result in the log.
    pub(super) fn log(&self) {
        match self {
            Sandbox::On(allowed) => allowed.log(),
            Sandbox::Off(reason) => tracing::warn!("Landlock is off: {reason}"),
        }
    }

    /// Warns of paths that another configuration needs and cannot use before a restart.
    pub(super) fn warn_of_denied(&self, config: &Config) {
        let Sandbox::On(allowed) = self else {
            return;
        };
        for path in allowed.denied(config) {
            tracing::warn!(
                "{} cannot be used before a restart: watch.confine is in force",
                path.display()
            );
        }
    }
}

impl AllowedPaths {
    fn log(&self) {
        let reading = match self.readable {
            Some(_) => "reading is allowed only in spools and the daemon's own folders, ",
            None => "",
        };
        let coverage = match self.coverage {
            Coverage::Full => "",
            Coverage::Partial => "; this kernel does not know all rights that should be given up",
        };
        tracing::info!(
            "Landlock is on: {reading}writing is allowed only in output, state and metrics folders{coverage}"
        );
    }

    /// Paths that another configuration needs and that are not allowed.
    fn denied(&self, config: &Config) -> Vec<PathBuf> {
        let textfile = config.metrics.textfile.parent();
        let written = textfile
            .filter(|folder| !folder.as_os_str().is_empty())
            .filter(|folder| !is_within(folder, &self.writable));
        let spools = config.spool.iter().map(|spool| spool.path.as_path());
        let read = spools.filter(|path| !self.may_read(path));
        written
            .into_iter()
            .chain(read)
            .map(Path::to_owned)
            .collect()
    }

    fn may_read(&self, path: &Path) -> bool {
        self.readable
            .as_ref()
            .is_none_or(|readable| is_within(path, readable) || is_within(path, &self.writable))
    }
}

fn is_within(path: &Path, folders: &[PathBuf]) -> bool {
    folders.iter().any(|folder| path.starts_with(folder))
}

fn restrict(allowed: &AllowedPaths, config: &Config) -> Result<RulesetStatus, RulesetError> {
    let reads = AccessFs::from_read(KNOWN_RIGHTS);
    let denied = match allowed.readable {
        None => AccessFs::from_write(KNOWN_RIGHTS) | AccessFs::Execute,
        Some(_) => AccessFs::from_all(KNOWN_RIGHTS),
    };
    // The first kernels with Landlock deny renames from one folder to another, and then no segment can be published.
    let rules = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::Refer)?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(denied)?
        .handle_access(AccessNet::from_all(KNOWN_RIGHTS))?
        .create()?
        .add_rules(path_beneath_rules(
            &allowed.writable,
            (reads & denied) | AccessFs::from_write(KNOWN_RIGHTS),
        ))?;
    let readable = allowed.readable.iter().flatten();
    let rules = rules.add_rules(path_beneath_rules(
        readable,
        reads & denied & !AccessFs::Execute,
    ))?;
    let rules = match config.metrics.listen.parse::<std::net::SocketAddr>() {
        Ok(address) => rules.add_rule(NetPort::new(address.port(), AccessNet::BindTcp))?,
        Err(_) => rules,
    };
    Ok(rules.restrict_self()?.ruleset)
}

/// The folders that are written to: output, state, and those of the metrics' socket and file, created if they do not exist.
fn writable_folders(config: &Config) -> Vec<PathBuf> {
    let mut folders = vec![config.output.dir.clone(), config.state.dir.clone()];
    let socket = config.metrics.listen.strip_prefix("unix:").map(Path::new);
    let files = socket
        .into_iter()
        .chain([config.metrics.textfile.as_path()]);
    for folder in files.filter_map(Path::parent) {
        // The code that writes there reports a missing folder.
        let _ = fs::create_dir_all(folder);
        folders.push(folder.to_owned());
    }
    folders
}

/// The folders that are read: the spools, that of the configuration, and the random numbers for `SQLite`.
fn readable_folders(config_path: Option<&Path>, config: &Config) -> Vec<PathBuf> {
    let folder = config_path.map(|path| {
        path.parent()
            .filter(|folder| !folder.as_os_str().is_empty())
            .unwrap_or(Path::new("."))
            .to_owned()
    });
    let spools = config
        .spool
        .iter()
        .map(|spool| watched_path(&spool.path).to_owned());
    spools
        .chain(folder)
        .chain(["/dev/urandom".into()])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{DedupeScope, Spool};

    fn config(root: &Path) -> Config {
        let spool = |name: &str| Spool {
            path: root.join(name),
            kind: None,
            dedupe: DedupeScope::Mailbox,
        };
        let mut config = Config {
            spool: vec![spool("spool")],
            ..Config::default()
        };
        (config.output.dir, config.state.dir) = (root.join("out"), root.join("state"));
        config.metrics.listen = String::new();
        config.watch.confine = Confinement::Reads;
        config
    }

    /// Runs on a thread of its own, which stays confined.
    #[test]
    fn rights_that_are_not_needed_are_denied() {
        let root = std::env::temp_dir().join(format!("urlspool-confine-{}", std::process::id()));
        for folder in ["spool", "other", "etc"] {
            fs::create_dir_all(root.join(folder)).unwrap();
            fs::write(root.join(folder).join("a"), "a").unwrap();
        }
        let at = |path: &str| root.join(path);
        let confined = std::thread::scope(|scope| {
            let work = || {
                let sandbox = enter(Some(&at("etc/c.toml")), &config(&root)).unwrap();
                let Sandbox::On(allowed) = sandbox else {
                    return false;
                };
                assert!(fs::read(at("spool/a")).is_ok() && fs::read(at("etc/a")).is_ok());
                assert!(
                    fs::write(at("out/a"), "a").is_ok()
                        && fs::rename(at("out/a"), at("state/a")).is_ok()
                );
                assert!(fs::read(at("other/a")).is_err() && fs::write(at("spool/a"), "b").is_err());
                assert!(
                    fs::remove_file(at("spool/a")).is_err() && fs::write(at("etc/b"), "").is_err()
                );
                assert!(
                    allowed.coverage == Coverage::Partial
                        || std::net::TcpListener::bind("127.0.0.1:0").is_err()
                );
                let mut more = config(&root);
                assert!(allowed.denied(&more).is_empty());
                more.spool[0].path = at("other");
                more.metrics.textfile = at("other/m");
                assert_eq!(allowed.denied(&more), [at("other"), at("other")]);
                true
            };
            scope.spawn(work).join().unwrap()
        });
        fs::remove_dir_all(root).unwrap();
        assert!(
            confined,
            "this kernel has no Landlock, which the test needs"
        );
    }
}
