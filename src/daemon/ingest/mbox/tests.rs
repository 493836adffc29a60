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
}

impl Scene {
    /// Ingests the mbox after `opened` was called with the state open. Then lets go the holders of all passes but the last one, and returns the number of messages that are gone.
    fn ingest(&mut self, text: &str, opened: impl FnOnce()) -> Result<usize, DaemonError> {
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
            holder: None,
            positions: VecDeque::new(),
        };
        let spool = &self.store.folder;
        let mbox = MboxFile {
            file: &file,
            path: &self.path,
            spool,
            format: Format::Mbox,
            version,
            settle_state: SettleState::Settled,
            max_message_bytes: Config::default().options().limits.message_bytes,
        };
        assert!(matches!(mbox.ingest(&mut ingest)?, FileOutcome::Complete));
        let gone = session.with(|committer| {
            let state = committer.transaction()?;
            let cursor = state.cursor(version.id, &[key])?.unwrap();
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
        Ok(gone)
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
    let store = StoreFixture::new("interrupted");
    let path = store.folder.join("inbox");
    let mut scene = Scene { store, path };
    // The first segment cannot be published: the chunk is interrupted after a commit.
    let segment = scene.store.config().output.dir.join("0000000001.jsonl");
    let block = || fs::create_dir_all(segment.join("x")).unwrap();
    let interrupted = scene.ingest(&letters(0..12), block);
    assert!(
        matches!(interrupted, Err(DaemonError::Io(_))),
        "{interrupted:?}"
    );
    fs::remove_dir_all(&segment).unwrap();
    assert_eq!(scene.ingest(&letters(1..12), || ()).unwrap(), 1);
    assert_eq!(scene.ingest(&letters(3..12), || ()).unwrap(), 2);
}
