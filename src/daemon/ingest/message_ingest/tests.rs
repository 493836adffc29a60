//! Tests of the ingest of messages: batches, two readers of one mailbox.

use super::*;
use crate::config::Config;
use crate::daemon::heartbeat::Heartbeat;
use crate::daemon::store::{BATCH_BYTES, StoreFixture};

#[test]
fn a_chunk_with_many_records_is_committed_in_batches() {
    let mut store = StoreFixture::new("batches");
    let shared = store.committer();
    let (parsers, extractor) = (
        ParserPool::new(),
        Extractor::new(Config::default().options()),
    );
    let (heartbeat, mut counters, mut events) =
        (Heartbeat::default(), Counters::default(), Vec::new());
    let session = shared.session(&heartbeat).unwrap();
    let id = session
        .with(|committer| committer.transaction()?.mailbox(2, 2, 0))
        .unwrap();
    let urls = "http://a.example/\n".repeat(1000);
    let letter = |n| format!("From a@b Mon\nSubject: {n}\n\n{urls}\n").into_bytes();
    let bytes = (0..12).flat_map(letter).collect();
    let block = Block {
        bytes,
        offset: 0,
        role: BlockRole::Whole,
    };
    let mut ingest = MessageIngest {
        session,
        parsers: &parsers,
        extractor: &extractor,
        counters: &mut counters,
        events: &mut events,
        source: Source::at("inbox".into()),
        mailbox: MailboxProgress::new(id, 2),
        growing: Vec::new(),
        earlier_lengths: Vec::new(),
        holder: None,
        positions: VecDeque::new(),
    };
    let found = ingest.split(&block, Format::Mbox);
    ingest.ingest(&found, None, EndCertainty::Certain).unwrap();
    let pending = session
        .with(|committer| Ok(committer.pending().bytes))
        .unwrap();
    assert!(pending < BATCH_BYTES, "{pending}");
    // A segment exceeds its maximum size by at most one batch.
    let sizes = store
        .segments()
        .into_iter()
        .map(|path| path.metadata().unwrap().len() as usize)
        .collect::<Vec<_>>();
    assert!(
        !sizes.is_empty() && sizes.iter().all(|size| *size < 3 * BATCH_BYTES),
        "{sizes:?}"
    );
    shared.close().unwrap();
    assert_eq!(store.lines(), 12_000);
}

#[test]
fn two_readers_of_one_mailbox_record_a_message_once() {
    let mut store = StoreFixture::new("two-readers");
    let shared = store.committer();
    let (parsers, extractor) = (
        ParserPool::new(),
        Extractor::new(Config::default().options()),
    );
    let bytes = b"From a@b Mon\nSubject: x\n\nsee http://a.example/ now\n".to_vec();
    let block = Block {
        bytes,
        offset: 0,
        role: BlockRole::Whole,
    };
    let (heartbeats, mut counters) = (
        [Heartbeat::default(), Heartbeat::default()],
        [Counters::default(), Counters::default()],
    );
    let session = shared.session(&heartbeats[0]).unwrap();
    let id = session
        .with(|committer| committer.transaction()?.mailbox(2, 2, 0))
        .unwrap();
    let mut events = [Vec::new(), Vec::new()];
    let mut ingests = Vec::new();
    for ((heartbeat, counters), events) in heartbeats.iter().zip(&mut counters).zip(&mut events) {
        let (session, source) = (
            shared.session(heartbeat).unwrap(),
            Source::at("inbox".into()),
        );
        let (parsers, extractor, mailbox) = (&parsers, &extractor, MailboxProgress::new(id, 2));
        ingests.push(MessageIngest {
            session,
            parsers,
            extractor,
            counters,
            events,
            source,
            mailbox,
            growing: Vec::new(),
            earlier_lengths: Vec::new(),
            holder: None,
            positions: VecDeque::new(),
        });
    }
    // Each asks whether the message is recorded before either of them adds it.
    let found = ingests[0].split(&block, Format::Mbox);
    for ingest in &ingests {
        assert_eq!(
            ingest
                .unrecorded(&[ingest.identify(&found[0], None, EndCertainty::EndOfFile)])
                .unwrap()
                .len(),
            1
        );
    }
    for ingest in &mut ingests {
        let identified = [ingest.identify(&found[0], None, EndCertainty::EndOfFile)];
        let output = ingest.extract(
            &identified[0],
            ExtractionReason::New,
            &mut RecordWriter::default(),
        );
        ingest.add_to_batch(&identified[0], Some(output)).unwrap();
    }
    drop(ingests);
    assert_eq!(
        counters.map(|counters| (counters.messages_read, counters.repeated)),
        [(1, 0), (0, 1)]
    );
    shared.close().unwrap();
    assert_eq!(store.lines(), 1);
}
