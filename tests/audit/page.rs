//! The commands at the start of docs/audit.md.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

use super::http_server::{HttpServer, answer};
use super::message;
use crate::scene::{Folder, ended};

/// `packaging/install_test.sh` runs the first command. The others run here, on a local server.
#[test]
fn eight_commands_lead_from_an_empty_machine_to_a_bag() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/audit.md");
    let page = fs::read_to_string(page).unwrap();
    let block = page.split("```text\n").nth(1).unwrap();
    let commands: Vec<_> = block.split("```").next().unwrap().lines().collect();
    assert!(commands.len() <= 8 && commands[0].starts_with("cargo install"));
    let server = HttpServer::start(|request, _| {
        let is_archive = request.target.starts_with("/cdx");
        answer("200 OK", "", if is_archive { "[]" } else { "page" })
    });
    let folder = Folder::new();
    let mail = message(1, "", &format!("{}\n", server.url("/a")));
    folder.write("archive/list.mbox", mail);
    let program = Path::new(env!("CARGO_BIN_EXE_urlspool")).parent().unwrap();
    let path = format!("{}:{}", program.display(), env::var("PATH").unwrap());
    for command in &commands[1..] {
        let archive = "https://web.archive.org/cdx/search/cdx";
        let mut command = command.replace(archive, &server.url("/cdx"));
        if command.contains("audit plan") {
            command += " --allow-private 127.0.0.1";
        }
        let mut shell = Command::new("sh");
        shell.args(["-c", &command]).current_dir(folder.root());
        let ended = ended(shell.env("PATH", &path).env("HOME", folder.root()), b"");
        assert_eq!(ended.status, Some(0), "{command}: {}", ended.stderr);
    }
    for name in [
        "seeds.txt",
        "evidence/data/report.html",
        "evidence/manifest-sha256.txt",
    ] {
        assert!(folder.path(name).exists(), "{name}");
    }
}
