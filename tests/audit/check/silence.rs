//! Batches in which no server replies: a network that has failed, or hosts that are dead.

use std::fs;

use super::{fake_checker, log, planned, results};
use crate::audit::{audit, audited};
use crate::scene::{Ended, Folder};

/// A planned database with a URL of each of `hosts` hosts, none of which answers in time.
fn silent(hosts: usize) -> Folder {
    let urls: Vec<_> = (0..hosts)
        .map(|number| format!("http://h{number}.cern.ch/t"))
        .collect();
    planned(&urls.join("\n"))
}

#[test]
fn the_silence_of_all_hosts_is_not_stored() {
    let folder = silent(10);
    let checker = fake_checker(&folder);
    let end = audit(&folder, "check", &["--checker", &checker]);
    assert_eq!(end.status, Some(69), "{}", end.stderr);
    let expected = "no server replied for 10 URLs of 10 hosts (10 no answer in time); these results are not stored. \
        This machine has probably no network";
    assert!(end.stderr.contains(expected), "{}", end.stderr);
    assert!(end.stderr.contains("--accept-unreachable"));
    assert!(results(&folder).is_empty());
    let args = ["--accept-unreachable", "--checker", &checker];
    let end = audited(&folder, "check", &args);
    assert!(end.stderr.contains("10 on dead hosts"), "{}", end.stderr);
    assert_eq!(results(&folder).len(), 10);
}

#[test]
fn the_silence_of_few_hosts_is_stored_and_reported() {
    let folder = silent(9);
    let checker = fake_checker(&folder);
    let end = audited(&folder, "check", &["--checker", &checker]);
    assert!(
        end.stderr.contains("no server replied for 9 URLs"),
        "{}",
        end.stderr
    );
    assert!(end.stderr.contains("--max-age 0h"), "{}", end.stderr);
    assert_eq!(results(&folder).len(), 9);
    let report = audited(&folder, "report", &["-o", "-"]).stdout;
    let report = String::from_utf8(report).unwrap();
    assert!(report.contains("No server replied in any check."));
}

#[test]
fn one_reply_shows_that_the_network_works() {
    let urls: Vec<_> = (0..60)
        .map(|number| format!("http://h{number}.cern.ch/t"))
        .collect();
    let folder = planned(&format!("http://l.cern.ch/d\n{}", urls.join("\n")));
    let checker = fake_checker(&folder);
    let end = audited(&folder, "check", &["--checker", &checker]);
    let expected = "61 of 61 URLs checked, 1 dead page, 60 on dead hosts\n";
    assert!(end.stderr.ends_with(expected), "{}", end.stderr);
    let report = audited(&folder, "report", &["-o", "-"]).stdout;
    assert!(
        !String::from_utf8(report)
            .unwrap()
            .contains("No server replied")
    );
}

/// A planned database with dead links of `dead` hosts, and living ones of `living` hosts that have been checked.
fn partly_checked(living: usize, dead: usize) -> (Folder, String) {
    let urls = |count, end| (0..count).map(move |host| format!("http://{end}{host}.cern.ch/{end}"));
    let all: Vec<_> = urls(living, "a").chain(urls(dead, "t")).collect();
    let folder = planned(&all.join("\n"));
    let known: String = urls(living, "a")
        .map(|url| format!("{url},200,2026-01-01\n"))
        .collect();
    let file = folder.file("known.csv", format!("url,status,checked_at\n{known}"));
    audited(&folder, "import", &["-q", &file]);
    let checker = fake_checker(&folder);
    (folder, checker)
}

/// Checks what has no result.
fn check(folder: &Folder, checker: &str, more: &[&str]) -> Ended {
    let args = ["--max-age", "9999w", "--checker", checker];
    audit(folder, "check", &[&args[..], more].concat())
}

#[test]
fn a_rest_of_dead_hosts_is_stored_if_a_host_of_an_earlier_check_replies() {
    let (folder, checker) = partly_checked(1, 30);
    for rest in [10, 20] {
        let limit = rest.to_string();
        let end = check(&folder, &checker, &["--limit", &limit]);
        assert_eq!(end.status, Some(0), "{}", end.stderr);
        let expected = format!("{rest} of {rest} URLs checked, {rest} on dead hosts\n");
        assert!(end.stderr.ends_with(&expected), "{}", end.stderr);
    }
    assert_eq!(results(&folder).len(), 31);
    assert_eq!(
        log(&folder).lines().count(),
        4,
        "two batches, and two control links"
    );
}

#[test]
fn a_network_that_fails_later_is_no_death_of_hosts() {
    for (living, dead) in [(1, 9), (9, 1), (12, 3)] {
        let (folder, checker) = partly_checked(living, dead);
        folder.write("down", "0");
        let end = check(&folder, &checker, &[]);
        assert_eq!(end.status, Some(69), "{}", end.stderr);
        let control = format!("nor any of {} host", living.min(10));
        assert!(end.stderr.contains(&control), "{}", end.stderr);
        assert_eq!(results(&folder).len(), living);
        // The network works again.
        fs::remove_file(folder.path("down")).unwrap();
        let end = check(&folder, &checker, &[]);
        assert_eq!(end.status, Some(0), "{}", end.stderr);
        assert_eq!(results(&folder).len(), living + dead);
    }
}

#[test]
fn a_host_of_the_batch_is_asked_once_however_it_is_written() {
    // Five hosts in all, of which each has replied once: too few to doubt the network.
    let urls: Vec<_> = (0..5)
        .map(|host| format!("http://h{host}.cern.ch./t"))
        .collect();
    let folder = planned(&urls.join("\n"));
    let known: String = urls
        .iter()
        .map(|url| format!("{url},200,2026-01-01\n"))
        .collect();
    let file = folder.file("known.csv", format!("url,status,checked_at\n{known}"));
    audited(&folder, "import", &["-q", &file]);
    let checker = fake_checker(&folder);
    let args = ["--max-age", "0h", "--checker", &checker];
    let end = audited(&folder, "check", &args);
    assert!(
        end.stderr.contains("no server replied for 5 URLs"),
        "{}",
        end.stderr
    );
    assert_eq!(log(&folder).lines().count(), 1, "no control links");
}

#[test]
fn unreachable_hosts_are_accepted_until_the_first_reply() {
    let urls: Vec<_> = (0..510)
        .map(|host| format!("http://h{host}.cern.ch/a"))
        .collect();
    let folder = planned(&urls.join("\n"));
    let checker = fake_checker(&folder);
    folder.write("down", "1");
    let end = check(&folder, &checker, &["--accept-unreachable"]);
    assert_eq!(end.status, Some(69), "{}", end.stderr);
    assert_eq!(results(&folder).len(), 500, "those before the failure");
    // No reply of this run shows that the network works.
    folder.write("down", "0");
    let end = check(&folder, &checker, &["--accept-unreachable"]);
    assert_eq!(end.status, Some(0), "{}", end.stderr);
    assert!(
        end.stderr.contains("no server replied for 10 URLs"),
        "{}",
        end.stderr
    );
    assert_eq!(results(&folder).len(), 510);
}

#[test]
fn links_that_are_not_contacted_are_no_failure_of_the_network() {
    let urls: Vec<_> = (0..10)
        .map(|host| format!("http://h{host}.cern.ch/x"))
        .collect();
    let folder = planned(&urls.join("\n"));
    let checker = fake_checker(&folder);
    let end = check(&folder, &checker, &[]);
    assert_eq!(end.status, Some(69), "{}", end.stderr);
    let way = "10 private, or excluded by the checker); these results are not stored. `--allow-private HOST`";
    assert!(end.stderr.contains(way), "{}", end.stderr);
    assert!(!end.stderr.contains("no network"), "{}", end.stderr);
}

#[test]
fn a_checker_without_answers_is_no_failure_of_the_network() {
    let folder = silent(10);
    let checker = fake_checker(&folder);
    folder.write("mute", "");
    let end = check(&folder, &checker, &[]);
    assert_eq!(end.status, Some(69), "{}", end.stderr);
    let way = "The output of the checker lacks these URLs; its last message is: lost the answers.";
    assert!(end.stderr.contains(way), "{}", end.stderr);
    assert!(!end.stderr.contains("no network"), "{}", end.stderr);
    assert!(results(&folder).is_empty());
}
