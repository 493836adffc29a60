//! Looks at one file: is there anything new, is it complete, and what becomes of it.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::blocks::whole;
use super::identity::{FileVersion, mailbox, place};
use super::mbox::{self, Mbox};
use super::message_ingest::{Mailbox, Taker};
use super::outcome::{Look, Rest};
use super::parser_pool::Parsers;
use crate::config::Spool;
use crate::daemon::error::DaemonError;
use crate::daemon::status::Counters;
use crate::daemon::store::GrowingMessage;
use crate::daemon::store::Session;
use crate::diagnostic::{Diagnostic, DiagnosticKind, Event, SkipReason};
use crate::limits::SNIFF_BYTES;
use crate::origin::{FormatHint, Source};
use crate::pipeline::Extractor;
use crate::read::{self, is_container};
use crate::split::{Format, detect_format, splittable_format};
use crate::walk;

/// What a look needs besides the file.
pub(crate) struct Looker<'l> {
    pub(crate) session: Session<'l>,
    pub(crate) parsers: &'l Parsers,
    pub(crate) extractor: &'l Extractor,
    pub(crate) counts: &'l mut Counters,
    pub(crate) events: &'l mut Vec<Event>,
    pub(crate) spool: &'l Spool,
}

impl Looker<'_> {
    /// Whether a file was read whole as it is. Opens nothing.
    pub(crate) fn is_known(
        &mut self,
        file: &walk::WalkedFile,
        stamp: FileVersion,
    ) -> Result<bool, DaemonError> {
        self.session.with(|committer| {
            let store = &committer.db;
            if stamp.size == 0 || store.is_file_read(stamp.known(&file.source.path, file.hint))? {
                return Ok(true);
            }
            let cursor = if file.hint == FormatHint::Maildir {
                None
            } else {
                store.cursor(stamp.id)?
            };
            Ok(cursor
                .is_some_and(|cursor| cursor.size == stamp.size && cursor.mtime == stamp.mtime))
        })
    }

    /// Tells of an mbox that was cut while nobody looked, and begins to read it anew: what was written into it after the
    /// last look and went with the rest is not known. One that still begins as it did had messages taken out.
    pub(crate) fn tell_of_cut(
        &mut self,
        file: &walk::WalkedFile,
        stamp: FileVersion,
    ) -> Result<(), DaemonError> {
        if file.hint == FormatHint::Maildir {
            return Ok(());
        }
        let cursor = self
            .session
            .with(|committer| committer.db.cursor(stamp.id))?;
        let Some(cursor) = cursor.filter(|cursor| stamp.size < cursor.last) else {
            return Ok(());
        };
        let begins_so =
            |opened: File| mbox::head(&opened, &cursor).is_ok_and(|head| head == cursor.head);
        if stamp.size > 0 && read::open(file).is_ok_and(begins_so) {
            return Ok(());
        }
        self.session
            .with(|committer| committer.transaction()?.reset_cursor(stamp.id))?;
        let (size, last) = (stamp.size, cursor.last);
        let what = format!(
            "cut to {size} octets while nobody looked: what stood behind the {last} that were read is not known"
        );
        self.events
            .push(Diagnostic::at(DiagnosticKind::Vanished, last, what).of(&file.source));
        Ok(())
    }

    /// Takes what is new in a file, up to one piece of it.
    pub(crate) fn look(
        &mut self,
        file: &walk::WalkedFile,
        rest: Rest,
    ) -> Result<Look, DaemonError> {
        let opened = match read::open(file) {
            Ok(opened) => opened,
            Err(error) => return Ok(Look::Failed(error)),
        };
        let path: &Path = &file.source.path;
        let given = self.spool.kind.map(Format::of);
        let most = self.extractor.limits().message_bytes;
        let start = opened
            .metadata()
            .and_then(|metadata| Ok((FileVersion::of(&metadata), beginning(&opened)?)));
        let (stamp, start) = match start {
            Ok(start) => start,
            Err(error) => return Ok(Look::Failed(error)),
        };
        if is_container(&start) {
            // Nobody appends to what is compressed: it is read when it is at rest, and then whole.
            return if rest == Rest::Fresh {
                Ok(Look::Wait)
            } else {
                self.container(file, opened, stamp)
            };
        }
        let format = match detect_format(&start, given, file.hint) {
            Ok(format) => format,
            Err(reason) => return self.left(file, stamp, reason),
        };
        let mailbox = self.mailbox(path, format, stamp)?;
        let tails = match format {
            Format::Mbox | Format::Mboxcl | Format::Text => self
                .session
                .with(|committer| committer.transaction()?.growing_messages(mailbox.id))?,
            _ => Vec::new(),
        };
        let mut taker = self.taker(file.source.clone(), mailbox, tails);
        if let Some(format) = splittable_format(&start, given, file.hint) {
            taker
                .session
                .with(|committer| committer.transaction()?.mark_multi_message(mailbox.id))?;
            return Mbox {
                file: &opened,
                path,
                format,
                stamp,
                rest,
                most,
            }
            .look(&mut taker);
        }
        // What is delivered into a Maildir is whole from the first moment (maildir(5)).
        if rest == Rest::Fresh && file.hint != FormatHint::Maildir {
            return Ok(Look::Wait);
        }
        match whole(&opened, start, stamp, format, most, &mut taker)? {
            Look::Done => {}
            other => return Ok(other),
        }
        let mailbox = taker.mailbox;
        self.know(file, stamp, mailbox)?;
        Ok(Look::Done)
    }

    /// The mailbox of a file's messages.
    pub(super) fn mailbox(
        &mut self,
        path: &Path,
        format: Format,
        stamp: FileVersion,
    ) -> Result<Mailbox, DaemonError> {
        let spool = &self.spool.path;
        let key = mailbox(path, format.kind(), spool, self.spool.dedupe);
        let id = self.session.with(|committer| {
            committer
                .transaction()?
                .mailbox(key, place(spool), stamp.id.dev)
        })?;
        Ok(Mailbox::new(id, key))
    }

    /// Notes that a file was read whole, and what was taken from it.
    pub(super) fn know(
        &mut self,
        file: &walk::WalkedFile,
        stamp: FileVersion,
        mailbox: Mailbox,
    ) -> Result<(), DaemonError> {
        let message = (mailbox.taken == 1 && mailbox.pieces == 0).then_some(mailbox.last);
        self.session.with(|committer| {
            let state = committer.transaction()?;
            if mailbox.taken > 1 {
                state.mark_multi_message(mailbox.id)?;
            }
            state.mark_file_read(
                stamp.known(&file.source.path, file.hint),
                mailbox.id,
                message,
            )
        })
    }

    /// The mailbox of files without messages: the spool.
    pub(super) fn no_mailbox(&mut self, stamp: FileVersion) -> Result<Mailbox, DaemonError> {
        let spool = place(&self.spool.path);
        let id = self
            .session
            .with(|committer| committer.transaction()?.mailbox(spool, spool, stamp.id.dev))?;
        Ok(Mailbox::new(id, spool))
    }

    pub(super) fn taker(
        &mut self,
        source: Source,
        mailbox: Mailbox,
        tails: Vec<GrowingMessage>,
    ) -> Taker<'_> {
        Taker {
            session: self.session,
            parsers: self.parsers,
            extractor: self.extractor,
            counts: &mut *self.counts,
            events: &mut *self.events,
            source,
            mailbox,
            tails,
        }
    }

    /// A file that is not read; nothing will be looked for in it until it changes.
    fn left(
        &mut self,
        file: &walk::WalkedFile,
        stamp: FileVersion,
        reason: SkipReason,
    ) -> Result<Look, DaemonError> {
        let mailbox = self.no_mailbox(stamp)?;
        self.know(file, stamp, mailbox)?;
        Ok(Look::Skipped(reason))
    }
}

/// The first bytes of a file, by which its format is told.
fn beginning(file: &File) -> io::Result<Vec<u8>> {
    let mut start = Vec::with_capacity(4 << 10);
    let mut file = file;
    (&mut file)
        .take(SNIFF_BYTES as u64)
        .read_to_end(&mut start)?;
    Ok(start)
}
