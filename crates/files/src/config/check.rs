//! Checks of a configuration beyond its syntax, and expansion of `~/` in paths.

use std::collections::HashSet;
use std::fs::File;
use std::io::Read;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::error::shown;
use super::{Config, ConfigError};
use urlspool_mail::decode::{BodyRegion, EXTERNAL_BODY_REGION, link_attributes};
use urlspool_record::extract::Unique;
use urlspool_record::record::hazard_names;
use urlspool_text::diagnostic::printable;
use urlspool_text::grammar::is_scheme_char;
use urlspool_text::limits::{CONTEXT_BYTES, DOMAIN_LIST_BYTES, NAME_BYTES, NAMED_FIELDS};
use urlspool_text::parse::host_name;

impl Config {
    /// Makes the checks that do not depend on the machine.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let zero = [
            ("output.seal_bytes", self.output.seal_bytes == 0),
            ("output.seal_interval", is_short(self.output.seal_interval)),
            (
                "state.commit_interval",
                is_short(self.state.commit_interval),
            ),
            ("watch.sweep", is_short(self.watch.sweep)),
        ];
        if let Some((key, _)) = zero.iter().find(|(_, is_zero)| *is_zero) {
            return Err(ConfigError::unusable(format!("{key} must be more than 0")));
        }
        if CONTEXT_BYTES < self.extract.context {
            return Err(ConfigError::unusable(format!(
                "extract.context is {}, but a record has at most {CONTEXT_BYTES} bytes on each \
                 side",
                self.extract.context
            )));
        }
        if !is_local(&self.metrics.listen) {
            return Err(ConfigError::unusable(format!(
                "metrics.listen {:?} is neither \"unix:\" with a full path, a loopback address \
                 with a port (\"127.0.0.1:9464\") nor \"\"",
                self.metrics.listen
            )));
        }
        let extract = &self.extract;
        let mut schemes = extract.extra_schemes.iter().chain(&extract.schemes);
        schemes.try_for_each(|name| check_scheme_name(name))?;
        self.check_header_fields()
    }

    /// Checks the names of the header fields to copy into records.
    ///
    /// # Errors
    ///
    /// There are too many names, or one is invalid.
    pub fn check_header_fields(&self) -> Result<(), ConfigError> {
        let names = &self.extract.header_fields;
        if NAMED_FIELDS < names.len() {
            return Err(ConfigError::unusable(format!(
                "header_fields has {} names, but at most {NAMED_FIELDS} are allowed",
                names.len()
            )));
        }
        names.iter().try_for_each(|name| check_header_field(name))
    }

    /// Checks the filters of `[extract]`, converts their names to the form used in records, and
    /// reads the files of `exclude_domains`.
    ///
    /// # Errors
    ///
    /// A name that no URL can have, or an unreadable file.
    pub fn check_filters(&mut self) -> Result<(), ConfigError> {
        let extract = &mut self.extract;
        each_name("host", &mut extract.host, |text| host_of(text, "domain"))?;
        each_name("domain", &mut extract.domain, domain_name)?;
        each_name("region", &mut extract.region, |text| {
            region_name(text).map_err(str::to_owned)
        })?;
        each_name("hazard", &mut extract.hazard, hazard_name)?;
        // Each file is read once, since it may be a pipe.
        if extract.excluded_by == extract.exclude_domains {
            return Ok(());
        }
        extract.excluded = HashSet::new();
        for entry in &mut extract.exclude_domains {
            if !entry.contains('/') {
                // A current folder is not part of a configuration, so a name alone is no path.
                if !entry.starts_with('.') && Path::new(entry).is_file() {
                    let why =
                        format!("it is also a file, ./{entry}; write .{entry} for the domain");
                    return Err(wrong("exclude_domains", entry, &why));
                }
                *entry = domain_name(entry).map_err(|why| wrong("exclude_domains", entry, &why))?;
                extract.excluded.insert(entry.clone());
                continue;
            }
            let text = domain_list(entry).map_err(|why| wrong("exclude_domains", entry, &why))?;
            for (number, name) in (1..).zip(text.lines().map(str::trim)) {
                if !name.is_empty() && !name.starts_with('#') {
                    let key = format!("exclude_domains: {}, line {number}", printable(entry));
                    let name = domain_name(name).map_err(|why| wrong(&key, name, &why))?;
                    extract.excluded.insert(name);
                }
            }
        }
        extract.excluded_by.clone_from(&extract.exclude_domains);
        Ok(())
    }

    /// Makes the additional checks for `urlspool watch`, including [`Config::check_folders`].
    ///
    /// # Errors
    ///
    /// The configuration is not suitable for the daemon.
    pub fn check_watch(&self) -> Result<(), ConfigError> {
        if self.spool.is_empty() {
            return Err(ConfigError::unusable(
                "there is no [[spool]] to watch; add one",
            ));
        }
        if self.extract.unique == Unique::Run {
            return Err(ConfigError::unusable(
                "extract.unique = \"run\" is for `urlspool scan` only; use \"message\" or \"none\"",
            ));
        }
        self.check_folders()
    }

    /// Checks that the daemon has two distinct folders outside all spools, and that the spools
    /// differ. Otherwise the daemon would read its own records.
    ///
    /// Accesses the file system to resolve links.
    ///
    /// # Errors
    ///
    /// The folder that is empty or given twice, or the spool that contains it.
    pub fn check_folders(&self) -> Result<(), ConfigError> {
        let (output, state) = (&self.output.dir, &self.state.dir);
        let dirs = [("output.dir", output), ("state.dir", state)];
        for (key, dir) in dirs {
            if dir.as_os_str().is_empty() {
                return Err(empty_path(key));
            }
        }
        if resolved(output) == resolved(state) {
            return Err(ConfigError::unusable(format!(
                "output.dir and state.dir are both {}; choose two folders",
                shown(output)
            )));
        }
        let mut seen = HashSet::new();
        for path in self.spool.iter().map(|spool| &spool.path) {
            if path.as_os_str().is_empty() {
                return Err(empty_path("spool.path"));
            }
            if !seen.insert(resolved(path)) {
                return Err(ConfigError::unusable(format!(
                    "the spool {} is given twice; remove one [[spool]]",
                    shown(path)
                )));
            }
        }
        for (key, dir) in dirs {
            let resolved_dir = resolved(dir);
            let mut spools = self.spool.iter().map(|spool| &spool.path);
            if let Some(spool) = spools.find(|path| resolved_dir.starts_with(resolved(path))) {
                return Err(ConfigError::unusable(format!(
                    "{key} {} is inside the spool {}; choose a folder outside it",
                    shown(dir),
                    shown(spool)
                )));
            }
        }
        Ok(())
    }

    /// The files among the entries of `exclude_domains`.
    pub fn domain_files(&self) -> impl Iterator<Item = &Path> {
        let entries = self.extract.exclude_domains.iter();
        entries.filter(|entry| entry.contains('/')).map(Path::new)
    }
}

/// Replaces each name of a filter by the result of `parse`.
fn each_name(
    key: &str,
    names: &mut [String],
    parse: impl Fn(&str) -> Result<String, String>,
) -> Result<(), ConfigError> {
    for name in names {
        *name = parse(name).map_err(|why| wrong(key, name, &why))?;
    }
    Ok(())
}

fn wrong(key: &str, value: &str, why: &str) -> ConfigError {
    ConfigError::unusable(format!("extract.{key}: {value:?}: {why}"))
}

/// Parses a domain. Lists also write it with a leading dot.
fn domain_name(text: &str) -> Result<String, String> {
    host_of(text.strip_prefix('.').unwrap_or(text), "domain")
}

/// Reads a file that lists domains, of at most [`DOMAIN_LIST_BYTES`].
fn domain_list(path: &str) -> Result<String, String> {
    let list = File::open(path).map(|file| file.take(DOMAIN_LIST_BYTES + 1));
    match list.and_then(std::io::read_to_string) {
        Err(error) => Err(format!("{error}; name a file with a domain on each line")),
        Ok(text) if DOMAIN_LIST_BYTES < text.len() as u64 => Err(format!(
            "it has more than {DOMAIN_LIST_BYTES} bytes; leave out the hosts of listed domains"
        )),
        Ok(text) => Ok(text),
    }
}

fn is_short(duration: Duration) -> bool {
    duration < Duration::from_millis(1)
}

fn empty_path(key: &str) -> ConfigError {
    ConfigError::unusable(format!("{key} is empty; write the path of a folder"))
}

/// Returns `true` if an address of `metrics.listen` cannot be reached from other machines.
fn is_local(listen: &str) -> bool {
    listen.is_empty()
        || listen.starts_with("unix:/")
        || listen.starts_with("unix:~/")
        || listen
            .parse()
            .is_ok_and(|address: SocketAddr| address.ip().is_loopback())
}

/// Checks that a text can be the name of a scheme.
///
/// # Errors
///
/// The text cannot.
pub fn check_scheme_name(name: &str) -> Result<(), ConfigError> {
    if !name.is_empty() && name.bytes().all(is_scheme_char) {
        return Ok(());
    }
    Err(ConfigError::unusable(format!(
        "{name:?} is not the name of a scheme: letters, digits, '+', '-' and '.' only, without the \
         colon"
    )))
}

/// Checks the name of a header field: printable ASCII without blanks and colons (RFC 5322, section
/// 2.2), of at most [`NAME_BYTES`] bytes.
///
/// # Errors
///
/// The name is invalid.
pub fn check_header_field(name: &str) -> Result<(), ConfigError> {
    let mut bytes = name.bytes();
    let is_name = bytes.all(|byte| byte.is_ascii_graphic() && byte != b':');
    if is_name && (1..=NAME_BYTES).contains(&name.len()) {
        return Ok(());
    }
    Err(ConfigError::unusable(format!(
        "{name:?} is not the name of a header field, such as Reply-To"
    )))
}

/// Parses the name of a host into the form used in records. `domains` is the option for whole
/// domains, for a message.
///
/// # Errors
///
/// A message that says which form is expected.
pub fn host_of(text: &str, domains: &str) -> Result<String, String> {
    if text.contains('*') {
        return Err(format!(
            "write it without `*`: {domains} cern.ch also covers all hosts of cern.ch"
        ));
    }
    // The notation of `--defang` is accepted.
    let host = host_name(&text.replace("[.]", "."));
    let host = host.filter(|host| !host.contains(','));
    host.ok_or_else(|| "write only the name of a host, such as info.cern.ch".to_owned())
}

/// Parses the name of a hazard.
///
/// # Errors
///
/// A message that lists the hazards.
pub fn hazard_name(text: &str) -> Result<String, String> {
    let names = hazard_names();
    let is_known = names.contains(&text);
    let unknown = || format!("possible values are {}", names.join(", "));
    is_known.then(|| text.to_owned()).ok_or_else(unknown)
}

/// Parses the name of a region, or the name of all regions in headers or HTML.
///
/// # Errors
///
/// A message that says which form is expected.
pub fn region_name(text: &str) -> Result<String, &'static str> {
    let name = text.trim_matches(' ');
    let is = |other: &str| name.eq_ignore_ascii_case(other);
    let is_attribute = |rest: &str| {
        let attribute = rest.split_once('.').map(|(_, attribute)| attribute);
        ["text", "script", "data"].contains(&rest)
            || attribute.is_some_and(|name| link_attributes().any(|other| other == name))
    };
    let is_known = match name.to_ascii_lowercase().split_once(':') {
        None => {
            BodyRegion::ALL.iter().any(|region| is(region.name()))
                || [EXTERNAL_BODY_REGION, "header", "html"].into_iter().any(is)
        }
        Some(("header", field)) => !field.is_empty() && !field.contains([' ', ':']),
        Some(("html", rest)) => is_attribute(rest),
        Some(_) => false,
    };
    is_known.then(|| name.to_owned()).ok_or(
        "write body, signature, forwarded, footer, external-body, header, html, header:FIELD, \
         html:text or html:ELEMENT.ATTRIBUTE",
    )
}

/// The absolute path, with links resolved as far as the path exists.
#[must_use]
pub fn resolved(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut parents = absolute.ancestors();
    let existing = parents.find_map(|parent| Some((parent, parent.canonicalize().ok()?)));
    let Some((parent, real_parent)) = existing else {
        return absolute;
    };
    match absolute.strip_prefix(parent) {
        Ok(rest) if !rest.as_os_str().is_empty() => real_parent.join(rest),
        _ => real_parent,
    }
}

/// The prefix of a `metrics.listen` address that is followed by a path.
const UNIX: &str = "unix:";

impl Config {
    /// Replaces `~/` at the start of every path by the folder `home`, and makes all paths absolute.
    pub(super) fn expand_paths(&mut self, home: Option<&Path>) -> Result<(), ConfigError> {
        let change = |key, path: &mut PathBuf| expand(key, path, home);
        change("output.dir", &mut self.output.dir)?;
        change("state.dir", &mut self.state.dir)?;
        change("metrics.textfile", &mut self.metrics.textfile)?;
        for entry in &mut self.extract.exclude_domains {
            if entry.contains('/') {
                let mut path = PathBuf::from(&*entry);
                change("extract.exclude_domains", &mut path)?;
                *entry = path.display().to_string();
            }
        }
        for spool in &mut self.spool {
            change("spool.path", &mut spool.path)?;
        }
        if let Some(path) = self.metrics.listen.strip_prefix(UNIX) {
            let mut path = PathBuf::from(path);
            change("metrics.listen", &mut path)?;
            self.metrics.listen = format!("{UNIX}{}", path.display());
        }
        Ok(())
    }
}

/// Expands a path. An empty one means no file.
fn expand(key: &str, path: &mut PathBuf, home: Option<&Path>) -> Result<(), ConfigError> {
    if path.as_os_str().as_encoded_bytes().starts_with(b"~") {
        let (Ok(rest), Some(home)) = (path.strip_prefix("~"), home) else {
            return Err(ConfigError::unusable(format!(
                "{key} {}: only `~/` means the home folder, and only if HOME is set; write the \
                 full path",
                shown(path)
            )));
        };
        *path = home.join(rest);
    }
    // Fails if the path is empty. Also fails if the current folder is gone; the relative path is
    // then invalid, which is reported when it is used.
    if let Ok(absolute) = std::path::absolute(&path) {
        *path = absolute;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::{DedupeScope, Spool};
    use super::*;

    /// A list may be a pipe, and a scan checks its filters once more after the flags.
    #[test]
    fn a_list_of_domains_is_read_once() {
        let path = std::env::temp_dir().join(format!("urlspool-list-{}", std::process::id()));
        fs::write(&path, ".a.example\n").unwrap();
        let mut config = Config::default();
        config.extract.exclude_domains = vec![path.display().to_string()];
        config.check_filters().unwrap();
        fs::remove_file(&path).unwrap();
        config.check_filters().unwrap();
        assert!(config.extract.excluded.contains("a.example"));
    }

    #[test]
    fn an_entry_without_a_slash_is_no_file_and_a_file_has_a_limit() {
        let refused = |entry: &str| {
            let mut config = Config::default();
            config.extract.exclude_domains = vec![entry.to_owned()];
            config.check_filters().unwrap_err().to_string()
        };
        // Regression: the file in the current folder was taken for a domain.
        let message = "it is also a file, ./Cargo.toml; write .Cargo.toml for the domain";
        assert!(refused("Cargo.toml").contains(message));
        assert!(refused("./none").contains("name a file with a domain on each line"));
        let path = std::env::temp_dir().join(format!("urlspool-long-{}", std::process::id()));
        File::create(&path)
            .unwrap()
            .set_len(DOMAIN_LIST_BYTES + 1)
            .unwrap();
        let message = refused(path.to_str().unwrap());
        fs::remove_file(&path).unwrap();
        assert!(
            message.contains("it has more than 134217728 bytes"),
            "{message}"
        );
    }

    #[track_caller]
    fn check(text: &str, message: &str) {
        let error = Config::parse(text).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }

    #[test]
    fn zero_is_refused_where_a_positive_value_is_needed() {
        check(
            "[output]\nseal_bytes = 0",
            "output.seal_bytes must be more than 0",
        );
        check("[watch]\nsweep = \"0s\"", "watch.sweep");
        check(
            "[state]\ncommit_interval = \"1us\"",
            "state.commit_interval",
        );
        assert!(Config::parse("[watch]\nsettle = \"0s\"").is_ok());
    }

    #[test]
    fn a_scheme_is_named_without_its_colon() {
        check(
            "[extract]\nextra_schemes = [\"a:\"]",
            "\"a:\" is not the name of a scheme",
        );
        check("[extract]\nschemes = [\"\"]", "is not the name of a scheme");
    }

    #[test]
    fn metrics_stay_on_the_machine() {
        let listen = |listen: &str| Config::parse(&format!("[metrics]\nlisten = \"{listen}\""));
        for local in ["127.0.0.1:9464", "[::1]:9464", "unix:/run/x", ""] {
            assert!(listen(local).is_ok(), "{local}");
        }
        for remote in ["0.0.0.0:9464", "9464"] {
            assert!(listen(remote).is_err(), "{remote}");
        }
    }

    #[test]
    fn output_in_a_spool_is_refused() {
        let mut config = Config {
            spool: vec![Spool {
                path: "/var".into(),
                kind: None,
                dedupe: DedupeScope::Mailbox,
            }],
            ..Config::default()
        };
        let error = config.check_folders().unwrap_err().to_string();
        assert!(error.contains("output.dir"), "{error}");
        config.output.dir = "/nowhere/out".into();
        config.state.dir = "/nowhere/state".into();
        assert!(config.check_folders().is_ok());
        config.spool.push(config.spool[0].clone());
        config.spool[1].path = "/var/../var".into();
        let error = config.check_folders().unwrap_err().to_string();
        assert!(error.contains("is given twice"), "{error}");
        config.spool.clear();
        config.state.dir = "/nowhere/out".into();
        let error = config.check_folders().unwrap_err().to_string();
        assert!(error.contains("choose two folders"), "{error}");
        config.output.dir = "".into();
        let error = config.check_folders().unwrap_err().to_string();
        assert_eq!(error, "output.dir is empty; write the path of a folder");
    }

    #[test]
    fn a_tilde_is_the_home_folder() {
        let text = "[output]\ndir = \"~/out\"\n[metrics]\nlisten \
            = \"unix:~/m.sock\"\n[[spool]]\npath = \"~\"";
        let mut config = Config::parse(text).unwrap();
        config.expand_paths(Some(Path::new("/home/jane"))).unwrap();
        assert_eq!(config.output.dir, Path::new("/home/jane/out"));
        assert_eq!(config.metrics.listen, "unix:/home/jane/m.sock");
        assert_eq!(config.spool[0].path, Path::new("/home/jane"));
        assert_eq!(config.state.dir, Config::default().state.dir);
    }

    #[test]
    fn an_unknown_home_folder_is_refused() {
        let config = || Config::parse("[state]\ndir = \"~joe/state\"").unwrap();
        for home in [None, Some(Path::new("/home/jane"))] {
            let error = config().expand_paths(home).unwrap_err().to_string();
            assert!(error.contains("state.dir ~joe/state"), "{error}");
        }
    }
}
