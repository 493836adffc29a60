//! Loads that are killed at random moments: each document is there once, and messages that are gone stay gone.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use super::super::checking_server::{CheckingServer, Faults};
use super::super::records;
use super::{gone, load_command, loaded, name, segment, stored};
use crate::scene::{Folder, Rng, lines};

/// Messages of one mbox.
const MESSAGES: usize = 200;

/// Segments of a round.
const SEGMENTS: usize = 12;

/// Kills after which the segments are loaded to the end.
const KILLS_PER_ROUND: u64 = 6;

/// An mbox of different messages.
fn mail(round: u64) -> String {
    (0..MESSAGES)
        .map(|number| {
            format!(
                "From a Mon Jan  1 00:00:00 1996\nFrom: a@b.example\nSubject: {round} {number}\n\nhttp://h{}.example/{number} ftp://f.example/{round}\n\n",
                number % 17
            )
        })
        .collect()
}

/// Writes segments with these lines, and with messages that are gone: of this segment and of earlier ones. Returns the records
/// that stay.
fn write_segments(
    folder: &Folder,
    rng: &mut Rng,
    first: u64,
    input: &[u8],
) -> BTreeSet<(String, String)> {
    let all = lines(input);
    let mut kept = BTreeSet::new();
    let per_segment = all.len().div_ceil(SEGMENTS);
    for (seq, chunk) in (first..).zip(all.chunks(per_segment)) {
        let mut text = Vec::new();
        for record in chunk {
            text.extend_from_slice(format!("{record}\n").as_bytes());
            kept.insert(name(record));
            if rng.below(10_u64) == 0 {
                let victim = rng.pick(&all);
                text.extend_from_slice(gone(victim).as_bytes());
                let digest = &victim["message"]["digest"];
                for other in all
                    .iter()
                    .filter(|other| other["message"]["digest"] == *digest)
                {
                    kept.remove(&name(other));
                }
            }
        }
        segment(folder, seq, &text);
    }
    kept
}

/// Waits until a process ends, and kills it after a time. Returns `true` if it was killed.
fn killed_after(child: &mut Child, limit: Duration) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < limit {
        if let Some(status) = child.try_wait().unwrap() {
            assert!(status.success(), "{status}");
            return false;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    true
}

#[test]
fn killed_loads_give_each_document_once() {
    let kills = std::env::var("URLSPOOL_KILLS").map_or(12, |value| value.parse().unwrap());
    let (server, mut rng) = (CheckingServer::start(7), Rng::seeded(7));
    let (mut killed, mut round, mut expected) = (0, 0, BTreeSet::new());
    while killed < kills {
        let folder = Folder::in_memory();
        let input = records(&folder, "a.mbox", &mail(round));
        expected.extend(write_segments(&folder, &mut rng, round * 1_000, &input));
        let out = folder.path("out").display().to_string();
        server.state().faults = Faults {
            refused_requests: 2,
            refused_documents: 1,
            cut_connections: 2,
        };
        // Then it is let run: faults cost it more time than it gets.
        for _ in 0..KILLS_PER_ROUND {
            let mut loader = load_command(&server, &["--delete-segments", &out])
                .stdin(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            if !killed_after(&mut loader, Duration::from_millis(rng.below(500_u64))) {
                break;
            }
            killed += 1;
        }
        server.state().faults = Faults::default();
        loaded(&server, &["--delete-segments", &out], b"");
        assert_eq!(fs::read_dir(folder.path("out")).unwrap().count(), 0);
        let found: BTreeSet<_> = stored(&server).into_iter().collect();
        assert_eq!(
            found.len(),
            stored(&server).len(),
            "a record is there twice"
        );
        assert!(
            found == expected,
            "round {round}: {} documents of {}",
            found.len(),
            expected.len()
        );
        round += 1;
    }
    server.check();
}
