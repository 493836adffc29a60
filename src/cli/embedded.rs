//! The command line for programs that embed this crate, such as the Python package: a command as a
//! call, and the options of `scan` without its output.

use std::error::Error;
use std::ffi::OsString;
use std::fmt;

use super::args::{Command, ScanArgs};
use super::error::CommandError;
use super::scan::job;
use super::{parse_args, run_arguments};
use crate::extract::Options;
use crate::pipeline::Job;
use crate::record::{FieldId, LineFormat};

/// A scan by the options of the command line.
#[derive(Debug)]
#[non_exhaustive]
pub struct ScanRequest {
    /// The job. Its records are values, whole or with the fields that are chosen.
    pub job: Job,
    /// The options of extraction.
    pub options: Options,
    /// The fields that are chosen, in the order of the record; `None` for whole records.
    pub fields: Option<Vec<FieldId>>,
    /// `true` if any event is to be an error (`--strict`).
    pub strict: bool,
}

/// Options that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionError(String);

impl fmt::Display for OptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for OptionError {}

impl From<CommandError> for OptionError {
    fn from(error: CommandError) -> OptionError {
        OptionError(error.to_string())
    }
}

/// Runs a command with these arguments, the first of which is the name of the program, and returns
/// its exit code.
///
/// Writes to standard output and standard error as the program does.
#[must_use]
pub fn run_with(arguments: &[OsString]) -> u8 {
    run_arguments(arguments).code()
}

/// Reads the options of `scan`, as a shell would give them, and the paths after them.
///
/// # Errors
///
/// An option or its value is unknown, or the configuration file cannot be used.
pub fn scan_request(
    options: impl IntoIterator<Item = OsString>,
    paths: impl IntoIterator<Item = OsString>,
) -> Result<ScanRequest, OptionError> {
    let mut arguments: Vec<OsString> = vec!["urlspool".into(), "scan".into()];
    arguments.extend(options);
    arguments.push("--".into());
    arguments.extend(paths);
    let args = parse_args(&arguments).map_err(|error| OptionError(reason(&error)))?;
    match args.command {
        Command::Scan(args) => Ok(request(&args)?),
        _ => Err(OptionError("not the options of a scan".to_owned())),
    }
}

fn request(args: &ScanArgs) -> Result<ScanRequest, CommandError> {
    let config = job::config(args)?;
    let fields = job::chosen_fields(args).map(|chosen| {
        let all = FieldId::ALL.iter().copied();
        all.filter(|field| chosen.contains(field)).collect()
    });
    let mut job = job::job(args)?;
    job.line_format = LineFormat::Values(fields.clone().unwrap_or_else(|| FieldId::ALL.to_vec()));
    let options = job::options(args, &config, &job);
    super::raise_open_files();
    Ok(ScanRequest {
        job,
        options,
        fields,
        strict: args.strict,
    })
}

/// The first sentence of an error in the arguments: what follows it is for a shell.
fn reason(error: &clap::Error) -> String {
    let text = error.to_string();
    let first = text.split("\n\n").next().unwrap_or_default();
    first.trim_start_matches("error: ").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(options: &[&str]) -> Result<ScanRequest, OptionError> {
        scan_request(
            options.iter().map(OsString::from),
            ["a".into(), "-b".into()],
        )
    }

    #[test]
    fn options_and_paths_are_read_as_those_of_scan() {
        let whole = request(&["--threads", "3", "--unique", "message"]).unwrap();
        assert_eq!(whole.job.threads, 3);
        assert_eq!(whole.job.roots.len(), 2);
        assert_eq!(whole.options.unique, crate::extract::Unique::Message);
        assert!(whole.fields.is_none() && !whole.strict);
        let chosen = request(&["--fields", "source.start,url", "--strict"]).unwrap();
        assert_eq!(
            chosen.fields,
            Some(vec![FieldId::Url, FieldId::SourceStart])
        );
        assert!(chosen.strict);
    }

    #[test]
    fn an_error_is_one_sentence_about_the_option() {
        let error = |options: &[&str]| request(options).unwrap_err().to_string();
        let unknown = error(&["--rules", "strict"]);
        assert!(unknown.starts_with("invalid value 'strict'"), "{unknown}");
        assert!(!unknown.contains("Usage"), "{unknown}");
        assert!(error(&["--include", "["]).starts_with("cannot use the pattern"));
        assert!(error(&["--config", "/none"]).contains("/none"));
    }
}
