//! The sandbox (Landlock): the process permanently gives up all rights that it does not need. Code
//! injected by a crafted message cannot write elsewhere, run programs or open connections.

use std::fs;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, NetPort, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetError, RulesetStatus, path_beneath_rules,
};

use super::reader_thread::watched_path;
use urlspool_files::config::{Config, Confinement};

/// The newest set of rights known to this program. An older kernel applies the rights that it
/// knows.
const KNOWN_RIGHTS: ABI = ABI::V5;

/// Confines this thread, and all threads it starts later, to the rights that `config` needs, and
/// logs the result. `config_path` is the path of the configuration file, if there is one.
pub(super) fn enter(config_path: Option<&Path>, config: &Config) {
    let (readable, reading) = match config.watch.confine {
        Confinement::None => {
            tracing::warn!("Landlock is off: watch.confine is \"none\"");
            return;
        }
        Confinement::Writes => (None, ""),
        Confinement::Reads => (
            Some(readable_folders(config_path, config)),
            "reading is allowed only in spools and the daemon's own folders, ",
        ),
    };
    let missing_rights = match restrict(config, readable) {
        Ok(RulesetStatus::NotEnforced) => {
            tracing::warn!("Landlock is off: the kernel does not support it");
            return;
        }
        Ok(RulesetStatus::FullyEnforced) => "",
        Ok(RulesetStatus::PartiallyEnforced) => "; this kernel does not support all restrictions",
        Err(error) => {
            tracing::warn!("Landlock is off: {error}");
            return;
        }
    };
    tracing::info!(
        "Landlock is on: {reading}writing is allowed only in output, state and metrics \
         folders{missing_rights}"
    );
}

/// Gives up this thread's rights to write files, except `/dev/null`, and to use TCP. Programs that
/// it starts inherit this. Without Landlock the thread keeps its rights.
pub(super) fn confine_programs() {
    let confine = || {
        Ruleset::default()
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::from_write(KNOWN_RIGHTS))?
            .handle_access(AccessNet::from_all(KNOWN_RIGHTS))?
            .create()?
            .add_rules(path_beneath_rules(
                [Path::new("/dev/null")],
                AccessFs::from_write(KNOWN_RIGHTS),
            ))?
            .restrict_self()
    };
    // Without Landlock, the log says so for the whole process.
    let _: Result<_, RulesetError> = confine();
}

/// Restricts this thread. Reading is not confined if `readable` is `None`.
fn restrict(
    config: &Config,
    readable: Option<Vec<PathBuf>>,
) -> Result<RulesetStatus, RulesetError> {
    let reads = AccessFs::from_read(KNOWN_RIGHTS);
    let denied = match readable {
        None => AccessFs::from_write(KNOWN_RIGHTS) | AccessFs::Execute,
        Some(_) => AccessFs::from_all(KNOWN_RIGHTS),
    };
    // The first kernels with Landlock deny renames between folders, which would prevent segments
    // from being published.
    let rules = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::Refer)?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(denied)?
        .handle_access(AccessNet::from_all(KNOWN_RIGHTS))?
        .create()?
        .add_rules(path_beneath_rules(
            writable_folders(config),
            (reads & denied) | AccessFs::from_write(KNOWN_RIGHTS),
        ))?
        .add_rules(path_beneath_rules(
            readable.into_iter().flatten(),
            reads & denied & !AccessFs::Execute,
        ))?;
    let rules = match config.metrics.listen.parse::<std::net::SocketAddr>() {
        Ok(address) => rules.add_rule(NetPort::new(address.port(), AccessNet::BindTcp))?,
        Err(_) => rules,
    };
    Ok(rules.restrict_self()?.ruleset)
}

/// The writable folders: output, state, and the folders of the metrics socket and file. Creates
/// those that do not exist.
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

/// The readable folders: the spools, the folders of the configuration and of its lists of domains,
/// which a reload reads again, and the random numbers for `SQLite`.
fn readable_folders(config_path: Option<&Path>, config: &Config) -> Vec<PathBuf> {
    let spools = config.spool.iter();
    let spools = spools.map(|spool| watched_path(&spool.path).to_owned());
    let files = config_path.into_iter().chain(config.domain_files());
    let files = files.filter_map(|file| std::path::absolute(file).ok());
    let folders = files.filter_map(|file| file.parent().map(Path::to_owned));
    let random_numbers = PathBuf::from("/dev/urandom");
    spools.chain(folders).chain([random_numbers]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use urlspool_files::config::Spool;

    fn config(root: &Path) -> Config {
        let spool = |name: &str| Spool {
            path: root.join(name),
            ..Spool::default()
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

    /// Runs on its own thread, which stays confined.
    #[test]
    fn unneeded_rights_are_denied() {
        let root = std::env::temp_dir().join(format!("urlspool-confine-{}", std::process::id()));
        for folder in ["spool", "other", "etc"] {
            fs::create_dir_all(root.join(folder)).unwrap();
            fs::write(root.join(folder).join("a"), "a").unwrap();
        }
        let at = |path: &str| root.join(path);
        let confined = std::thread::scope(|scope| {
            let work = || {
                let config = config(&root);
                for folder in [&config.output.dir, &config.state.dir] {
                    fs::create_dir_all(folder).unwrap();
                }
                let readable = readable_folders(Some(&at("etc/c.toml")), &config);
                let status = restrict(&config, Some(readable)).unwrap();
                if status == RulesetStatus::NotEnforced {
                    return false;
                }
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
                    status == RulesetStatus::PartiallyEnforced
                        || std::net::TcpListener::bind("127.0.0.1:0").is_err()
                );
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
