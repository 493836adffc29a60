//! Rejects outputs that would destroy an input or one another. No file is opened for writing before
//! this check.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileExt, FileTypeExt};
use std::path::{Path, PathBuf};

use rustix::stdio::{stderr, stdin, stdout};

use super::super::error::CommandError;
use super::super::location::FileLocation;
use super::output::{OutputContent, PlacedOutput};
use urlspool_files::sink::{
    FileIdentity, OutputPlace, PARTIAL, Replacement, check_replacement, resolve, with_end,
};
use urlspool_record::record::{ParsedGrepLine, is_written_line, parse_grep_line};
use urlspool_sources::walk::{DeviceInode, PathFilter, SymlinkPolicy, WalkStep, walk};
use urlspool_text::diagnostic::SkipReason;
use urlspool_text::origin::Source;

/// A path that refers to standard output, if it is a file.
const STDOUT_FILE: &str = "/dev/fd/1";

/// The name of standard input among the inputs.
const STDIN_NAME: &str = "on standard input";

/// The files that a scan reads and that the user named.
pub(super) struct NamedInputs<'a> {
    /// Files and folders to scan; `-` for standard input.
    pub(super) scanned: Vec<&'a Path>,
    /// Files of options and work items.
    pub(super) settings: Vec<&'a Path>,
    /// Treatment of symbolic links below a scanned folder.
    pub(super) links: SymlinkPolicy,
}

/// Output files, which must not be read.
#[derive(Debug, Default)]
pub(super) struct OwnFiles {
    /// Standard output, and earlier outputs to be replaced.
    pub(super) files: Vec<DeviceInode>,
    /// An input that is also standard output, and will be skipped.
    pub(super) skipped_input: Option<PathBuf>,
}

/// Checks that no output is an input, another output, or, unless allowed, a file that urlspool did
/// not write.
///
/// # Errors
///
/// A usage error that names the files.
pub(super) fn check(
    places: &[PlacedOutput],
    inputs: &NamedInputs<'_>,
    replacement: Replacement,
) -> Result<OwnFiles, CommandError> {
    let outputs: Vec<NamedFile> = places.iter().flat_map(written_files).collect();
    let on_stdout = places.iter();
    let on_stdout = on_stdout.filter(|output| output.place == OutputPlace::Stdout);
    let on_stdout: Vec<_> = on_stdout.map(|output| output.content).collect();
    if let [one, other, ..] = on_stdout[..] {
        let one = match one {
            // Records go to standard output without an option.
            OutputContent::Records => "the records",
            one => one.option(),
        };
        let other = other.option();
        return Err(CommandError::usage(format!(
            "{one} and {other} would both go to standard output; name a file for one of them"
        )));
    }
    let named_inputs = inputs.files();
    for (number, output) in outputs.iter().enumerate() {
        if let Some(other) = outputs[..number]
            .iter()
            .find(|other| other.file == output.file)
        {
            let (one, other) = (&output.name, &other.name);
            return Err(CommandError::usage(format!(
                "{one} and {other} would write to the same file; name two files"
            )));
        }
        if let Some(input) = named_inputs.iter().find(|input| output.file == input.file) {
            let (output, input) = (&output.name, &input.name);
            return Err(CommandError::usage(format!(
                "{output} would overwrite the input {input}; name another file for the output"
            )));
        }
    }
    if replacement == Replacement::Refused {
        for PlacedOutput { content, place } in places {
            if let OutputPlace::File(path) = place {
                // The partial file of a killed run is replaced too, and it may be a user's own
                // file.
                let target = resolve(path).unwrap_or_else(|_| path.clone());
                check_replacement(path, None)
                    .and_then(|()| check_replacement(&with_end(&target, PARTIAL), None))
                    .map_err(|reason| {
                        CommandError::usage(format!("{}: {reason}", content.option()))
                    })?;
            }
        }
    }
    let mut own = OwnFiles::default();
    for output in &outputs {
        if inputs.contains(output)? {
            own.files.extend(output.file.id());
        }
    }
    if let Some(standard) = open_file(stdout().try_clone_to_owned()) {
        // The output has its own position in the file.
        if let Some(output) = outputs.iter().find(|output| output.file == standard) {
            return Err(CommandError::usage(format!(
                "{} is standard output too; write it as `-`, or name another file",
                output.name
            )));
        }
        own.skipped_input = skipped_input(&standard, &named_inputs)?;
        if !on_stdout.is_empty() {
            inputs.check_foreign(&standard, &named_inputs)?;
        }
        own.files.extend(standard.id());
    }
    if let Some(file) = open_file(stderr().try_clone_to_owned()) {
        own.files.extend(file.id());
    }
    Ok(own)
}

/// Returns the identity of the file at `path`. `None` for a folder, for a character device, which
/// can be read and written at the same time, and for a file in a folder that does not exist.
fn identity(path: &Path) -> Option<FileIdentity> {
    match path.metadata() {
        Ok(metadata) => identity_of(&metadata),
        Err(_) => resolve(path).ok().map(FileIdentity::Missing),
    }
}

fn identity_of(metadata: &Metadata) -> Option<FileIdentity> {
    let kind = metadata.file_type();
    let counts = kind.is_file() || kind.is_fifo() || kind.is_block_device();
    counts.then(|| FileIdentity::Existing(DeviceInode::of(metadata)))
}

/// A file that is read, or that an output writes, under its own name or under that of the partial
/// file.
struct NamedFile {
    /// The name that the user gave it; for an output, preceded by the option.
    name: String,
    path: PathBuf,
    file: FileIdentity,
}

/// Returns the files that an output writes.
fn written_files(output: &PlacedOutput) -> Vec<NamedFile> {
    let paths = match &output.place {
        OutputPlace::Stdout => return Vec::new(),
        OutputPlace::Device(path) => vec![path.clone()],
        OutputPlace::File(path) => match resolve(path) {
            Ok(target) => vec![path.clone(), with_end(&target, PARTIAL)],
            // It cannot be opened, which is reported at that point.
            Err(_) => Vec::new(),
        },
    };
    let paths = paths.into_iter().filter_map(|path| {
        Some(NamedFile {
            name: format!("{} {}", output.content.option(), path.display()),
            file: identity(&path)?,
            path,
        })
    });
    paths.collect()
}

impl NamedInputs<'_> {
    fn files(&self) -> Vec<NamedFile> {
        let all = self.scanned.iter().chain(&self.settings);
        all.filter_map(|path| {
            if path.as_os_str() == Source::STDIN {
                let file = identity_of(
                    &File::from(stdin().try_clone_to_owned().ok()?)
                        .metadata()
                        .ok()?,
                )?;
                return Some(NamedFile {
                    name: STDIN_NAME.to_owned(),
                    path: path.to_path_buf(),
                    file,
                });
            }
            Some(NamedFile {
                name: path.display().to_string(),
                path: path.to_path_buf(),
                file: identity(path)?,
            })
        })
        .collect()
    }

    /// Returns `true` if the scan would find an existing output in one of its folders.
    ///
    /// # Errors
    ///
    /// A usage error if the file has content that urlspool did not write.
    fn contains(&self, output: &NamedFile) -> Result<bool, CommandError> {
        if output.file.id().is_none() {
            return Ok(false);
        }
        let Ok(path) = output.path.canonicalize() else {
            return Ok(false);
        };
        let Some(root) = self.scanned.iter().find(|root| {
            root.is_dir() && root.canonicalize().is_ok_and(|root| path.starts_with(root))
        }) else {
            return Ok(false);
        };
        if path.is_file() && !is_replaceable(&path) {
            let (name, root) = (&output.name, root.display());
            return Err(CommandError::usage(format!(
                "{name} would overwrite a file in the scanned {root} that urlspool may not have \
                 written; name a file outside {root}, or remove this one first"
            )));
        }
        Ok(true)
    }

    /// Checks that standard output, to which a shell may append records (`>>`), is not an input
    /// that urlspool did not write.
    ///
    /// # Errors
    ///
    /// A usage error that names the input, or the folder that contains it.
    fn check_foreign(
        &self,
        standard: &FileIdentity,
        named: &[NamedFile],
    ) -> Result<(), CommandError> {
        if is_replaceable(Path::new(STDOUT_FILE)) {
            return Ok(());
        }
        let input = named.iter().find(|input| input.file == *standard);
        let holder = match input {
            Some(input) => input.name.clone(),
            None => match self.scanned.iter().find(|root| self.finds(root, standard)) {
                Some(root) => format!("a file in {}", root.display()),
                None => return Ok(()),
            },
        };
        Err(CommandError::usage(format!(
            "standard output is {holder}, which is scanned, and urlspool may not have written it; \
             write the output to another file"
        )))
    }

    /// Returns `true` if the walk of a root finds a file, under any name.
    fn finds(&self, root: &Path, file: &FileIdentity) -> bool {
        let filter = PathFilter::default().without_own_outputs(file.id().into_iter().collect());
        walk(&[root.to_owned()], &filter, self.links).any(|step| {
            let reason = SkipReason::OwnOutput;
            matches!(step, WalkStep::Skipped { reason: found, .. } if found == reason)
        })
    }
}

/// Returns `true` if a file is empty or starts with a line that urlspool wrote.
fn is_replaceable(path: &Path) -> bool {
    /// Longer than most lines. A longer line of chosen fields is not recognized.
    const START_BYTES: u64 = 64 << 10;
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(START_BYTES).read_to_end(&mut start));
    let is_ours = is_written_line(&start) || parse_grep_line(&start).is_some_and(names_its_url);
    read.is_ok() && (start.is_empty() || is_ours)
}

/// Returns `true` if the URL of a line occurs at the line's place. That is never the case for
/// output of `grep -n`.
fn names_its_url(line: ParsedGrepLine<'_>) -> bool {
    /// The length of the shortest scheme with its colon.
    const COMPARED_BYTES: usize = 4;
    let file = FileLocation::parse(line.names).path;
    let mut found = [0; COMPARED_BYTES];
    let read = File::open(file).and_then(|file| file.read_exact_at(&mut found, line.start));
    let start = line.url.as_bytes().get(..COMPARED_BYTES);
    read.is_ok() && start.is_some_and(|start| found.eq_ignore_ascii_case(start))
}

/// Returns the identity of a standard stream, if it is a file.
fn open_file(stream: io::Result<OwnedFd>) -> Option<FileIdentity> {
    let metadata = File::from(stream.ok()?).metadata().ok()?;
    identity_of(&metadata).filter(|_| metadata.is_file())
}

/// Returns the input that is also standard output, and is skipped: a shell may have included it in
/// a list of all files.
///
/// # Errors
///
/// A usage error if it is standard input, which would never end.
fn skipped_input(
    standard: &FileIdentity,
    inputs: &[NamedFile],
) -> Result<Option<PathBuf>, CommandError> {
    match inputs.iter().find(|input| input.file == *standard) {
        None => Ok(None),
        Some(input) if input.name == STDIN_NAME => Err(CommandError::usage(
            "standard input and standard output are the same file; name another file for the \
             output",
        )),
        Some(input) => Ok(Some(PathBuf::from(&input.name))),
    }
}
