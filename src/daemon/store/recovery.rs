//! Brings state and output into agreement after any end of the daemon, or reports that they contradict each other.
//!
//! Every step can be interrupted and repeated. Only files that the state names are removed.

use std::fs;
use std::io;
use std::path::Path;

use super::committer::{Committer, LinesTo, UnsealedSegment};
use super::state_db::{MissingTables, StateDb};
use super::state_paths::{StatePaths, create_folders, reserve_space};
use crate::config::Config;
use crate::daemon::error::{AtPath, DaemonError, REBUILD};
use crate::sink::segment::{self, SegmentDir, number};

/// Opens state and output, and completes or undoes what was interrupted. Warnings for the operator go to `warn`.
pub(super) fn open(
    config: &Config,
    warn: &mut dyn FnMut(String),
) -> Result<Committer, DaemonError> {
    let paths = StatePaths::new(config);
    let dir = create_folders(config, &paths)?;
    let db = open_db(&dir, &paths)?;
    db.set_tracking(config.output.tombstones)?;
    check_instance(&paths, &db)?;
    let unsealed = db.unsealed_segment()?;
    check_age(&dir, &paths, &unsealed)?;
    let lines_to = match config.output.stdout {
        None => LinesTo::Segments,
        Some(_) => LinesTo::Stdout,
    };
    let compress = config.output.compress;
    let committer = Committer::new(db, dir, paths.sidecars.clone(), compress, lines_to)?;
    // An output that was written before folders remembered their highest number, or another folder.
    committer.remember(unsealed.seq - 1)?;
    let mut committer = complete_segment(committer, &unsealed, warn)?;
    committer
        .adopt_spools(&config.spool)?
        .into_iter()
        .for_each(&mut *warn);
    set_unknown_files_aside(&committer, warn)?;
    reserve_space(&paths.reserve)?;
    Ok(committer)
}

fn open_db(dir: &SegmentDir, paths: &StatePaths) -> Result<StateDb, DaemonError> {
    let is_empty = fs::metadata(&paths.db).map_or(0, |metadata| metadata.len()) == 0;
    let has_output = has_output(dir, paths)?;
    if is_empty && has_output {
        return Err(DaemonError::inconsistent(format!(
            "state database {} is missing although its segments exist; {REBUILD}",
            paths.db.display()
        )));
    }
    let missing = if has_output {
        MissingTables::Reject
    } else {
        MissingTables::Create
    };
    StateDb::open(&paths.db, missing)
}

/// Returns `true` if there are files that only a state can have written.
fn has_output(dir: &SegmentDir, paths: &StatePaths) -> Result<bool, DaemonError> {
    Ok(paths.instance.exists()
        || dir.highest().at(dir.path())? > 0
        || !dir.hidden_names().at(dir.path())?.is_empty()
        || paths.highest_sidecar()? > 0)
}

/// Compares the state's name with the one that was written when the state was created.
fn check_instance(paths: &StatePaths, db: &StateDb) -> Result<(), DaemonError> {
    match fs::read_to_string(&paths.instance) {
        Ok(instance) if instance.trim() == db.instance() => Ok(()),
        Ok(_) => Err(DaemonError::inconsistent(format!(
            "{} belongs to another state than {}; {REBUILD}",
            paths.instance.display(),
            paths.db.display()
        ))),
        Err(_) => segment::replace(&paths.instance, format!("{}\n", db.instance()).as_bytes())
            .at(&paths.instance),
    }
}

/// Rejects a state that is older than the output: one that was restored from a backup.
fn check_age(
    dir: &SegmentDir,
    paths: &StatePaths,
    unsealed: &UnsealedSegment,
) -> Result<(), DaemonError> {
    let published = dir.highest().at(dir.path())?;
    let hidden_names = dir.hidden_names().at(dir.path())?;
    let hidden = hidden_names.iter().filter_map(|name| number(name)).max();
    let found = published
        .max(hidden.unwrap_or(0))
        .max(paths.highest_sidecar()?);
    let expected = unsealed.seq;
    if expected < found || published == expected && !unsealed.is_sealing {
        return Err(DaemonError::inconsistent(format!(
            "state database {} is older than the output: it expects segment {expected}, but segment {found} was written; {REBUILD}",
            paths.db.display()
        )));
    }
    Ok(())
}

/// Completes the segment that was being written or published.
fn complete_segment(
    mut committer: Committer,
    unsealed: &UnsealedSegment,
    warn: &mut dyn FnMut(String),
) -> Result<Committer, DaemonError> {
    if unsealed.is_sealing {
        committer.finish_seal()?;
        // A state from a backup may not know the lines that were written after this segment.
        let next = committer.db.unsealed_segment()?;
        cut_to_committed(&committer.dir.part(next.seq), &next, warn)?;
    } else {
        cut_to_committed(&committer.dir.part(unsealed.seq), unsealed, warn)?;
        committer.seal()?;
    }
    Ok(committer)
}

/// Cuts a segment file to its committed length.
///
/// # Errors
///
/// [`DaemonError::Inconsistent`] if it is shorter than that or its content differs, or an I/O error.
fn cut_to_committed(
    part: &Path,
    unsealed: &UnsealedSegment,
    warn: &mut dyn FnMut(String),
) -> Result<(), DaemonError> {
    let len = len_or_zero(part).at(part)?;
    if len < unsealed.len {
        return Err(DaemonError::inconsistent(format!(
            "{} committed bytes are missing at the end of {}; {REBUILD}",
            unsealed.len - len,
            part.display()
        )));
    }
    if unsealed.len == 0 {
        return match fs::remove_file(part) {
            Err(error) if part.exists() => Err(error).at(part),
            _ => Ok(()),
        };
    }
    if segment::hash_of(part, unsealed.len).at(part)? != Some(unsealed.hash) {
        return Err(DaemonError::inconsistent(format!(
            "{} differs from what was committed; {REBUILD}",
            part.display()
        )));
    }
    if unsealed.len < len {
        let uncommitted = len - unsealed.len;
        warn(format!(
            "removed {uncommitted} uncommitted bytes from the end of {}",
            part.display()
        ));
        segment::cut(part, unsealed.len).at(part)?;
    }
    Ok(())
}

fn len_or_zero(path: &Path) -> io::Result<u64> {
    match fs::metadata(path) {
        Ok(metadata) => Ok(metadata.len()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
        Err(error) => Err(error),
    }
}

/// Sets hidden files aside that do not belong to the open segment.
fn set_unknown_files_aside(
    committer: &Committer,
    warn: &mut dyn FnMut(String),
) -> Result<(), DaemonError> {
    let dir = &committer.dir;
    let own = format!("{:010}.", committer.seq());
    let names = dir.hidden_names().at(dir.path())?;
    for name in names {
        if name.as_encoded_bytes().starts_with(own.as_bytes()) {
            continue;
        }
        let aside = dir.set_aside(&name).at(dir.hidden("").join(&name))?;
        warn(format!("renamed an unknown file to {}", aside.display()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::daemon::store::test_fixture::StoreFixture;

    #[test]
    fn a_segment_is_published_once_whatever_step_of_it_was_interrupted() {
        for steps in 0..=4 {
            let fixture = StoreFixture::new(&format!("steps-{steps}"));
            let mut committer = open(&fixture.config(), &mut |_| {}).unwrap();
            committer.put(b"{}\n", 1);
            committer.commit().unwrap();
            committer.prepare_seal().unwrap();
            if 1 <= steps {
                committer.remember(1).unwrap();
            }
            let dir = &committer.dir;
            if 2 <= steps {
                let meta = "0000000001.meta";
                dir.publish(&dir.hidden(meta), meta).unwrap();
            }
            if 3 <= steps {
                dir.publish(&dir.part(1), "0000000001.jsonl").unwrap();
            }
            if 4 <= steps {
                // A consumer was faster.
                for name in ["0000000001.meta", "0000000001.jsonl"] {
                    fs::remove_file(dir.published(name)).unwrap();
                }
            }
            drop(committer);
            let committer = open(&fixture.config(), &mut |_| {}).unwrap();
            assert_eq!((committer.seq(), committer.committed()), (2, 0));
            committer.close().unwrap();
            assert_eq!(fixture.segments().len(), usize::from(steps < 4));
        }
    }

    #[test]
    fn a_state_that_is_older_than_removed_segments_is_refused() {
        let fixture = StoreFixture::new("older");
        let (config, kept) = (fixture.config(), fixture.folder.join("kept.db"));
        let seal = |lines: &[u8]| {
            let mut committer = open(&config, &mut |_| {}).unwrap();
            committer.put(lines, 1);
            committer.close().unwrap();
        };
        seal(b"{}\n");
        fs::copy(fixture.folder.join("state/state.db"), &kept).unwrap();
        seal(b"{\"a\":1}\n");
        for entry in fs::read_dir(fixture.folder.join("out")).unwrap().flatten() {
            let _ = entry
                .path()
                .extension()
                .is_some_and(|_| fs::remove_file(entry.path()).is_ok());
        }
        for folder in ["state/sidecars/0000000002.meta", "state/state.sum"] {
            fs::remove_file(fixture.folder.join(folder)).unwrap();
        }
        fs::copy(&kept, fixture.folder.join("state/state.db")).unwrap();
        let error = open(&config, &mut |_| {}).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("it expects segment 2, but segment 2 was written"),
            "{error}"
        );
    }
}
