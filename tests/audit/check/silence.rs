//! Batches in which no server replies: a failed network or dead hosts.

use std::net::ToSocketAddrs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{planned, results};
use crate::audit::http_server::{HttpServer, answer};
use crate::audit::{audit, audited};
use crate::scene::{Ended, Folder};

/// Returns URLs of local hosts without a listener.
fn refusing(hosts: usize) -> Vec<String> {
    let url = |number| format!("http://127.0.1.{number}:1/t{number}");
    (1..=hosts).map(url).collect()
}

/// Checks without retries. Imported results are never due again.
fn check(folder: &Folder, more: &[&str]) -> Ended {
    let args = ["--retries", "0", "--max-age", "9999w"];
    audit(folder, "check", &[&args[..], more].concat())
}

#[test]
fn the_silence_of_all_hosts_is_not_stored() {
    let folder = planned(&refusing(10));
    let end = check(&folder, &[]);
    assert_eq!(end.status, Some(69), "{}", end.stderr);
    let expected = "no server replied for 10 URLs of 10 hosts (10 refused or not reached); these \
        results are not stored. \
        This machine probably has no network";
    assert!(end.stderr.contains(expected), "{}", end.stderr);
    assert!(end.stderr.contains("--accept-unreachable"));
    assert!(results(&folder).is_empty());
    let end = check(&folder, &["--accept-unreachable"]);
    assert!(end.stderr.contains("10 on dead hosts"), "{}", end.stderr);
    assert_eq!(results(&folder).len(), 10);
}

/// Expects dead names where this machine has a name service, and unknown ones elsewhere.
///
/// Regression: they were dead if the address was only asked because it had replied before.
#[test]
fn a_reply_from_an_address_proves_no_name_service() {
    let server = HttpServer::start(|_, _| answer("200 OK", "", ""));
    let address = server.url("/a");
    let mut urls: Vec<_> = (1..=12).map(|n| format!("http://h{n}.invalid/n")).collect();
    urls.push(address.clone());
    let works = ("k.root-servers.net", 53).to_socket_addrs().is_ok();
    let expected = if works {
        "12 on dead hosts"
    } else {
        "12 unknown"
    };
    for known in [String::new(), format!("{address},200,2026-01-01\n")] {
        let folder = planned(&urls);
        let file = folder.file("known.csv", format!("url,status,checked_at\n{known}"));
        audited(&folder, "import", &["-q", &file]);
        let end = check(&folder, &[]);
        assert_eq!(end.status, Some(0), "{}", end.stderr);
        assert!(end.stderr.contains(expected), "{known}: {}", end.stderr);
    }
}

/// Servers that replied in an earlier check, and hosts without a listener.
struct Mixed {
    folder: Folder,
    servers: Vec<HttpServer>,
    /// `true` if the servers no longer respond.
    are_down: Arc<AtomicBool>,
}

fn partly_checked(living: usize, dead: usize) -> Mixed {
    let are_down = Arc::new(AtomicBool::new(false));
    let server = |number| {
        let is_down = Arc::clone(&are_down);
        HttpServer::at(&format!("127.0.2.{number}"), move |_, _| {
            if is_down.load(Ordering::Relaxed) {
                return String::new();
            }
            answer("200 OK", "", "")
        })
    };
    let servers: Vec<_> = (1..=living).map(server).collect();
    let known: Vec<_> = servers.iter().map(|server| server.url("/a")).collect();
    let folder = planned(&[known.clone(), refusing(dead)].concat());
    let lines: String = known
        .iter()
        .map(|url| format!("{url},200,2026-01-01\n"))
        .collect();
    let file = folder.file("known.csv", format!("url,status,checked_at\n{lines}"));
    audited(&folder, "import", &["-q", &file]);
    Mixed {
        folder,
        servers,
        are_down,
    }
}

#[test]
fn a_rest_of_dead_hosts_is_stored_if_a_host_of_an_earlier_check_replies() {
    let mixed = partly_checked(1, 30);
    for rest in [10, 20] {
        let limit = rest.to_string();
        let end = check(&mixed.folder, &["--limit", &limit]);
        assert_eq!(end.status, Some(0), "{}", end.stderr);
        let expected = format!("{rest} of {rest} URLs checked, {rest} on dead hosts\n");
        assert!(end.stderr.ends_with(&expected), "{}", end.stderr);
    }
    assert_eq!(results(&mixed.folder).len(), 31);
    // One control link per batch.
    assert_eq!(mixed.servers[0].seen().len(), 2);
}

#[test]
fn a_network_that_fails_later_is_no_death_of_hosts() {
    for (living, dead) in [(1, 9), (9, 1), (12, 3)] {
        let mixed = partly_checked(living, dead);
        mixed.are_down.store(true, Ordering::Relaxed);
        let end = check(&mixed.folder, &[]);
        assert_eq!(end.status, Some(69), "{}", end.stderr);
        let control = format!("nor did any of {} host", living.min(10));
        assert!(end.stderr.contains(&control), "{}", end.stderr);
        assert_eq!(results(&mixed.folder).len(), living);
        mixed.are_down.store(false, Ordering::Relaxed);
        let end = check(&mixed.folder, &[]);
        assert_eq!(end.status, Some(0), "{}", end.stderr);
        assert_eq!(results(&mixed.folder).len(), living + dead);
    }
}
