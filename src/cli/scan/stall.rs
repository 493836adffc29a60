//! The notice that a scan waits for files that give no data, as on a file system that does not answer.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use rustix::time::{ClockId, clock_gettime};

use super::super::terminal::escaped;
use super::outputs::SharedOutputs;

/// The time without work after which the notice is printed.
const STALL_TIMEOUT: Duration = Duration::from_secs(30);

/// Time between two looks at the process.
const INTERVAL: Duration = Duration::from_secs(1);

/// Processor time within [`INTERVAL`] from which on the scan works: looking takes a hundredth of it.
const WORKING: Duration = Duration::from_millis(10);

/// Maximum number of files that the notice names.
const NAMED_FILES: usize = 3;

/// The input of a scan, as it matters for the notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScanInput {
    /// Files alone.
    Files,
    /// Standard input too, for which a scan waits as its user wants.
    Stdin,
}

/// Starts the thread that prints the notice. It ends with the process.
pub(super) fn start_notice(
    outputs: SharedOutputs,
    bar: ProgressBar,
    input: ScanInput,
) -> io::Result<()> {
    let inherited = files_that_are_read();
    let mut detector = StallDetector::new(processor_time(), Instant::now());
    let watch = move || {
        loop {
            thread::sleep(INTERVAL);
            let activity = Activity {
                processor_time: processor_time(),
                // Held while somebody writes, perhaps to a pipe whose reader has stopped.
                is_writing: outputs.try_lock().is_none(),
            };
            if let Some(stalled) = detector.look(activity, Instant::now()) {
                let mut files = files_that_are_read();
                files.retain(|file| !inherited.contains(file));
                let Some(notice) = notice(&files, stalled, input) else {
                    continue;
                };
                bar.suspend(|| drop(writeln!(io::stderr(), "urlspool: {}", escaped(&notice))));
            }
        }
    };
    thread::Builder::new()
        .name("stalls".to_owned())
        .spawn(watch)?;
    Ok(())
}

/// The processor time that this process has used.
fn processor_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).unwrap_or_default()
}

/// The work of a scan at the time of a look.
#[derive(Clone, Copy, Debug)]
struct Activity {
    /// Processor time of the process since its start.
    processor_time: Duration,
    is_writing: bool,
}

/// Finds out that a scan has neither worked nor written for [`STALL_TIMEOUT`].
struct StallDetector {
    processor_time: Duration,
    worked: Instant,
    is_reported: bool,
}

impl StallDetector {
    fn new(processor_time: Duration, now: Instant) -> StallDetector {
        StallDetector {
            processor_time,
            worked: now,
            is_reported: false,
        }
    }

    /// Returns the time without work, once for each stall.
    fn look(&mut self, activity: Activity, now: Instant) -> Option<Duration> {
        let used = activity.processor_time.saturating_sub(self.processor_time);
        self.processor_time = activity.processor_time;
        if activity.is_writing || WORKING <= used {
            self.worked = now;
            self.is_reported = false;
        }
        let idle = now.saturating_duration_since(self.worked);
        let is_new = STALL_TIMEOUT <= idle && !self.is_reported;
        self.is_reported |= is_new;
        is_new.then_some(idle)
    }
}

/// The files that this process has open for reading alone. Known on Linux alone. Asks no file system but that of the kernel's
/// process information, so it does not wait itself.
fn files_that_are_read() -> Vec<PathBuf> {
    let Ok(descriptors) = fs::read_dir("/proc/self/fd") else {
        return Vec::new();
    };
    let is_file =
        |path: &Path| path.is_absolute() && !path.starts_with("/proc") && !path.starts_with("/dev");
    descriptors
        .filter_map(Result::ok)
        .filter(|entry| {
            let info = Path::new("/proc/self/fdinfo").join(entry.file_name());
            fs::read_to_string(info).is_ok_and(|info| is_read_only(&info))
        })
        .filter_map(|entry| fs::read_link(entry.path()).ok())
        .filter(|path| is_file(path))
        .collect()
}

/// Returns `true` if the flags in a descriptor's information, which are octal, have the access mode `O_RDONLY`.
fn is_read_only(info: &str) -> bool {
    info.lines()
        .find_map(|line| line.strip_prefix("flags:"))
        .is_some_and(|flags| matches!(flags.trim().as_bytes().last(), Some(b'0' | b'4')))
}

/// The notice for `files`. Without any, a file cannot be opened, unless the scan waits for standard input: then `None`.
fn notice(files: &[PathBuf], stalled: Duration, input: ScanInput) -> Option<String> {
    let names = match (files, input) {
        ([], ScanInput::Stdin) => return None,
        ([], ScanInput::Files) => {
            "a file cannot be opened (a named pipe that nobody writes, or a file system that does not answer)"
                .to_owned()
        }
        _ => names_of(files),
    };
    Some(format!(
        "{names}: no data for {} s; Ctrl-C ends the scan and keeps what was written",
        stalled.as_secs()
    ))
}

/// The first names of `files`, and the number of the others.
fn names_of(files: &[PathBuf]) -> String {
    let named: Vec<_> = files
        .iter()
        .take(NAMED_FILES)
        .map(|file| file.to_string_lossy())
        .collect();
    let mut names = named.join(", ");
    if let Some(more @ 1..) = files.len().checked_sub(NAMED_FILES) {
        names += &format!(" and {more} more");
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stall_is_reported_once_and_again_after_work() {
        let begun = Instant::now();
        let mut detector = StallDetector::new(Duration::ZERO, begun);
        let mut look = |seconds: u64, processor_time: u64, is_writing: bool| {
            let activity = Activity {
                processor_time: Duration::from_millis(processor_time),
                is_writing,
            };
            let found = detector.look(activity, begun + Duration::from_secs(seconds));
            found.map(|idle| idle.as_secs())
        };
        assert_eq!(look(29, 9, false), None);
        assert_eq!(look(30, 10, false), Some(30), "looking is no work");
        assert_eq!(look(90, 11, false), None, "it was reported");
        assert_eq!(look(91, 21, false), None, "it works again");
        assert_eq!(look(122, 22, false), Some(31));
        assert_eq!(look(123, 22, true), None, "it writes");
        assert_eq!(look(152, 22, false), None);
        assert_eq!(look(153, 22, false), Some(30));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn files_open_for_reading_are_named() {
        let manifest = fs::canonicalize("Cargo.toml").expect("a file");
        let held = fs::File::open(&manifest).expect("opens");
        assert!(files_that_are_read().contains(&manifest));
        drop(held);
        for (info, expected) in [
            ("pos:\t0\nflags:\t0100000\nmnt_id:\t29\n", true),
            ("flags:\t02100001\n", false),
            ("flags:\t0100002\n", false),
            ("", false),
        ] {
            assert_eq!(is_read_only(info), expected, "{info:?}");
        }
    }

    #[test]
    fn the_notice_names_some_files() {
        let files: Vec<PathBuf> = ["/a", "/b", "/c", "/d"].map(PathBuf::from).to_vec();
        let text = |count| notice(&files[..count], STALL_TIMEOUT, ScanInput::Files);
        assert_eq!(notice(&[], STALL_TIMEOUT, ScanInput::Stdin), None);
        assert!(text(0).is_some_and(|text| text.starts_with("a file cannot be opened")));
        assert!(text(2).is_some_and(|text| text.starts_with("/a, /b: no data for 30 s")));
        assert!(text(4).is_some_and(|text| text.starts_with("/a, /b, /c and 1 more: no")));
    }
}
