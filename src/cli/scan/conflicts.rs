//! Refusal of outputs that would destroy an input or one another. Nothing is opened for writing before this.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileExt, FileTypeExt};
use std::path::{Path, PathBuf};

use rustix::stdio::{stderr, stdin, stdout};

use super::super::error::{CommandError, Exit};
use super::super::location::FileLocation;
use super::output::OutputPlaces;
use crate::diagnostic::SkipReason;
use crate::origin::Source;
use crate::record::{ParsedGrepLine, is_written_line, parse_grep_line};
use crate::sink::{OutputPlace, Replacement, check_replacement, partial_path, resolve};
use crate::walk::{DeviceInode, PathFilter, SymlinkPolicy, WalkStep, walk};

/// A name by which standard output can be read, if it is a file.
const STDOUT_FILE: &str = "/dev/fd/1";

/// The name of standard input among the inputs.
const STDIN_NAME: &str = "on standard input";

/// The files that a scan reads and that its user named.
pub(super) struct NamedInputs<'a> {
    /// Files and folders to scan; `-` for standard input.
    pub(super) scanned: Vec<&'a Path>,
    /// Files of options and work items.
    pub(super) settings: Vec<&'a Path>,
    /// Treatment of symbolic links beneath a scanned folder.
    pub(super) links: SymlinkPolicy,
}

/// Files that are outputs, and must not be read.
#[derive(Debug, Default)]
pub(super) struct OwnFiles {
    /// Standard output, and earlier outputs that are replaced.
    pub(super) files: Vec<DeviceInode>,
    /// An input that is standard output, and will be skipped.
    pub(super) skipped_input: Option<PathBuf>,
}

/// Checks that no output is an input, another output, or, unless that is allowed, a file that urlspool did not write.
///
/// # Errors
///
/// A usage error that names the files.
pub(super) fn check(
    places: &OutputPlaces,
    inputs: &NamedInputs<'_>,
    replacement: Replacement,
) -> Result<OwnFiles, CommandError> {
    let outputs: Vec<WrittenFile> = places
        .all()
        .flat_map(|(content, place)| written_files(content.option(), place))
        .collect();
    let mut on_stdout = places
        .all()
        .filter(|(_, place)| **place == OutputPlace::Stdout)
        .map(|(content, _)| content);
    if let (Some(one), Some(other)) = (on_stdout.next(), on_stdout.next()) {
        let (one, other) = (one.subject(), other.option());
        return Err(refused(format!(
            "{one} and {other} would both go to standard output; name a file for one of them"
        )));
    }
    let named_inputs = inputs.files();
    for (number, output) in outputs.iter().enumerate() {
        if let Some(other) = outputs[..number].iter().find(|other| output.clashes(other)) {
            let (one, other) = (&output.name, &other.name);
            return Err(refused(format!(
                "{one} and {other} would write to the same file; name two files"
            )));
        }
        if let Some(input) = named_inputs.iter().find(|input| output.file == input.file) {
            let (output, input) = (&output.name, &input.name);
            return Err(refused(format!(
                "{output} would overwrite the input {input}; name another file for the output"
            )));
        }
    }
    if replacement == Replacement::Refused {
        for (content, place) in places.all() {
            if let OutputPlace::File(path) = place {
                // The partial file of a run that was killed is replaced too; it may be a user's own.
                let target = resolve(path).unwrap_or_else(|_| path.clone());
                check_replacement(path, None)
                    .and_then(|()| check_replacement(&partial_path(&target), None))
                    .map_err(|reason| refused(format!("{}: {reason}", content.option())))?;
            }
        }
    }
    let mut own = OwnFiles::default();
    for output in &outputs {
        if inputs.is_beneath(output)? {
            own.files.extend(output.file.id());
        }
    }
    if let Some(standard) = standard_output() {
        check_standard_output(&standard, &outputs)?;
        own.skipped_input = skipped_input(&standard, &named_inputs)?;
        if places.has_stdout() {
            inputs.check_foreign(&standard, &named_inputs)?;
        }
        own.files.extend(standard.id());
    }
    if let Some(file) = open_file(stderr().try_clone_to_owned()) {
        own.files.extend(file.id());
    }
    Ok(own)
}

/// Identity of a file that may not exist yet.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Identity {
    Existing(DeviceInode),
    /// The path with links resolved.
    Missing(PathBuf),
}

impl Identity {
    fn id(&self) -> Option<DeviceInode> {
        match self {
            Identity::Existing(id) => Some(*id),
            Identity::Missing(_) => None,
        }
    }

    /// The identity of the file at `path`; `None` for a folder, for a character device, which can be read and written at the same
    /// time, and for a file in a folder that does not exist.
    fn of(path: &Path) -> Option<Identity> {
        match path.metadata() {
            Ok(metadata) => Identity::of_open(&metadata),
            Err(_) => resolve(path).ok().map(Identity::Missing),
        }
    }

    fn of_open(metadata: &Metadata) -> Option<Identity> {
        let kind = metadata.file_type();
        let counts = kind.is_file() || kind.is_fifo() || kind.is_block_device();
        counts.then(|| Identity::Existing(DeviceInode::of(metadata)))
    }
}

/// File under the name that the user gave it.
struct NamedFile {
    name: String,
    file: Identity,
}

/// File that an output writes: under its own name or, until it is complete, aside.
struct WrittenFile {
    /// The option and its value.
    name: String,
    path: PathBuf,
    file: Identity,
}

impl WrittenFile {
    /// Returns `true` if two outputs write to one file.
    fn clashes(&self, other: &WrittenFile) -> bool {
        self.file == other.file
    }
}

/// The files that an output writes.
fn written_files(option: &str, place: &OutputPlace) -> Vec<WrittenFile> {
    let paths = match place {
        OutputPlace::Stdout => return Vec::new(),
        OutputPlace::Device(path) => vec![path.clone()],
        OutputPlace::File(path) => match resolve(path) {
            Ok(target) => vec![path.clone(), partial_path(&target)],
            // It cannot be opened, which is reported then.
            Err(_) => Vec::new(),
        },
    };
    let named = |path: PathBuf| {
        Some(WrittenFile {
            name: format!("{option} {}", path.display()),
            file: Identity::of(&path)?,
            path,
        })
    };
    paths.into_iter().filter_map(named).collect()
}

impl NamedInputs<'_> {
    fn files(&self) -> Vec<NamedFile> {
        let all = self.scanned.iter().chain(&self.settings);
        all.filter_map(|path| {
            if path.as_os_str() == Source::STDIN {
                let file = Identity::of_open(
                    &File::from(stdin().try_clone_to_owned().ok()?)
                        .metadata()
                        .ok()?,
                )?;
                let name = STDIN_NAME.to_owned();
                return Some(NamedFile { name, file });
            }
            Some(NamedFile {
                name: path.display().to_string(),
                file: Identity::of(path)?,
            })
        })
        .collect()
    }

    /// Returns `true` if the scan would find an existing output in one of its folders.
    ///
    /// # Errors
    ///
    /// A usage error if it holds something that urlspool did not write.
    fn is_beneath(&self, output: &WrittenFile) -> Result<bool, CommandError> {
        if output.file.id().is_none() {
            return Ok(false);
        }
        let Ok(path) = output.path.canonicalize() else {
            return Ok(false);
        };
        let holds = |root: &&&Path| {
            root.is_dir() && root.canonicalize().is_ok_and(|root| path.starts_with(root))
        };
        let Some(root) = self.scanned.iter().find(holds) else {
            return Ok(false);
        };
        if path.is_file() && !is_replaceable(&path) {
            let (name, root) = (&output.name, root.display());
            return Err(refused(format!(
                "{name} would overwrite a file beneath {root}, which is scanned, and its first line does not show that urlspool \
                 wrote it; name a file outside of {root}, or remove this one first"
            )));
        }
        Ok(true)
    }

    /// Checks that standard output, to which a shell may have appended records (`>>`), is no input that urlspool did not write.
    ///
    /// # Errors
    ///
    /// A usage error that names the input, or the folder that holds it.
    fn check_foreign(&self, standard: &Identity, named: &[NamedFile]) -> Result<(), CommandError> {
        if is_replaceable(Path::new(STDOUT_FILE)) {
            return Ok(());
        }
        let input = named.iter().find(|input| input.file == *standard);
        let holder = match input {
            Some(input) => input.name.clone(),
            None => match self.scanned.iter().find(|root| self.finds(root, standard)) {
                Some(root) => format!("a file beneath {}", root.display()),
                None => return Ok(()),
            },
        };
        Err(refused(format!(
            "standard output is {holder}, which is scanned, and its first line does not show that urlspool wrote it; write the \
             output to another file"
        )))
    }

    /// Returns `true` if the walk of a root finds a file, by whatever name.
    fn finds(&self, root: &Path, file: &Identity) -> bool {
        let filter = PathFilter::default().without_own_outputs(file.id().into_iter().collect());
        let is_found = |step| {
            let reason = SkipReason::OwnOutput;
            matches!(step, WalkStep::Skipped { reason: found, .. } if found == reason)
        };
        walk(&[root.to_owned()], &filter, self.links).any(is_found)
    }
}

/// Returns `true` if a file is empty, or begins with a line that urlspool wrote.
fn is_replaceable(path: &Path) -> bool {
    /// Longer than most lines. A longer one of chosen fields is not recognized.
    const START_BYTES: u64 = 64 << 10;
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(START_BYTES).read_to_end(&mut start));
    let is_ours = is_written_line(&start) || parse_grep_line(&start).is_some_and(names_its_url);
    read.is_ok() && (start.is_empty() || is_ours)
}

/// Returns `true` if the URL of a line stands at its place, as in no line of `grep -n`.
fn names_its_url(line: ParsedGrepLine<'_>) -> bool {
    /// The shortest scheme with its colon.
    const COMPARED_BYTES: usize = 4;
    let file = FileLocation::parse(line.names).path;
    let mut found = [0; COMPARED_BYTES];
    let read = File::open(file).and_then(|file| file.read_exact_at(&mut found, line.start));
    let start = line.url.as_bytes().get(..COMPARED_BYTES);
    read.is_ok() && start.is_some_and(|start| found.eq_ignore_ascii_case(start))
}

/// Standard output, if it is a file.
fn standard_output() -> Option<Identity> {
    open_file(stdout().try_clone_to_owned())
}

/// A copy of a standard stream, if it is a file.
fn open_file(stream: io::Result<OwnedFd>) -> Option<Identity> {
    let metadata = File::from(stream.ok()?).metadata().ok()?;
    Identity::of_open(&metadata).filter(|_| metadata.is_file())
}

/// Checks that no output by name is standard output, which has its own position in the file.
fn check_standard_output(standard: &Identity, outputs: &[WrittenFile]) -> Result<(), CommandError> {
    match outputs.iter().find(|output| output.file == *standard) {
        None => Ok(()),
        Some(output) => Err(refused(format!(
            "{} is standard output too; write it as `-`, or name another file",
            output.name
        ))),
    }
}

/// The input that is standard output, and is skipped: a shell may have put it into a list of all files.
///
/// # Errors
///
/// A usage error if it is standard input, of which there would be no end.
fn skipped_input(
    standard: &Identity,
    inputs: &[NamedFile],
) -> Result<Option<PathBuf>, CommandError> {
    match inputs.iter().find(|input| input.file == *standard) {
        None => Ok(None),
        Some(input) if input.name == STDIN_NAME => Err(refused(
            "standard input and standard output are the same file; name another file for the output".to_owned(),
        )),
        Some(input) => Ok(Some(PathBuf::from(&input.name))),
    }
}

fn refused(message: String) -> CommandError {
    CommandError::new(Exit::Usage, message)
}
