//! Tests of the ingest of an mbox: an interruption in a new pass.

use std::collections::VecDeque;
use std::fs;
use std::path::PathBuf;

use super::*;
use crate::config::Config;
use crate::daemon::counters::Counters;
use crate::daemon::heartbeat::Heartbeat;
use crate::daemon::ingest::mailbox_progress::MailboxProgress;
use crate::daemon::ingest::parser_pool::ParserPool;
use crate::daemon::store::{SharedCommitter, StoreFixture};
use crate::extract::Extractor;
use crate::origin::Source;

/// An mbox and the daemon's state of it.
struct Scene {
    store: StoreFixture,
    path: PathBuf,
    settle_state: SettleState,
    max_message_bytes: usize,
}

/// Result of one check of the mbox.
#[derive(Debug)]
struct Ingested {
    outcome: FileOutcome,
    /// Number of messages that are gone.
    gone: usize,
}

impl Ingested {
    /// Checks that everything was read, and returns the number of messages that are gone.
    #[track_caller]
    fn complete(self) -> usize {
        assert!(matches!(self.outcome, FileOutcome::Complete), "{self:?}");
        self.gone
    }
}

impl Scene {
    fn new(name: &str) -> Scene {
        let store = StoreFixture::new(name);
        let path = store.folder.join("inbox");
        Scene {
            store,
            path,
            settle_state: SettleState::Settled,
            max_message_bytes: Config::default().options().limits.message_bytes,
        }
    }

    /// Ingests the mbox, whose text is `text`, after `opened` was called with the state open. Then releases the holders of all passes but the last one, and counts the messages that are gone.
    fn ingest(&mut self, text: &str, opened: impl FnOnce()) -> Result<Ingested, DaemonError> {
        fs::write(&self.path, text).unwrap();
        let mut config = self.store.config();
        config.output.tombstones = true;
        let shared = SharedCommitter::open(&config, &mut self.store)?;
        opened();
        let heartbeat = Heartbeat::default();
        let session = shared.session(&heartbeat).unwrap();
        let (parsers, extractor) = (ParserPool::new(), Extractor::new(config.options()));
        let (mut counters, mut events) = (Counters::default(), Vec::new());
        let file = File::open(&self.path).unwrap();
        let version = FileVersion::of(&file.metadata().unwrap());
        let key = 2;
        let id =
            session.with(|committer| committer.transaction()?.mailbox(key, 2, version.id.dev))?;
        let mut ingest = MessageIngest {
            session,
            parsers: &parsers,
            extractor: &extractor,
            counters: &mut counters,
            events: &mut events,
            source: Source::at(self.path.clone()),
            mailbox: MailboxProgress::new(id, key),
            growing: Vec::new(),
            earlier_lengths: Vec::new(),
            holder: None,
            positions: VecDeque::new(),
        };
        let spool = &self.store.folder;
        let mbox = MboxFile {
            file: &file,
            path: &self.path,
            spool,
            format: Format::Mbox,
            start: 0,
            version,
            settle_state: self.settle_state,
            max_message_bytes: self.max_message_bytes,
        };
        let mut outcome = FileOutcome::Partial;
        let mut chunks = 0;
        while matches!(outcome, FileOutcome::Partial) {
            outcome = mbox.ingest(&mut ingest)?;
            chunks += 1;
            assert!(chunks < 20, "no end");
        }
        let gone = session.with(|committer| {
            committer.store_cursor(version.id)?;
            let state = committer.transaction()?;
            let cursor = state.cursors(version.id, &[key])?.remove(0);
            let mut gone = 0;
            let mut holders = state.holders_after(spool, None)?;
            holders.retain(|holder| holder.key != cursor.pass);
            for holder in holders {
                loop {
                    let released = state.release_holder(holder.key)?;
                    gone += released.gone.len();
                    if released.is_done {
                        break;
                    }
                }
            }
            Ok(gone)
        })?;
        shared.close()?;
        Ok(Ingested { outcome, gone })
    }
}

fn letters(numbers: std::ops::Range<u32>) -> String {
    let urls = "http://a.example/\n".repeat(1_000);
    numbers
        .map(|n| format!("From a@b Mon Jan  1 00:00:00 1996\nSubject: {n}\n\n{urls}\n"))
        .collect()
}

#[test]
fn a_message_that_is_removed_after_an_interruption_is_gone() {
    let mut scene = Scene::new("interrupted");
    // The first segment cannot be published: the chunk is interrupted after a commit.
    let segment = scene.store.config().output.dir.join("0000000001.jsonl");
    let block = || fs::create_dir_all(segment.join("x")).unwrap();
    let interrupted = scene.ingest(&letters(0..12), block);
    assert!(
        matches!(interrupted, Err(DaemonError::Io(_))),
        "{interrupted:?}"
    );
    fs::remove_dir_all(&segment).unwrap();
    let mut next = |numbers| scene.ingest(&letters(numbers), || ()).unwrap().complete();
    assert_eq!((next(1..12), next(3..12)), (1, 2));
}

#[test]
fn a_message_that_is_removed_after_a_part_of_it_was_read_is_gone() {
    for before in [0..0, 0..3] {
        let mut scene = Scene::new("large");
        scene.max_message_bytes = CHUNK_BYTES;
        let first = letters(before);
        let large = letters(7..8) + &"and so on\n".repeat(3 * CHUNK_BYTES / 10);
        scene.settle_state = SettleState::Changing;
        let begun = scene.ingest(&(first.clone() + &large), || ()).unwrap();
        assert!(matches!(begun.outcome, FileOutcome::Waiting), "{begun:?}");
        scene.settle_state = SettleState::Settled;
        let next = first + &letters(8..9);
        assert_eq!(scene.ingest(&next, || ()).unwrap().complete(), 1);
    }
}

#[test]
fn a_large_message_that_is_read_in_two_checks_is_not_gone() {
    let mut scene = Scene::new("continued");
    scene.max_message_bytes = CHUNK_BYTES;
    let large = letters(0..2) + &"and so on\n".repeat(3 * CHUNK_BYTES / 10);
    scene.settle_state = SettleState::Changing;
    scene.ingest(&large, || ()).unwrap();
    scene.settle_state = SettleState::Settled;
    let more = large + "the end\n";
    assert_eq!(scene.ingest(&more, || ()).unwrap().complete(), 0);
}

#[test]
fn a_message_larger_than_a_chunk_follows_a_small_one() {
    let sizes = [CHUNK_BYTES / 2, CHUNK_BYTES + 1, 3 * CHUNK_BYTES];
    for large_bytes in sizes {
        let large =
            letters(1..2) + &("and so on ".repeat(20) + "\n").repeat(large_bytes / 200) + "\n";
        let text = letters(0..1) + &large + &letters(2..3);
        // The largest message that is held: smaller than all, than one, and than none of them.
        for max_message_bytes in [CHUNK_BYTES, 2 * CHUNK_BYTES, 8 * CHUNK_BYTES] {
            let mut scene = Scene::new(&format!("larger-{large_bytes}-{max_message_bytes}"));
            scene.max_message_bytes = max_message_bytes;
            assert_eq!(scene.ingest(&text, || ()).unwrap().complete(), 0);
            let gone = scene.ingest(&letters(0..1), || ()).unwrap().complete();
            assert_eq!(gone, 2, "{large_bytes} {max_message_bytes}");
        }
    }
}
