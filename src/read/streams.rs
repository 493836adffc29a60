//! A source, and the streams of text that lie in it: its own bytes, or what compressions and archives hold.
//!
//! Archives in archives stand on a stack, the outermost first; each lends its current member to the one above it.

use std::collections::VecDeque;
use std::io::{self, Read};

use super::archive::{Archive, Entry, What, is_archive};
use super::compression::{Allowed, Compression, batch_line, unpacked};
use super::error as fault;
use super::input::Input;
use super::ratio_limit::{Count, Ratio};
use super::sparse_read::SparseRead;
use crate::diagnostic::{Diagnostic, DiagnosticKind, Event, SkipReason};
use crate::limits::Limits;
use crate::origin::{FormatHint, Source};
use crate::walk;

/// Whether bytes that begin so hold others: compressed, or an archive.
#[must_use]
pub fn is_container(start: &[u8]) -> bool {
    Compression::of(start).is_some() || is_archive(start)
}

/// What comes next in a source.
pub enum StreamStep {
    /// Bytes that hold no others. They are to be read before the next step is asked for.
    Stream {
        /// Their place.
        source: Source,
        /// What that place tells of their format.
        hint: FormatHint,
        /// The bytes.
        stream: Box<dyn SparseRead>,
    },
    /// A member that is not read.
    Skipped {
        /// The member.
        source: Source,
        /// Why it is not read.
        reason: SkipReason,
    },
    /// An archive that was read to its end.
    ArchiveRead(Source),
    /// A file or a member that could not be read, or not to its end.
    Failed(Event),
    /// An archive that could not be read to its end, after an event about its last member that said so.
    ArchiveBroken {
        /// The archive.
        source: Source,
        /// The kind of that event.
        kind: DiagnosticKind,
    },
    /// An irregularity that changes nothing in what is read.
    Warning(Event),
}

/// The steps through a source, made while they are asked for.
///
/// Each source and each member that is no folder comes to one end: a stream's, or one of `Skipped`, `ArchiveRead`, `Failed` and
/// `ArchiveBroken`. Nothing is unpacked but while it is read.
pub struct Streams {
    limits: Limits,
    count: Count,
    /// What is to be looked at next.
    found: Option<Found>,
    /// Steps that were found out and not given yet.
    said: VecDeque<StreamStep>,
    levels: Vec<Level>,
    is_unpacked: bool,
}

/// Bytes that nobody has looked at yet.
struct Found {
    source: Source,
    hint: FormatHint,
    input: Input,
    /// How many containers they lie in.
    depth: usize,
}

/// An archive that is being read.
struct Level {
    source: Source,
    archive: Archive,
    /// How many containers its members lie in.
    depth: usize,
    entries: usize,
}

impl Streams {
    /// The steps through `input`, which is what `source` names.
    #[must_use]
    pub fn new(input: Input, source: Source, hint: FormatHint, limits: &Limits) -> Streams {
        let count = Count::default();
        let found = Some(Found {
            source,
            hint,
            input: input.counted(&count),
            depth: 0,
        });
        Streams {
            limits: *limits,
            count,
            found,
            said: VecDeque::new(),
            levels: Vec::new(),
            is_unpacked: false,
        }
    }

    /// Bytes of the source itself that were read so far.
    #[must_use]
    pub fn bytes_read(&self) -> u64 {
        self.count.get()
    }

    /// Whether the last stream came out of a container.
    #[must_use]
    pub fn is_unpacked(&self) -> bool {
        self.is_unpacked
    }

    /// Looks at what was found: a stream, or an archive that is read from now on.
    fn enter(&mut self, found: Found) {
        let Found {
            source,
            hint,
            mut input,
            mut depth,
        } = found;
        loop {
            let (start, whole) = input.start();
            let compression = Compression::of(&start);
            if compression.is_none() && !is_archive(&start) {
                self.is_unpacked = depth > 0;
                self.said.push_back(StreamStep::Stream {
                    source,
                    hint,
                    stream: whole.into_stream(),
                });
                return;
            }
            if depth >= self.limits.container_depth {
                let message = format!("a container inside {depth} others is not read");
                self.said.push_back(StreamStep::Failed(
                    Diagnostic::new(DiagnosticKind::Limit, message).of(&source),
                ));
                return;
            }
            depth += 1;
            let Some(compression) = compression else {
                let archive = Archive::new(&start, whole);
                self.levels.push(Level {
                    source,
                    archive,
                    depth,
                    entries: 0,
                });
                return;
            };
            let mut stream = whole.into_stream();
            // The line before a packed batch was read with the rest of `start`: this cannot fall short.
            let line = io::copy(
                &mut (&mut stream).take(batch_line(&start) as u64),
                &mut io::sink(),
            );
            debug_assert!(line.is_ok());
            input = Input::Stream(unpacked(stream, compression, self.allowed(depth)));
        }
    }

    /// What those may do who unpack the container that is the `depth`th.
    fn allowed(&self, depth: usize) -> Allowed {
        let limits = &self.limits;
        let ratio = |most: usize, from: usize| {
            Some(Ratio {
                most: most as u64,
                from_bytes: from as u64,
            })
        };
        let ratio = match depth {
            1 => ratio(limits.unpack_ratio, limits.unpack_ratio_from_bytes),
            _ => ratio(limits.nested_ratio, limits.nested_ratio_from_bytes),
        };
        Allowed {
            ratio,
            window_bytes: limits.window_bytes as u64,
        }
    }

    /// Goes on to the next entry of the innermost archive, or out of it.
    fn advance(&mut self, mut level: Level) {
        let most = self.limits.archive_entries;
        match level.archive.next() {
            Ok(Some(entry)) if level.entries < most => {
                level.entries += 1;
                self.member(&level, entry);
                self.levels.push(level);
            }
            Ok(Some(_)) => {
                let message =
                    format!("an archive of more than {most} entries: the rest is not read");
                self.said.push_back(StreamStep::Failed(
                    Diagnostic::new(DiagnosticKind::Limit, message).of(&level.source),
                ));
            }
            Ok(None) => {
                if let Some(remark) = level.archive.remark() {
                    self.said.push_back(StreamStep::Warning(
                        Diagnostic::new(DiagnosticKind::Ambiguous, remark).of(&level.source),
                    ));
                }
                self.said.push_back(StreamStep::ArchiveRead(level.source));
            }
            Err(error) => self.said.push_back(match level.archive.said() {
                Some(kind) => StreamStep::ArchiveBroken {
                    source: level.source,
                    kind,
                },
                None => StreamStep::Failed(fault::diagnostic(&error, None).of(&level.source)),
            }),
        }
    }

    fn member(&mut self, level: &Level, entry: Entry) {
        let most = self.limits.member_name_bytes;
        let source = level
            .source
            .within(&entry.name[..entry.name.len().min(most)]);
        if entry.name.len() > most {
            let message = format!(
                "a member's name of {} octets is cut after {most}",
                entry.name.len()
            );
            self.said.push_back(StreamStep::Warning(
                Diagnostic::new(DiagnosticKind::Limit, message).of(&source),
            ));
        }
        if leads_out(&entry.name) {
            let message =
                "a member's name that leads out of the archive: it is a label here, and no path";
            self.said.push_back(StreamStep::Warning(
                Diagnostic::new(DiagnosticKind::Ambiguous, message).of(&source),
            ));
        }
        match entry.what {
            What::Folder => {}
            What::Skipped(reason) => self.said.push_back(StreamStep::Skipped { source, reason }),
            What::Broken(error) => self.said.push_back(StreamStep::Failed(
                fault::diagnostic(&error, None).of(&source),
            )),
            What::Octets(body) => match walk::hint_of_member(&entry.name) {
                Err(reason) => self.said.push_back(StreamStep::Skipped { source, reason }),
                Ok(hint) => {
                    let stream = body.stream(self.allowed(level.depth));
                    self.found = Some(Found {
                        source,
                        hint,
                        input: Input::Stream(stream),
                        depth: level.depth,
                    });
                }
            },
        }
    }
}

impl Iterator for Streams {
    type Item = StreamStep;

    fn next(&mut self) -> Option<StreamStep> {
        loop {
            if let Some(step) = self.said.pop_front() {
                return Some(step);
            }
            match self.found.take() {
                Some(found) => self.enter(found),
                None => {
                    let level = self.levels.pop()?;
                    self.advance(level);
                }
            }
        }
    }
}

/// Whether a name would lead out of a folder that an archive is unpacked to.
fn leads_out(name: &[u8]) -> bool {
    name.starts_with(b"/")
        || name
            .split(|&byte| byte == b'/')
            .any(|component| component == b"..")
}
