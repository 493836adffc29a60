//! Release of holders: each message that no file holds any more is gone exactly once.

use super::*;
use crate::daemon::store::holders::GivenMessage;
use crate::daemon::store::mail_rows::GrowingMessage;
use crate::daemon::store::test_fixture::StoreFixture;

const SPOOL: &str = "/var/mail";
const MAILBOX: &[u8] = b"/var/mail/a";

/// A state with one mailbox.
struct GoneTest {
    state: StateDb,
    mailbox: MailboxId,
    /// The mailbox that records name.
    path: &'static [u8],
    _fixture: StoreFixture,
}

impl GoneTest {
    fn new(name: &str) -> GoneTest {
        let fixture = StoreFixture::new(name);
        let state = fixture.state();
        GoneTest {
            mailbox: state.mailbox(7, 8, 1).unwrap(),
            state,
            path: MAILBOX,
            _fixture: fixture,
        }
    }

    /// A key whose stored bytes differ for each digest.
    fn key(digest: u128) -> Hash128 {
        digest << 64
    }

    /// A file in which a message was read. `earlier`: its digests before it had grown.
    fn read(&self, holder: HolderKey, digest: u128, earlier: &[u128]) {
        let key = GoneTest::key(digest);
        self.state.mark_seen(self.mailbox, key).unwrap();
        let given = GivenMessage {
            digest,
            key,
            mailbox: self.path.to_vec(),
            earlier: earlier.to_vec(),
        };
        self.state.put_given(self.mailbox, &given).unwrap();
        self.hold(holder, digest);
    }

    fn hold(&self, holder: HolderKey, digest: u128) {
        let (state, key) = (&self.state, GoneTest::key(digest));
        state.open_holder(holder, SPOOL.as_ref(), 1).unwrap();
        state.hold(holder, self.mailbox, digest, key).unwrap();
    }

    /// Releases a holder. Returns the digests of each message that is gone.
    fn release(&self, holder: HolderKey) -> Vec<Vec<u128>> {
        let mut gone = Vec::new();
        loop {
            let step = self.state.release_holder(holder).unwrap();
            let is_done = step.is_done;
            gone.extend(digests(step));
            if is_done {
                return gone;
            }
        }
    }

    fn is_seen(&self, digest: u128) -> bool {
        let key = GoneTest::key(digest);
        self.state.is_seen(self.mailbox, key).unwrap()
    }

    fn has_rows(&self, table: &str) -> bool {
        !self
            .state
            .rows(&format!("SELECT * FROM {table}"))
            .is_empty()
    }

    /// Commits, and compares the checksum with the rows.
    #[track_caller]
    fn check_sum(&self) {
        self.state.commit().unwrap();
        self.state.checksum.verify(&self.state.connection).unwrap();
        self.state.begin().unwrap();
    }
}

fn digests(release: Release) -> Vec<Vec<u128>> {
    let digests_of = |message: GoneMessage| {
        assert!(message.mailbox.starts_with(b"/var/mail/"));
        message.digests
    };
    release.gone.into_iter().map(digests_of).collect()
}

#[test]
fn a_message_is_gone_with_its_last_holder() {
    let test = GoneTest::new("last-holder");
    test.read(1, 5, &[]);
    test.hold(2, 5);
    assert!(test.release(1).is_empty() && test.is_seen(5));
    assert_eq!(test.release(2), [[5]]);
    assert!(!test.is_seen(5) && !test.has_rows("given") && !test.has_rows("holder"));
    test.check_sum();
}

#[test]
fn a_message_that_comes_back_is_given_and_gone_again() {
    let test = GoneTest::new("comes-back");
    for holder in [1, 2] {
        test.read(holder, 5, &[]);
        assert!(test.is_seen(5));
        assert_eq!(test.release(holder), [[5]]);
    }
    test.check_sum();
}

#[test]
fn a_message_in_another_mailbox_stays() {
    let test = GoneTest::new("other-mailbox");
    test.read(1, 5, &[]);
    let other = GoneTest {
        mailbox: test.state.mailbox(9, 8, 1).unwrap(),
        path: b"/var/mail/b",
        ..test
    };
    other.read(2, 5, &[]);
    assert_eq!(other.release(1), [[5]]);
    assert!(other.is_seen(5));
    assert_eq!(other.release(2), [[5]]);
}

#[test]
fn a_message_with_records_of_the_same_mailbox_in_another_scope_stays() {
    let test = GoneTest::new("other-scope");
    test.read(1, 5, &[]);
    let other = GoneTest {
        mailbox: test.state.mailbox(9, 8, 1).unwrap(),
        ..test
    };
    other.read(2, 5, &[]);
    assert!(other.release(1).is_empty() && other.is_seen(5));
    assert_eq!(other.release(2), [[5]]);
    other.check_sum();
}

#[test]
fn a_message_that_grew_is_one_message_with_all_its_digests() {
    let test = GoneTest::new("grew");
    test.read(1, 9, &[]);
    test.read(1, 4, &[9]);
    test.read(1, 6, &[9, 4]);
    test.read(1, 7, &[]);
    let mut gone = test.release(1);
    gone.sort();
    assert_eq!(gone, [vec![7], vec![9, 4, 6]]);
    assert!([9, 4, 6, 7].iter().all(|digest| !test.is_seen(*digest)));
    test.check_sum();
}

#[test]
fn a_growing_message_that_is_gone_gives_its_urls_again() {
    let test = GoneTest::new("growing");
    test.read(1, 5, &[]);
    test.read(2, 6, &[]);
    let growing = |digest| GrowingMessage {
        len: 10,
        hash: digest,
        ids: vec![1, 2],
        digests: vec![digest],
    };
    for digest in [5, 6] {
        let state = &test.state;
        state.put_growing(test.mailbox, &growing(digest)).unwrap();
    }
    test.release(1);
    let left = test.state.growing_messages(test.mailbox).unwrap();
    assert_eq!(left, [growing(6)]);
    test.check_sum();
}

#[test]
fn a_release_in_steps_names_each_message_once() {
    let test = GoneTest::new("steps");
    let messages = u128::from(RELEASED_MESSAGES) + 1;
    for digest in 1..=messages {
        test.read(1, digest, &[]);
    }
    let mut gone = Vec::new();
    let mut steps = 0;
    loop {
        let step = test.state.release_holder(1).unwrap();
        // Its file is read again if it comes back between two steps.
        assert!(!test.state.is_holder(1).unwrap());
        test.check_sum();
        let is_done = step.is_done;
        gone.extend(digests(step));
        steps += 1;
        if is_done {
            break;
        }
    }
    gone.sort();
    assert_eq!(steps, 3);
    assert_eq!(
        gone,
        (1..=messages)
            .map(|digest| vec![digest])
            .collect::<Vec<_>>()
    );
}

#[test]
fn a_file_that_returns_during_its_release_holds_what_is_read_in_it_again() {
    let test = GoneTest::new("returns");
    test.read(1, 5, &[]);
    assert_eq!(digests(test.state.release_holder(1).unwrap()), [[5]]);
    test.read(1, 5, &[]);
    assert!(test.state.is_holder(1).unwrap() && test.is_seen(5));
    assert_eq!(test.release(1), [[5]]);
}

#[test]
fn holders_are_listed_by_spool() {
    let test = GoneTest::new("by-spool");
    for (holder, spool) in [(3, SPOOL), (1, SPOOL), (2, "/srv/mail")] {
        test.state.open_holder(holder, spool.as_ref(), 4).unwrap();
    }
    let keys = |last| -> Vec<HolderKey> {
        let holders = test.state.holders_after(SPOOL.as_ref(), last).unwrap();
        holders.iter().map(|holder| holder.key).collect()
    };
    assert_eq!(
        (keys(None), keys(Some(1)), keys(Some(3))),
        (vec![1, 3], vec![3], vec![])
    );
}

#[test]
fn after_a_rebuild_messages_that_are_not_found_again_are_gone() {
    let test = GoneTest::new("orphans");
    test.read(1, 5, &[]);
    test.read(2, 6, &[]);
    test.read(2, 8, &[6]);
    test.state.forget_holders().unwrap();
    test.hold(1, 5);
    assert_eq!(test.state.held_mailboxes(1).unwrap(), [7]);
    let mailboxes = test.state.orphaned_mailboxes(8).unwrap();
    let found: Vec<_> = mailboxes
        .iter()
        .map(|row| (row.id, row.key, row.dev))
        .collect();
    assert_eq!(found, [(test.mailbox, 7, 1)]);
    assert!(test.state.orphaned_mailboxes(9).unwrap().is_empty());
    let gone = test.state.release_orphans(test.mailbox).unwrap();
    assert!(!gone.is_done);
    assert_eq!(digests(gone), [[6, 8]]);
    assert!(test.state.release_orphans(test.mailbox).unwrap().is_done);
    assert!(test.state.orphaned_mailboxes(8).unwrap().is_empty());
    assert!(test.is_seen(5) && !test.is_seen(6));
    test.check_sum();
}

#[test]
fn of_a_mailbox_without_a_name_the_database_is_damaged() {
    let test = GoneTest::new("no-name");
    test.read(1, 5, &[]);
    test.state
        .connection
        .batch("DELETE FROM path WHERE path LIKE '%a'")
        .unwrap();
    let error = test.state.release_holder(1).unwrap_err();
    assert!(error.to_string().contains("mailbox"), "{error}");
}
