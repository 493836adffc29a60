//! Holders: the spool to which each belongs, and the number of holders of each message.

use super::*;
use crate::daemon::store::test_fixture::StoreFixture;

const SPOOL: &str = "/var/mail";

/// A message with one digest, under which it was read too.
fn message(digest: u128) -> GivenMessage {
    GivenMessage {
        digest,
        key: digest,
        mailbox: b"/var/mail/a".to_vec(),
        earlier: Vec::new(),
    }
}

/// Digest and number of holders of each message.
fn counts(state: &StateDb) -> Vec<String> {
    state.rows("SELECT hex(digest)+0, files FROM given ORDER BY digest")
}

/// Commits, and compares the checksum with the rows.
#[track_caller]
fn check_sum(state: &StateDb) {
    state.commit().unwrap();
    state.checksum.verify(&state.connection).unwrap();
    state.begin().unwrap();
}

#[test]
fn without_tombstones_no_holder_is_stored() {
    let fixture = StoreFixture::new("untracked");
    let state = fixture.state();
    state.set_tracking(false).unwrap();
    assert_eq!(state.open_holder(1, SPOOL.as_ref(), 1).unwrap(), None);
    assert!(!state.is_holder(1).unwrap() && state.rows("SELECT * FROM path").is_empty());
}

#[test]
fn the_end_of_tracking_removes_all_rows_of_holders() {
    let fixture = StoreFixture::new("end-of-tracking");
    let state = fixture.state();
    let mailbox = state.mailbox(7, 7, 1).unwrap();
    state.mark_seen(mailbox, 5 << 100).unwrap();
    state.open_holder(1, SPOOL.as_ref(), 1).unwrap();
    state.put_given(mailbox, &message(5)).unwrap();
    state.hold(1, mailbox, 5, 5).unwrap();
    check_sum(&state);
    state.commit().unwrap();
    state.set_tracking(false).unwrap();
    state.checksum.verify(&state.connection).unwrap();
    for table in ["holder", "held", "given", "path", "fresh_given"] {
        assert!(
            state.rows(&format!("SELECT * FROM {table}")).is_empty(),
            "{table}"
        );
    }
    assert!(state.is_seen(mailbox, 5 << 100).unwrap());
}

#[test]
fn a_holder_belongs_to_one_spool_until_another_adopts_it() {
    let fixture = StoreFixture::new("adopted");
    let state = fixture.state();
    let (own, other) = (Path::new(SPOOL), Path::new("/srv/mail"));
    assert_eq!(state.is_holder_of(1, own).unwrap(), HolderSpool::NoHolder);
    assert_eq!(state.open_holder(1, own, 1).unwrap(), Some(1));
    assert_eq!(state.is_holder_of(1, own).unwrap(), HolderSpool::Same);
    assert_eq!(state.is_holder_of(1, other).unwrap(), HolderSpool::Other);
    state.adopt_holder(1, other).unwrap();
    assert_eq!(state.is_holder_of(1, other).unwrap(), HolderSpool::Same);
    assert_eq!(state.is_holder_of(1, own).unwrap(), HolderSpool::Other);
    check_sum(&state);
}

#[test]
fn keys_with_their_highest_bit_are_found() {
    let fixture = StoreFixture::new("highest-bit");
    let state = fixture.state();
    state
        .open_holder(u64::MAX, SPOOL.as_ref(), u64::MAX)
        .unwrap();
    assert!(state.is_holder(u64::MAX).unwrap() && !state.is_holder(0).unwrap());
    let holders = state.holders_after(SPOOL.as_ref(), None).unwrap();
    assert_eq!(
        holders.iter().map(|row| (row.key, row.dev)).next(),
        Some((u64::MAX, u64::MAX))
    );
}

#[test]
fn each_holder_of_a_message_counts_once() {
    let fixture = StoreFixture::new("counts");
    let state = fixture.state();
    let mailbox = state.mailbox(7, 7, 1).unwrap();
    state.put_given(mailbox, &message(5)).unwrap();
    for holder in [1, 2, 2, 1] {
        state.open_holder(holder, SPOOL.as_ref(), 1).unwrap();
        state.hold(holder, mailbox, 5, 5).unwrap();
    }
    assert_eq!(counts(&state), ["[Integer(5), Integer(2)]"]);
    check_sum(&state);
}

#[test]
fn a_message_without_records_is_not_held() {
    let fixture = StoreFixture::new("no-records");
    let state = fixture.state();
    let mailbox = state.mailbox(7, 7, 1).unwrap();
    state.open_holder(1, SPOOL.as_ref(), 1).unwrap();
    state.hold(1, mailbox, 5, 5).unwrap();
    // The digest is known, but under another key: it is another message, which differs far from its start.
    state.put_given(mailbox, &message(6)).unwrap();
    state.hold(1, mailbox, 6, 6 << 100).unwrap();
    assert!(state.rows("SELECT * FROM held").is_empty());
    assert_eq!(counts(&state), ["[Integer(6), Integer(0)]"]);
}

#[test]
fn whoever_holds_a_grown_message_holds_its_earlier_digests() {
    let fixture = StoreFixture::new("grown");
    let state = fixture.state();
    let mailbox = state.mailbox(7, 7, 1).unwrap();
    state.put_given(mailbox, &message(5)).unwrap();
    let mut grown = message(6);
    grown.earlier = vec![5];
    state.put_given(mailbox, &grown).unwrap();
    state.open_holder(1, SPOOL.as_ref(), 1).unwrap();
    state.hold(1, mailbox, 6, 6).unwrap();
    assert_eq!(
        counts(&state),
        ["[Integer(5), Integer(1)]", "[Integer(6), Integer(1)]"]
    );
    check_sum(&state);
}

#[test]
fn messages_with_one_digest_share_a_row_that_keeps_its_holders() {
    let fixture = StoreFixture::new("one-digest");
    let state = fixture.state();
    let mailbox = state.mailbox(7, 7, 1).unwrap();
    let (one, mut other) = (message(5), message(5));
    (other.key, other.earlier) = (9 << 100, vec![3, 4]);
    state.put_given(mailbox, &one).unwrap();
    state.open_holder(1, SPOOL.as_ref(), 1).unwrap();
    state.hold(1, mailbox, 5, one.key).unwrap();
    for _ in 0..2 {
        state.put_given(mailbox, &other).unwrap();
        let row = state
            .given_row(mailbox, 5_u128.to_be_bytes())
            .unwrap()
            .unwrap();
        assert_eq!(
            (row.keys().len(), row.earlier().len(), row.files),
            (2, 2, 1)
        );
    }
    for key in [one.key, other.key] {
        assert!(state.is_given(mailbox, 5, key).unwrap());
    }
    assert!(!state.is_given(mailbox + 1, 5, one.key).unwrap());
    check_sum(&state);
}

#[test]
fn a_rebuild_keeps_messages_and_forgets_their_holders() {
    let fixture = StoreFixture::new("forgotten");
    let state = fixture.state();
    let mailbox = state.mailbox(7, 7, 1).unwrap();
    state.put_given(mailbox, &message(5)).unwrap();
    state.open_holder(1, SPOOL.as_ref(), 1).unwrap();
    state.hold(1, mailbox, 5, 5).unwrap();
    state.forget_holders().unwrap();
    assert!(!state.is_holder(1).unwrap() && state.given_mailboxes().unwrap().contains(&mailbox));
    assert_eq!(counts(&state), ["[Integer(5), Integer(0)]"]);
    check_sum(&state);
}
