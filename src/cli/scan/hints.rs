//! Hints on standard error about results that the user probably did not want.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{IsTerminal, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::super::args::ScanArgs;
use super::super::location::{DATABASE_START, start_of};
use super::has_last_line;
use super::job::NamedContent;
use urlspool_files::config::Config;
use urlspool_files::pipeline::{Job, NamedCounts, Summary};
use urlspool_mail::documents::{DocumentKind, DocumentReading, read_document};
use urlspool_mail::split::SourceStart;
use urlspool_record::record::{is_written_line, read_item};
use urlspool_sources::read;
use urlspool_sources::read::{GitHost, Repository, RepositoryContent};
use urlspool_sources::walk::is_repository;
use urlspool_text::diagnostic::{SkipReason, counted};
use urlspool_text::grammar::Scheme;
use urlspool_text::limits::Limits;
use urlspool_text::origin::{FormatHint, Source, SourceKind};

/// Returns the hints before a scan.
pub(super) fn before(args: &ScanArgs, job: &Job, config: &Config) -> Vec<String> {
    let mut hints = unknown_schemes(args, config);
    if args.format.is_none() && NamedContent::of(args).is_unknown {
        let hint = "the extension of the -o file is unknown, so JSON lines are written; use \
                    --format for another format, or --into for a database";
        hints.push(hint.to_owned());
    }
    hints.extend(unmatched_globs(job));
    hints.extend(repeated_paths(job));
    hints.extend(contradicted_kinds(args, job));
    hints.extend(own_records(job));
    let reads_stdin = named_roots(job).any(|root| root.as_os_str() == Source::STDIN);
    if reads_stdin && std::io::stdin().is_terminal() {
        hints.push("reading standard input; Ctrl-D ends it".to_owned());
    }
    hints
}

/// Returns the hints after a scan: about the content of standard input, and reasons for an empty
/// result.
pub(super) fn after(args: &ScanArgs, job: &Job, summary: &Summary) -> Vec<String> {
    // Before the scan, this would block.
    let start = read::start_of_stdin();
    let own = own_lines(&start, "standard input", Source::STDIN);
    let mut hints: Vec<String> = own.into_iter().collect();
    if summary.records == 0 && begins_with_a_path(&start) {
        hints.push(
            "standard input contains file names; `--files-from -` reads these files".to_owned(),
        );
    }
    let filtered = count(&summary.files_skipped, SkipReason::Filtered);
    if let earlier @ 1.. = count(&summary.files_skipped, SkipReason::EarlierOutput) {
        let files = counted(
            earlier,
            "file in the folders was written by urlspool and skipped; name it to read it",
            "files in the folders were written by urlspool and skipped; name one to read it",
        );
        hints.push(files);
    }
    let unwanted = count(&summary.messages_skipped, SkipReason::Date)
        + count(&summary.messages_skipped, SkipReason::List);
    if summary.files == 0 && job.items.is_none() {
        let excluded = if args.sources.exclude.is_empty() {
            ""
        } else {
            " left by --exclude"
        };
        hints.push(format!(
            "there is no file in {}{excluded}",
            listed(&job.roots)
        ));
    } else if let links @ 1.. = count(&summary.files_skipped, SkipReason::Symlink)
        && links == summary.files
    {
        let links = counted(
            links,
            "symbolic link, which is",
            "symbolic links, which are",
        );
        hints.push(format!(
            "there is only {links} not followed; `--follow-links` reads the targets"
        ));
    } else if filtered > 0 && summary.files_read + summary.files_failed.sum() == 0 {
        let options = match (
            args.sources.include.is_empty(),
            args.sources.exclude.is_empty(),
        ) {
            (false, true) => "no file matches --include",
            (true, _) => "--exclude matches every file",
            (false, false) => "no file is left by --include and --exclude",
        };
        hints.push(format!("{options} ({filtered} skipped)"));
    } else if unwanted > 0 && summary.messages_scanned == 0 {
        hints.push(format!(
            "no message is left by --since, --until and --list ({unwanted} skipped)"
        ));
    } else if summary.records == 0
        && 0 < summary.files_read + count(&summary.files_skipped, SkipReason::Empty)
    {
        let filters = filters(&summary.filtered);
        hints.push(match summary.filtered.sum() {
            0 => "no URL was found".to_owned(),
            1 => format!("the only URL found does not match {filters}"),
            urls => format!("none of the {urls} URLs found matches {filters}"),
        });
    } else if let urls @ 1.. = summary.filtered.sum()
        && !args.verbose
        && !has_last_line(args)
    {
        hints.push(held_back(urls));
    }
    if unwanted > 0 && summary.messages_scanned > 0 && !args.verbose {
        let messages = counted(unwanted, "message", "messages");
        hints.push(format!("{messages} skipped (--since, --until, --list)"));
    }
    hints.extend(unread_parts(summary));
    hints
}

/// Unsupported media types of parts that may contain mail or URLs: a name, the types, and the
/// program that unpacks them.
const UNREAD_PARTS: [(&str, &[&str], &str); 2] = [
    (
        "encrypted smime.p7m",
        &["application/pkcs7-mime", "application/x-pkcs7-mime"],
        "`openssl cms -decrypt -inform DER -in FILE -inkey KEY` prints it",
    ),
    (
        "encrypted mail",
        &["application/pgp-encrypted"],
        "`gpg --decrypt FILE` prints it",
    ),
];

/// Returns a line about unsupported parts that other programs can read.
fn unread_parts(summary: &Summary) -> Option<String> {
    let kinds = UNREAD_PARTS.iter().filter_map(|(name, types, way_out)| {
        let types = types.iter();
        let parts: u64 = types.map(|it| summary.parts_other_types.of(it)).sum();
        (0 < parts).then(|| format!("{parts} of {name} ({way_out})"))
    });
    let kinds: Vec<String> = kinds.collect();
    (!kinds.is_empty()).then(|| format!("parts that were not read: {}", kinds.join(", ")))
}

/// Unsupported formats that may contain mail or URLs: the first bytes, the name, and the program
/// that unpacks them.
const UNREAD_FORMATS: &[(&[u8], &str, &str)] = &[
    (
        b"7z\xbc\xaf\x27\x1c",
        "a 7z archive",
        "unpack it: `7z x FILE`, or `7z x -so FILE | urlspool scan -`",
    ),
    (
        b"Rar!\x1a\x07",
        "a RAR archive",
        "unpack it: `unrar x FILE`, or `7z x FILE`",
    ),
    (
        b"!BDN",
        "an Outlook folder (pst)",
        "install the package pst-utils: its program `readpst` unpacks a named file",
    ),
    (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        "a Microsoft Office document from before 2007, or an encrypted one",
        "convert a document: `soffice --convert-to docx FILE`",
    ),
    (
        // The identifier of PKCS #7 (RFC 5652, section 3), up to the kind.
        b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07",
        "an encrypted message, or a signature alone (smime.p7m)",
        "decrypt it: `openssl cms -decrypt -inform DER -in FILE -inkey KEY | urlspool scan -`",
    ),
    (
        b"bplist00",
        "a binary property list of macOS",
        "convert it: `plistutil -i FILE`",
    ),
    (
        b"%PDF-",
        "an encrypted PDF document",
        "convert it: `pdftotext FILE - | urlspool scan -`",
    ),
    (
        DATABASE_START,
        "a SQLite database",
        "search it with `urlspool search FILE WORD`, count it with `urlspool stats FILE`",
    ),
];

/// Returns `true` if a file begins with `magic`, in DER after the tag and length of a sequence.
fn begins_as(start: &[u8], magic: &[u8]) -> bool {
    let mut ends = if start.starts_with(b"0") { 0..7 } else { 0..1 };
    ends.any(|at| start.get(at..).is_some_and(|rest| rest.starts_with(magic)))
}

/// Returns a line, with the remedy, for each file of unsupported format that the user named.
pub(in crate::cli) fn unread_inputs(job: &Job, summary: &Summary) -> Vec<String> {
    let has_skipped_repository = 0 < count(&summary.files_skipped, SkipReason::Repository);
    let lines = named_roots(job).filter_map(|root| {
        if has_skipped_repository && is_skipped_repository(root) {
            return Some(format!(
                "{0} was not read, because it is a git repository without the messages of a \
                 mailing list; check it out and scan its files: `git clone {0} FOLDER`",
                root.display()
            ));
        }
        let is_stdin = root.as_os_str() == Source::STDIN;
        let start = if is_stdin {
            read::start_of_stdin()
        } else {
            start_of(root)?
        };
        let mut formats = UNREAD_FORMATS.iter();
        let (_, name, way_out) = formats.find(|(magic, ..)| begins_as(&start, magic))?;
        if !is_stdin && read::is_outlook(&start) && read::has_readpst() {
            return None;
        }
        let (path, is_read) = if is_stdin {
            let is_read = DocumentKind::of(&start).is_some();
            ("standard input".to_owned(), is_read)
        } else {
            (root.display().to_string(), is_read_document(root, &start))
        };
        if is_read {
            return None;
        }
        Some(format!(
            "{path} was skipped because it is {name}; {way_out}"
        ))
    });
    lines.collect()
}

/// Returns `true` for a document whose text can be read, at least in part.
fn is_read_document(path: &Path, start: &[u8]) -> bool {
    let Some(kind) = DocumentKind::of(start) else {
        return false;
    };
    let limits = Limits::default();
    let mut bytes = Vec::new();
    let file = File::open(path);
    let read = file.and_then(|file| {
        file.take(limits.message_bytes as u64)
            .read_to_end(&mut bytes)
    });
    // For a damaged or too large document, an event states the reason.
    read.is_ok() && read_document(kind, &bytes, &limits, &mut || {}) != DocumentReading::default()
}

/// Returns `true` for a git repository that is not read, such as one with program code.
fn is_skipped_repository(root: &Path) -> bool {
    let open = || Repository::open(root, &GitHost::new(&Limits::default()));
    is_repository(root)
        && matches!(
            open(),
            Ok(RepositoryContent::Skipped(SkipReason::Repository))
        )
}

/// Returns `true` if the first line is the path of an existing file or folder, as `find` prints it.
fn begins_with_a_path(start: &[u8]) -> bool {
    let line = start.split(|&byte| byte == b'\n' || byte == 0).next();
    line.is_some_and(|line| !line.is_empty() && Path::new(OsStr::from_bytes(line)).exists())
}

/// Returns a hint for each named file that starts with records or work items of urlspool: their
/// URLs would be found a second time.
fn own_records(job: &Job) -> Vec<String> {
    let hints = named_roots(job).filter_map(|root| {
        let path = root.display().to_string();
        own_lines(&start_of(root)?, &path, &path)
    });
    hints.collect()
}

/// Returns a hint for an input that starts with records or work items. `name` is its name in a
/// sentence, `path` its name as an argument.
fn own_lines(start: &[u8], name: &str, path: &str) -> Option<String> {
    if is_written_line(start) && !start.starts_with(b"{") {
        return Some(format!(
            "{name} is a table written by urlspool, so its URLs are found again; scan the original \
             mail instead"
        ));
    }
    if is_written_line(start) {
        return Some(format!(
            "{name} was written by urlspool; count its records with `urlspool stats {path}`, or \
             load them with `urlspool load --into DB {path}`"
        ));
    }
    let line = start.split(|&byte| byte == b'\n').next()?;
    read_item(str::from_utf8(line).ok()?).is_ok().then(|| {
        format!("{name} contains work items; scan them with `urlspool scan --splits {path}`")
    })
}

/// Returns a line about encrypted members of the archives that the user named.
pub(super) fn encrypted_members(job: &Job, summary: &Summary) -> Option<String> {
    let members = count(&summary.members_skipped, SkipReason::Encrypted);
    let has_named = job.roots.iter().any(|root| root.is_file());
    (has_named && 0 < members).then(|| {
        let members = counted(members, "encrypted member was", "encrypted members were");
        format!("{members} not read; unpack the archive with its password, and scan the folder")
    })
}

/// Returns a hint about paths that are named twice, perhaps through a link, or are inside a named
/// folder: their URLs are found twice. Costs the resolution of each path.
pub(in crate::cli) fn repeated_paths(job: &Job) -> Option<String> {
    let roots = named_roots(job).filter(|root| root.as_os_str() != Source::STDIN);
    let roots = roots.filter_map(|root| Some((root, root.canonicalize().ok()?)));
    let roots: Vec<(&PathBuf, PathBuf)> = roots.collect();
    let named: HashSet<&Path> = roots.iter().map(|(_, place)| place.as_path()).collect();
    let mut seen = HashSet::new();
    let mut repeated = roots.iter().filter(|(_, place)| {
        let is_inside = place
            .ancestors()
            .skip(1)
            .any(|folder| named.contains(folder));
        !seen.insert(place.as_path()) || is_inside
    });
    let first = repeated.next()?.0.display();
    Some(match repeated.count() {
        0 => format!(
            "{first} is named twice, or is in a named folder, so its URLs are found twice; name \
             each file once"
        ),
        others => format!(
            "{first} and {} are named twice, or are in folders that are named: their URLs are \
             found twice; name each file once, as `find FOLDER -type f` does",
            counted(others as u64, "other path", "other paths")
        ),
    })
}

/// Returns a hint for each named file of several messages that is read as another kind, because the
/// user named that kind.
fn contradicted_kinds(args: &ScanArgs, job: &Job) -> Vec<String> {
    let Some(given) = args.sources.kind.filter(|kind| *kind != SourceKind::Text) else {
        return Vec::new();
    };
    let hints = named_roots(job).filter_map(|root| {
        let start = SourceStart::of_bytes(start_of(root)?);
        let found = start.format(None, FormatHint::None).ok()?.kind();
        let is_several = matches!(
            found,
            SourceKind::Mbox | SourceKind::Rnews | SourceKind::Mmdf | SourceKind::Babyl
        );
        (is_several && found != given).then(|| {
            format!(
                "{} begins as {}, and --kind {} divides it in another way: its URLs may get the \
                 sender and the date of another message; without --kind the format is recognized",
                root.display(),
                found.name(),
                given.name()
            )
        })
    });
    hints.collect()
}

/// Returns the reason why a named input is not loaded: it was written by urlspool.
pub(super) fn own_input(job: &Job, target: &str) -> Option<String> {
    named_roots(job).find_map(|root| {
        let start = start_of(root)?;
        let path = root.display();
        if !is_written_line(&start) {
            None
        } else if start.starts_with(b"{") {
            Some(format!(
                "{path} was written by urlspool and is not mail; load its records: urlspool load \
                 --into {target} {path}"
            ))
        } else {
            Some(format!(
                "{path} is a table written by urlspool, not mail; scan the original mail"
            ))
        }
    })
}

/// Returns a hint for each path that does not exist and looks like a pattern, which shells replace
/// by the matching files.
fn unmatched_globs(job: &Job) -> Vec<String> {
    named_roots(job)
        .filter(|path| {
            let text = path.to_string_lossy();
            text.contains(['*', '?', '[']) && path.symlink_metadata().is_err()
        })
        .map(|path| {
            let path = path.display();
            format!("{path}: the pattern matches no file, or it was in quotes")
        })
        .collect()
}

/// Returns a hint for each requested scheme that urlspool does not know.
fn unknown_schemes(args: &ScanArgs, config: &Config) -> Vec<String> {
    let extract = &config.extract;
    let origin = if args.schemes.is_empty() {
        "extract.schemes"
    } else {
        "--schemes"
    };
    let unknown = extract.schemes.iter().filter(|name| {
        let mut extra = extract.extra_schemes.iter();
        Scheme::named(name.as_bytes()).is_none()
            && !extra.any(|extra| extra.eq_ignore_ascii_case(name))
    });
    let found = "of its URLs only those with";
    let hints = unknown.map(|name| {
        format!("{origin}: {name} is an unknown scheme: {found} `{name}://` are found")
    });
    hints.collect()
}

/// Formats the number of URLs that filters held back, as a sentence.
pub(in crate::cli) fn held_back(urls: u64) -> String {
    format!("{} held back by the filters", counted(urls, "URL", "URLs"))
}

/// Lists the options that held URLs back, for use in a sentence, with the wider one of `--host`.
fn filters(counts: &NamedCounts) -> String {
    let names = counts.by_name().into_keys();
    let options: Vec<_> = names.map(|name| format!("--{name}")).collect();
    let wider = "--host (--domain takes all hosts of a domain)";
    options.join(", ").replace("--host", wider)
}

/// Returns the files and folders that the user named.
fn named_roots(job: &Job) -> impl Iterator<Item = &PathBuf> {
    job.roots.iter().filter(|_| job.items.is_none())
}

fn count(counts: &NamedCounts, reason: SkipReason) -> u64 {
    counts.by_name().get(reason.name()).copied().unwrap_or(0)
}

fn listed(roots: &[impl AsRef<Path>]) -> String {
    match roots {
        [] => "the list".to_owned(),
        [root] => root.as_ref().display().to_string(),
        [first, .., last] if roots.len() == 2 => {
            format!(
                "{} and {}",
                first.as_ref().display(),
                last.as_ref().display()
            )
        }
        _ => format!("the {} paths", roots.len()),
    }
}
