//! Status, metrics and unit match their documentation.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::super::cli::{code, configured, once};
use super::super::mbox_message;
use super::Operated;
use crate::scene::program_command;

#[test]
fn every_field_and_metric_is_documented() {
    let folder = configured();
    let root = folder.root();
    fs::write(root.join("spool/inbox"), mbox_message(1, 1)).unwrap();
    assert_eq!(code(&once(root, &[])), 0);
    let daemon = Operated::start(root, program_command());
    let (status, metrics) = (daemon.status(), daemon.get("/metrics"));
    daemon.stop();
    let meta = fs::read(root.join("out/0000000001.meta")).unwrap();
    let meta: Value = serde_json::from_slice(&meta).unwrap();
    let keys = |value: &Value| {
        let keys: Vec<String> = value.as_object().unwrap().keys().cloned().collect();
        keys
    };
    let mut names = [
        keys(&status),
        keys(&status["spools"][0]),
        keys(&status["last_sealed"]),
        keys(&meta),
    ]
    .concat();
    let types = metrics
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE "));
    names.extend(types.map(|line| line.split(' ').next().unwrap().to_owned()));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/watch.md");
    let page = fs::read_to_string(path).unwrap();
    let missing: Vec<&String> = names
        .iter()
        .filter(|name| !page.contains(&format!("`{name}`")))
        .collect();
    assert!(names.len() > 60 && missing.is_empty(), "{missing:?}");
}

/// The unit agrees with the default configuration and the exit statuses, and is confined (row 106).
#[test]
fn the_unit_fits_the_program() {
    let read =
        |path: &str| fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
    let (unit, config) = (
        read("config/urlspool.service"),
        read("config/urlspool.toml"),
    );
    let expected = "RestartPreventExitStatus=2 78
RuntimeDirectory=urlspool
RuntimeDirectoryMode=0750
StateDirectory=urlspool
StateDirectoryMode=0750
UMask=0027
Group=urlspool
PrivateNetwork=yes
NoNewPrivileges=yes
ProtectSystem=strict
PrivateDevices=yes
PrivateTmp=yes
ProtectProc=invisible
RestrictAddressFamilies=AF_UNIX
MemoryDenyWriteExecute=yes
SystemCallFilter=~@privileged @resources
CapabilityBoundingSet=
MemoryMax=512M
#   PrivateNetwork=no
#   IPAddressAllow=localhost";
    for line in expected.lines() {
        assert!(unit.lines().any(|found| found == line), "{line}");
    }
    for key in [
        "dir = \"/var/lib/urlspool/out\"",
        "dir = \"/var/lib/urlspool/state\"",
        "listen = \"unix:/run/urlspool/metrics.sock\"",
    ] {
        assert!(config.lines().any(|found| found == key), "{key}");
    }
}
