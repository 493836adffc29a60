//! Gives up all rights that the daemon does not need, for good (Landlock). Whoever takes it over by way of a message can
//! write nowhere else, run nothing and call nobody.

use std::fs;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, NetPort, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetError, RulesetStatus, path_beneath_rules,
};

use crate::config::{Config, Confinement};
use crate::daemon::error::DaemonError;
use crate::daemon::schedule::watched_path;

/// The rights that are known here; an older kernel takes those that it knows.
const KNOWN: ABI = ABI::V5;

/// What was left to the process.
#[derive(Debug)]
pub(crate) struct Confined {
    writable: Vec<PathBuf>,
    /// None if everything is.
    readable: Option<Vec<PathBuf>>,
    /// Whether the kernel knows all the rights that are given up.
    pub(crate) full: bool,
}

/// Confines this thread, and all that it will begin, to what a configuration needs; `path` is that of its file.
///
/// Gives nothing, and why, where the configuration or the kernel will not have it.
///
/// # Errors
///
/// That the folders of output and state cannot be made.
pub(crate) fn confine(
    path: &Path,
    config: &Config,
) -> Result<Result<Confined, String>, DaemonError> {
    for dir in [&config.output.dir, &config.state.dir] {
        fs::create_dir_all(dir).map_err(|error| DaemonError::from_io(dir, &error))?;
    }
    let mut confined = match config.watch.confine {
        Confinement::None => return Ok(Err("watch.confine is \"none\"".to_owned())),
        Confinement::Writes => Confined {
            writable: written(config),
            readable: None,
            full: false,
        },
        Confinement::Reads => Confined {
            writable: written(config),
            readable: Some(read(path, config)),
            full: false,
        },
    };
    Ok(match restrict(&confined, config) {
        Ok(RulesetStatus::NotEnforced) => Err("the kernel has no Landlock".to_owned()),
        Ok(status) => {
            confined.full = status == RulesetStatus::FullyEnforced;
            Ok(confined)
        }
        Err(error) => Err(error.to_string()),
    })
}

fn restrict(confined: &Confined, config: &Config) -> Result<RulesetStatus, RulesetError> {
    let reads = AccessFs::from_read(KNOWN);
    let denied = match confined.readable {
        None => AccessFs::from_write(KNOWN) | AccessFs::Execute,
        Some(_) => AccessFs::from_all(KNOWN),
    };
    // The first kernels with Landlock deny renames from one folder to another, and then no segment can be published.
    let rules = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::Refer)?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(denied)?
        .handle_access(AccessNet::from_all(KNOWN))?
        .create()?
        .add_rules(path_beneath_rules(
            &confined.writable,
            (reads & denied) | AccessFs::from_write(KNOWN),
        ))?;
    let readable = confined.readable.iter().flatten();
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

/// The folders that are written to. That of the metrics' socket is made if it is not there and can be.
fn written(config: &Config) -> Vec<PathBuf> {
    let mut folders = vec![config.output.dir.clone(), config.state.dir.clone()];
    let socket = config.metrics.listen.strip_prefix("unix:").map(Path::new);
    let files = socket
        .into_iter()
        .chain([config.metrics.textfile.as_path()]);
    for folder in files.filter_map(Path::parent) {
        // Whoever needs it says that it is not there.
        let _ = fs::create_dir_all(folder);
        folders.push(folder.to_owned());
    }
    folders
}

/// The folders that are read: the spools, that of the configuration, where `SQLite` has its random numbers from.
fn read(path: &Path, config: &Config) -> Vec<PathBuf> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let spools = config
        .spool
        .iter()
        .map(|spool| watched_path(&spool.path).to_owned());
    spools
        .chain([folder.to_owned(), "/dev/urandom".into()])
        .collect()
}

impl Confined {
    /// What another configuration needs and cannot have without a restart.
    pub(crate) fn lacks(&self, config: &Config) -> Vec<PathBuf> {
        let within = |path: &Path, folders: &[PathBuf]| {
            folders.iter().any(|folder| path.starts_with(folder))
        };
        let written = config
            .metrics
            .textfile
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        let written = written.filter(|folder| !within(folder, &self.writable));
        let read = config
            .spool
            .iter()
            .map(|spool| spool.path.as_path())
            .filter(|path| {
                self.readable.as_ref().is_some_and(|readable| {
                    !within(path, readable) && !within(path, &self.writable)
                })
            });
        written
            .into_iter()
            .chain(read)
            .map(Path::to_owned)
            .collect()
    }
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

    /// On a thread of its own: there is no way back.
    #[test]
    fn what_is_not_needed_cannot_be_had() {
        let root = std::env::temp_dir().join(format!("urlspool-confine-{}", std::process::id()));
        for folder in ["spool", "other", "etc"] {
            fs::create_dir_all(root.join(folder)).unwrap();
            fs::write(root.join(folder).join("a"), "a").unwrap();
        }
        let at = |path: &str| root.join(path);
        let confined = std::thread::scope(|scope| {
            let work = || {
                let Ok(confined) = confine(&at("etc/c.toml"), &config(&root)).unwrap() else {
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
                assert!(!confined.full || std::net::TcpListener::bind("127.0.0.1:0").is_err());
                let mut more = config(&root);
                assert!(confined.lacks(&more).is_empty());
                more.spool[0].path = at("other");
                more.metrics.textfile = at("other/m");
                assert_eq!(confined.lacks(&more), [at("other"), at("other")]);
                true
            };
            scope.spawn(work).join().unwrap()
        });
        if !confined {
            println!("SKIPPED: this kernel confines nobody");
        }
        fs::remove_dir_all(root).unwrap();
    }
}
