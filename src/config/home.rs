//! `~/` at the start of paths.

use std::path::{Path, PathBuf};

use super::error::shown;
use super::{Config, ConfigError};

/// The start of an address of `metrics.listen` that is followed by a path.
const UNIX: &str = "unix:";

impl Config {
    /// Replaces `~/` at the start of every path by the folder `home`.
    pub(super) fn expand_home(mut self, home: Option<&Path>) -> Result<Config, ConfigError> {
        expand("output.dir", &mut self.output.dir, home)?;
        expand("state.dir", &mut self.state.dir, home)?;
        expand("metrics.textfile", &mut self.metrics.textfile, home)?;
        for spool in &mut self.spool {
            expand("spool.path", &mut spool.path, home)?;
        }
        if let Some(path) = self.metrics.listen.strip_prefix(UNIX) {
            let mut path = PathBuf::from(path);
            expand("metrics.listen", &mut path, home)?;
            self.metrics.listen = format!("{UNIX}{}", path.display());
        }
        Ok(self)
    }
}

fn expand(key: &'static str, path: &mut PathBuf, home: Option<&Path>) -> Result<(), ConfigError> {
    let begins_with_tilde = path.as_os_str().as_encoded_bytes().starts_with(b"~");
    if !begins_with_tilde {
        return Ok(());
    }
    match (path.strip_prefix("~"), home) {
        (Ok(rest), Some(home)) => {
            *path = home.join(rest);
            Ok(())
        }
        _ => Err(ConfigError::Unusable(format!(
            "{key} {}: only `~/` stands for a home folder, and only if HOME is set; write the whole path",
            shown(path)
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tilde_is_the_home_folder() {
        let text = "[output]\ndir = \"~/out\"\n[metrics]\nlisten = \"unix:~/m.sock\"\n[[spool]]\npath = \"~\"";
        let config = Config::parse(text).unwrap();
        let config = config.expand_home(Some(Path::new("/home/jane"))).unwrap();
        assert_eq!(config.output.dir, Path::new("/home/jane/out"));
        assert_eq!(config.metrics.listen, "unix:/home/jane/m.sock");
        assert_eq!(config.spool[0].path, Path::new("/home/jane"));
        assert_eq!(config.state.dir, Config::default().state.dir);
    }

    #[test]
    fn a_home_folder_that_is_not_known_is_refused() {
        let config = || Config::parse("[state]\ndir = \"~joe/state\"").unwrap();
        for home in [None, Some(Path::new("/home/jane"))] {
            let error = config().expand_home(home).unwrap_err().to_string();
            assert!(error.contains("state.dir ~joe/state"), "{error}");
        }
    }
}
