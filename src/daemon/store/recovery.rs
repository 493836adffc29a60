//! Brings state and output together after whatever happened, or says that they contradict each other.
//!
//! Every step can be interrupted and done again. Nothing is removed that the state does not name.

use std::fs;
use std::path::{Path, PathBuf};

use rustix::fs::{FallocateFlags, fallocate};
use walkdir::WalkDir;

use super::committer::Committer;
use super::shutdown_hash;
use super::state::{SegmentPhase, StateDb, UnsealedSegment};
use crate::config::Config;
use crate::daemon::error::DaemonError;
use crate::record::Sidecar;
use crate::sink::segment::{self, SegmentDir, number};

/// Bytes that are set aside so that there is room to close a segment when the disk is full.
const RESERVE_BYTES: u64 = 4 << 20;

/// Bytes that must be free for output before work goes on.
const PROBE_BYTES: u64 = 1 << 20;

/// The files and folders of the state.
struct Places {
    db: PathBuf,
    instance: PathBuf,
    sidecars: PathBuf,
    reserve: PathBuf,
}

impl Places {
    fn of(config: &Config) -> Places {
        let dir = &config.state.dir;
        Places {
            db: dir.join("state.db"),
            instance: dir.join("instance"),
            sidecars: dir.join("sidecars"),
            reserve: dir.join("reserve"),
        }
    }
}

/// Opens state and output, and finishes what was left undone. What was noteworthy goes to `remark`.
pub(crate) fn open(
    config: &Config,
    remark: &mut dyn FnMut(String),
) -> Result<Committer, DaemonError> {
    let places = Places::of(config);
    let dir = make(config, &places)?;
    let empty = fs::metadata(&places.db).map_or(0, |metadata| metadata.len()) == 0;
    let before = traces(&dir, &places)?;
    if empty && before {
        return Err(DaemonError::inconsistent(&format!(
            "{} is gone, but not what it wrote",
            places.db.display()
        )));
    }
    let store = StateDb::open(&places.db, !before)?;
    same_instance(&places, &store)?;
    let row = store.segment()?;
    not_older(&dir, &places, &row)?;
    let committer = Committer::new(store, dir, places.sidecars.clone(), config.output.compress)?;
    let committer = settle(committer, &row, remark)?;
    reserve(&places.reserve)?;
    Ok(committer)
}

fn make(config: &Config, places: &Places) -> Result<SegmentDir, DaemonError> {
    let fault = |path: &Path| {
        let path = path.to_owned();
        move |error| DaemonError::from_io(&path, &error)
    };
    fs::create_dir_all(&places.sidecars).map_err(fault(&places.sidecars))?;
    segment::sync_dir(&config.state.dir).map_err(fault(&config.state.dir))?;
    SegmentDir::create(&config.output.dir).map_err(fault(&config.output.dir))
}

/// Whether there is anything that only a state could have brought about.
fn traces(dir: &SegmentDir, places: &Places) -> Result<bool, DaemonError> {
    let fault = |error| DaemonError::from_io(dir.path(), &error);
    Ok(places.instance.exists()
        || dir.highest().map_err(fault)? > 0
        || !dir.hidden_names().map_err(fault)?.is_empty()
        || highest_sidecar(places)? > 0)
}

fn highest_sidecar(places: &Places) -> Result<u64, DaemonError> {
    let entries = fs::read_dir(&places.sidecars)
        .map_err(|error| DaemonError::from_io(&places.sidecars, &error))?;
    Ok(entries
        .flatten()
        .filter_map(|entry| number(&entry.file_name()))
        .max()
        .unwrap_or(0))
}

/// Holds the state to the name that was written when it was made.
fn same_instance(places: &Places, store: &StateDb) -> Result<(), DaemonError> {
    match fs::read_to_string(&places.instance) {
        Ok(instance) if instance.trim() == store.instance() => Ok(()),
        Ok(_) => Err(DaemonError::inconsistent(&format!(
            "{} belongs to another state",
            places.instance.display()
        ))),
        Err(_) => segment::replace(
            &places.instance,
            format!("{}\n", store.instance()).as_bytes(),
        )
        .map_err(|error| DaemonError::from_io(&places.instance, &error)),
    }
}

/// Refuses a state that knows less than the output shows: one restored from a backup.
fn not_older(dir: &SegmentDir, places: &Places, row: &UnsealedSegment) -> Result<(), DaemonError> {
    let fault = |error| DaemonError::from_io(dir.path(), &error);
    let published = dir.highest().map_err(fault)?;
    let hidden = dir
        .hidden_names()
        .map_err(fault)?
        .iter()
        .filter_map(|name| number(name))
        .max()
        .unwrap_or(0);
    let there = published.max(hidden).max(highest_sidecar(places)?);
    if there > row.seq || published == row.seq && row.phase == SegmentPhase::Open {
        let known = row.seq;
        return Err(DaemonError::inconsistent(&format!(
            "the state is older than the output: segment {there} after {known}"
        )));
    }
    Ok(())
}

/// Brings the segment that was being written, or published, to its end.
fn settle(
    mut committer: Committer,
    row: &UnsealedSegment,
    remark: &mut dyn FnMut(String),
) -> Result<Committer, DaemonError> {
    match row.phase {
        SegmentPhase::Sealing => committer.finish()?,
        SegmentPhase::Open => {
            to_committed(&committer.dir.part(row.seq), row, remark)?;
            committer.seal()?;
        }
    }
    let dir = &committer.dir;
    let own = format!("{:010}.", committer.seq());
    for name in dir
        .hidden_names()
        .map_err(|error| DaemonError::from_io(dir.path(), &error))?
    {
        if name.as_encoded_bytes().starts_with(own.as_bytes()) {
            continue;
        }
        let aside = dir
            .set_aside(&name)
            .map_err(|error| DaemonError::from_io(&dir.hidden("").join(&name), &error))?;
        remark(format!(
            "an unknown file was put aside as {}",
            aside.display()
        ));
    }
    Ok(committer)
}

/// Cuts a part to its committed length, or says what was lost.
fn to_committed(
    part: &Path,
    row: &UnsealedSegment,
    remark: &mut dyn FnMut(String),
) -> Result<(), DaemonError> {
    let fault = |error| DaemonError::from_io(part, &error);
    let len = match fs::metadata(part) {
        Ok(metadata) => metadata.len(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => 0,
        Err(error) => return Err(fault(error)),
    };
    if len < row.len {
        return Err(DaemonError::inconsistent(&format!(
            "LOST {} bytes in {}",
            row.len - len,
            part.display()
        )));
    }
    if row.len == 0 {
        return if part.exists() {
            fs::remove_file(part).map_err(fault)
        } else {
            Ok(())
        };
    }
    if segment::hash_of(part, row.len).map_err(fault)? != Some(row.hash) {
        return Err(DaemonError::inconsistent(&format!(
            "{} is not what was committed",
            part.display()
        )));
    }
    if len > row.len {
        remark(format!(
            "{} bytes that were not committed are cut off {}",
            len - row.len,
            part.display()
        ));
        segment::cut(part, row.len).map_err(fault)?;
    }
    Ok(())
}

/// Sets room aside, where the file system can.
fn reserve(path: &Path) -> Result<(), DaemonError> {
    let fault = |error| DaemonError::from_io(path, &error);
    let file = fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
        .map_err(fault)?;
    match room(&file, RESERVE_BYTES) {
        Ok(()) | Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::FBIG) => Ok(()),
        Err(error) => Err(fault(error.into())),
    }
}

/// Asks for room. In memory a signal interrupts that.
fn room(file: &fs::File, bytes: u64) -> rustix::io::Result<()> {
    rustix::io::retry_on_intr(|| fallocate(file, FallocateFlags::empty(), 0, bytes))
}

/// Gives the room back that was set aside.
pub(crate) fn release(config: &Config) {
    // If it is not there, there is nothing to give back.
    let _ = fs::remove_file(Places::of(config).reserve);
}

/// Whether there is room again, for state and output: in the state more than what was just given back.
pub(crate) fn has_room(config: &Config) -> bool {
    let state = config.state.dir.join("probe");
    is_free(&state, 2 * RESERVE_BYTES)
        && is_free(&config.output.dir.join(".open/.probe"), PROBE_BYTES)
}

/// Whether a file of so many bytes has room.
fn is_free(probe: &Path, bytes: u64) -> bool {
    let file = fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .open(probe);
    // Without its folder nothing was begun here yet: the start makes it, and meets what there is.
    if file
        .as_ref()
        .is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
    {
        return true;
    }
    let free = file.is_ok_and(|file| {
        // A limit of file size says nothing of the room there is.
        matches!(
            room(&file, bytes),
            Ok(()) | Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::FBIG)
        )
    });
    // One that cannot be removed is found again next time.
    let _ = fs::remove_file(probe);
    free
}

/// Builds the state anew: the messages that the sidecars name are seen, everything else is read again.
///
/// A segment whose sidecar was written and that matches it is published; other unfinished ones are put aside, for
/// nobody has been told of them. The old database is kept as `state.db.old`.
pub(crate) fn rebuild(config: &Config, remark: &mut dyn FnMut(String)) -> Result<(), DaemonError> {
    let places = Places::of(config);
    let dir = make(config, &places)?;
    let snapshot = places.sidecars.join("snapshot.db");
    // It gets its name when it is whole, so that nothing begins with half of it.
    let (built, log) = (
        config.state.dir.join("built.db"),
        config.state.dir.join("built.db-wal"),
    );
    for left in [&built, &log] {
        let _ = fs::remove_file(left);
    }
    shutdown_hash::forget(&built);
    if snapshot.exists() {
        fs::copy(&snapshot, &built).map_err(|error| DaemonError::from_io(&built, &error))?;
    }
    let store = StateDb::open(&built, true).map_err(|fault| match fault {
        DaemonError::Inconsistent(_) if snapshot.exists() => DaemonError::Inconsistent(format!(
            "{} is damaged, and was left as it is; without it, what stands in no sidecar is given again",
            snapshot.display()
        )),
        fault => fault,
    })?;
    put_old_aside(&config.state.dir)?;
    let mut sidecars = sidecars(&dir, &places)?;
    // The snapshot knows what is older than itself, and what of it was forgotten.
    let from = store.segment()?.seq;
    sidecars.retain(|sidecar| sidecar.seq >= from);
    let mut damaged = Vec::new();
    for sidecar in &sidecars {
        if publish(&dir, sidecar)? == Part::Other {
            damaged.push(sidecar.seq);
        }
    }
    // Nobody has been told of what is put aside, so it is read again.
    sidecars.retain(|sidecar| !damaged.contains(&sidecar.seq));
    for name in dir
        .hidden_names()
        .map_err(|error| DaemonError::from_io(dir.path(), &error))?
    {
        let aside = dir
            .set_aside(&name)
            .map_err(|error| DaemonError::from_io(dir.path(), &error))?;
        remark(format!("put aside as {}", aside.display()));
    }
    let highest = dir
        .highest()
        .map_err(|error| DaemonError::from_io(dir.path(), &error))?;
    let next = (sidecars
        .iter()
        .map(|sidecar| sidecar.seq)
        .max()
        .unwrap_or(0)
        .max(highest)
        + 1)
    .max(from);
    store.begin()?;
    store.start_at(next)?;
    let mut messages = 0;
    for mailbox in sidecars.iter().flat_map(|sidecar| &sidecar.mailboxes) {
        messages += store.learn(mailbox)?;
    }
    store.nothing_is_fresh()?;
    let epoch = sidecars
        .iter()
        .map(|sidecar| sidecar.epoch)
        .max()
        .max(store.meta_value("epoch")?);
    let age = sidecars
        .iter()
        .map(|sidecar| sidecar.age)
        .max()
        .max(store.meta_value("age")?);
    store.set_meta_value("epoch", epoch.unwrap_or(0) + 1)?;
    store.set_meta_value("age", age.unwrap_or(0))?;
    store.commit()?;
    store.close()?;
    segment::take_place(&built, &places.db)
        .map_err(|error| DaemonError::from_io(&places.db, &error))?;
    shutdown_hash::follow(&built, &places.db);
    // Its log was copied back; an empty one does no harm.
    let _ = fs::remove_file(log);
    remark(format!(
        "the state was built anew: {} segments, {messages} messages",
        sidecars.len()
    ));
    Ok(())
}

/// Gives the files of the old state other names.
fn put_old_aside(state: &Path) -> Result<(), DaemonError> {
    for name in ["state.db", "state.db-wal", "state.sum", "instance"] {
        let path = state.join(name);
        if path.exists() {
            fs::rename(&path, state.join(format!("{name}.old")))
                .map_err(|error| DaemonError::from_io(&path, &error))?;
        }
    }
    Ok(())
}

/// All sidecars that are left, of each segment one.
fn sidecars(dir: &SegmentDir, places: &Places) -> Result<Vec<Sidecar>, DaemonError> {
    let mut found = std::collections::BTreeMap::new();
    for folder in [dir.path(), &dir.hidden(""), &places.sidecars] {
        for entry in WalkDir::new(folder)
            .min_depth(1)
            .max_depth(1)
            .sort_by_file_name()
        {
            let path = entry
                .map_err(|error| DaemonError::from_io(folder, &error.into()))?
                .into_path();
            if path.extension() != Some("meta".as_ref()) {
                continue;
            }
            let bytes = fs::read(&path).map_err(|error| DaemonError::from_io(&path, &error))?;
            // One that a crash left half written says nothing of a published segment.
            if let Some(sidecar) = Sidecar::read(&bytes) {
                found.entry(sidecar.seq).or_insert(sidecar);
            }
        }
    }
    Ok(found.into_values().collect())
}

/// What stands in the hidden file of a segment that has a sidecar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// Nothing any more: it is published.
    Published,
    /// Something else than the sidecar says.
    Other,
}

/// Publishes a segment that was about to be when the state was lost.
fn publish(dir: &SegmentDir, sidecar: &Sidecar) -> Result<Part, DaemonError> {
    let part = dir.part(sidecar.seq);
    if !part.exists() || dir.published(&sidecar.name).exists() {
        return Ok(Part::Published);
    }
    let hash = u64::from_str_radix(&sidecar.hash, 16).ok();
    let whole = fs::metadata(&part).is_ok_and(|metadata| metadata.len() == sidecar.len)
        && segment::hash_of(&part, sidecar.len).is_ok_and(|found| found == hash);
    if !whole {
        return Ok(Part::Other);
    }
    let meta = format!("{:010}.meta", sidecar.seq);
    let plain = format!("{:010}.jsonl", sidecar.seq);
    for (from, to) in [(dir.hidden(&meta), &meta), (part, &plain)] {
        match dir.publish(&from, to) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(DaemonError::from_io(&dir.published(to), &error));
            }
            _ => {}
        }
    }
    dir.sync()
        .map_err(|error| DaemonError::from_io(dir.path(), &error))?;
    Ok(Part::Published)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives a message with one record in a segment of its own.
    fn give(committer: &mut Committer, key: u128) {
        let state = committer.transaction().unwrap();
        let mailbox = state.mailbox(7, 7, 1).unwrap();
        state.mark_seen(mailbox, key).unwrap();
        state.mark_in_open_segment(mailbox, key).unwrap();
        state
            .mark_file_read((key >> 100) as u64, mailbox, None)
            .unwrap();
        committer.put(b"{}\n", 1);
        committer.commit().unwrap();
        assert!(committer.seal().unwrap());
    }

    #[test]
    fn a_snapshot_takes_the_place_of_old_sidecars_and_is_built_upon() {
        let root = std::env::temp_dir().join(format!("urlspool-snapshot-{}", std::process::id()));
        let mut config = Config::default();
        (config.output.dir, config.state.dir) = (root.join("out"), root.join("state"));
        let copies = || {
            let names = fs::read_dir(root.join("state/sidecars")).unwrap().flatten();
            let mut names: Vec<_> = names
                .map(|entry| entry.file_name().into_string().unwrap())
                .collect();
            names.sort();
            names
        };
        let keys = [1 << 100, 2 << 100, 3 << 100, 4 << 100];
        let mut committer = open(&config, &mut |_| {}).unwrap();
        give(&mut committer, keys[0]);
        give(&mut committer, keys[1]);
        assert!(!committer.compact(3).unwrap() && committer.compact(2).unwrap());
        assert_eq!(copies(), ["snapshot.db"]);
        give(&mut committer, keys[2]);
        committer.close().unwrap();
        // What the consumer has not taken yet says nothing that the snapshot does not know.
        for _ in 0..2 {
            rebuild(&config, &mut |_| {}).unwrap();
            let mut committer = open(&config, &mut |_| {}).unwrap();
            let state = committer.transaction().unwrap();
            let mailbox = state.mailbox(7, 7, 1).unwrap();
            assert_eq!(
                keys.map(|key| state.is_seen(mailbox, key).unwrap()),
                [true, true, true, false]
            );
            assert_eq!(
                keys.map(|key| state.is_file_read((key >> 100) as u64).unwrap()),
                [true, true, true, false]
            );
            assert_eq!((committer.seq(), copies().len()), (4, 2));
            committer.close().unwrap();
        }
        assert!(!root.join("state/built.db").exists());
        let snapshot = root.join("state/sidecars/snapshot.db");
        let db = rusqlite::Connection::open(&snapshot).unwrap();
        assert_eq!(
            db.execute("DELETE FROM seen WHERE key=(SELECT min(key) FROM seen)", [])
                .unwrap(),
            1
        );
        drop(db);
        let refused = rebuild(&config, &mut |_| {}).unwrap_err();
        assert!(
            matches!(&refused, DaemonError::Inconsistent(why) if why.contains("snapshot.db is damaged")),
            "{refused}"
        );
        open(&config, &mut |_| {}).unwrap().close().unwrap();
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn a_start_that_met_a_full_disk_before_it_made_its_folders_is_tried_again() {
        let root = std::env::temp_dir().join(format!("urlspool-early-{}", std::process::id()));
        let mut config = Config::default();
        (config.output.dir, config.state.dir) = (root.join("out"), root.join("state"));
        assert!(has_room(&config));
        fs::create_dir_all(&config.state.dir).unwrap();
        assert!(has_room(&config));
        assert_eq!(fs::read_dir(&config.state.dir).unwrap().count(), 0);
        fs::remove_dir_all(root).unwrap();
    }

    /// Everything that a state knows of mailboxes.
    fn told(committer: &mut Committer) -> Vec<String> {
        let mut told = Vec::new();
        let state = committer.transaction().unwrap();
        for table in ["seen", "known", "file", "tail"] {
            told.extend(state.rows(&format!(
                "SELECT '{table}', box.key, t.* FROM {table} t, mailbox box WHERE box.id=mailbox"
            )));
        }
        told.extend(state.rows("SELECT 'mailbox', * FROM mailbox"));
        told.sort();
        told
    }

    #[test]
    fn a_state_that_is_built_anew_is_the_one_that_was_lost() {
        let root = std::env::temp_dir().join(format!("urlspool-anew-{}", std::process::id()));
        let mut config = Config::default();
        (config.output.dir, config.state.dir) = (root.join("out"), root.join("state"));
        let mut committer = open(&config, &mut |_| {}).unwrap();
        give(&mut committer, 1 << 100);
        let state = committer.transaction().unwrap();
        let all = [(7, 7, 1), (8, 7, 1), (9, 7, 1)]
            .map(|(key, spool, dev)| state.mailbox(key, spool, dev).unwrap());
        let tail = crate::daemon::store::GrowingMessage {
            len: 5,
            hash: 6,
            ids: vec![7, 8],
        };
        state.put_growing(all[1], &tail).unwrap();
        give(&mut committer, 2 << 100);
        // Mailboxes change, and nothing else of them.
        let state = committer.transaction().unwrap();
        state.mark_multi_message(all[0]).unwrap();
        state.mark_mixed_archive(all[1]).unwrap();
        state.mailbox(9, 6, 2).unwrap();
        state.mailbox(10, 7, 1).unwrap();
        give(&mut committer, 3 << 100);
        let before = told(&mut committer);
        committer.close().unwrap();
        rebuild(&config, &mut |_| {}).unwrap();
        let mut committer = open(&config, &mut |_| {}).unwrap();
        assert_eq!(told(&mut committer), before);
        assert!(before.len() == 11, "{before:?}");
        committer.close().unwrap();
        fs::remove_dir_all(root).unwrap();
    }
}
