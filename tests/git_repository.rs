//! Git repositories of mailing lists, written by git in the layout of public-inbox, hostile
//! repositories, and a hostile git.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::scene::{Ended, Folder, assert_contains, done, ended, lines, urlspool};

/// Returns `true` if git is installed.
pub(crate) fn has_git() -> bool {
    let version = Command::new("git")
        .arg("--version")
        .stdout(Stdio::null())
        .status();
    let has_git = version.is_ok_and(|status| status.success());
    if !has_git {
        eprintln!("SKIPPED: git is not installed");
    }
    has_git
}

/// Runs git, and returns its output.
#[track_caller]
pub(crate) fn git(arguments: &[&str], input: &[u8]) -> Vec<u8> {
    let mut command = Command::new("git");
    command
        .args("-c user.name=a -c user.email=a@b.example -c protocol.file.allow=always".split(' '))
        .args(arguments)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null");
    let ended = ended(&mut command, input);
    assert_eq!(ended.status, Some(0), "{arguments:?}: {}", ended.stderr);
    ended.stdout
}

/// Change of one commit.
pub(crate) enum Change<'c> {
    /// Sets the content of the file. A file named `m` is then the only one.
    Write(&'c str, &'c str),
    /// Removes the file.
    Remove(&'c str),
    /// Renames the message `m` to `d`, as public-inbox deletes a message in version 2.
    Delete(&'c str),
}

/// Creates a bare repository with a commit for each change.
pub(crate) fn repository(path: &str, changes: &[Change<'_>]) {
    git(&["init", "-q", "--bare", path], b"");
    git(
        &["-C", path, "symbolic-ref", "HEAD", "refs/heads/master"],
        b"",
    );
    let mut stream = String::new();
    for (number, change) in changes.iter().enumerate() {
        let time = 1_000_000_000 + number;
        stream += &format!(
            "commit refs/heads/master\ncommitter A <a@b.example> {time} +0000\ndata 2\ns\n\n"
        );
        let data = |name: &str, text: &str| {
            format!("M 100644 inline {name}\ndata {}\n{text}\n", text.len())
        };
        stream += &match change {
            Change::Write("m", text) => format!("deleteall\n{}", data("m", text)),
            Change::Write(name, text) => data(name, text),
            Change::Remove(name) => format!("D {name}\n"),
            Change::Delete(text) => format!("deleteall\n{}", data("d", text)),
        };
        stream += "\n";
    }
    git(
        &["-C", path, "fast-import", "--quiet", "--force"],
        stream.as_bytes(),
    );
}

pub(crate) fn mail(host: &str) -> String {
    format!(
        "From: a@b.example\nSubject: s\nMessage-ID: <{host}@b.example>\n\n\
         See http://{host}.example/x\n"
    )
}

/// Returns the stream of the recipe in `docs/recipes.md`.
fn recipe(path: &str) -> Vec<u8> {
    let commits = git(&["-C", path, "rev-list", "--reverse", "HEAD"], b"");
    let names = String::from_utf8(commits).unwrap().replace('\n', ":m\n");
    git(
        &["-C", path, "cat-file", "--batch", "--buffer"],
        names.as_bytes(),
    )
}

/// Removes the description of the source from records.
fn without_source(mut records: Vec<Value>) -> Vec<Value> {
    for record in &mut records {
        let source = record["source"].as_object_mut().unwrap();
        source.remove("path");
        source.remove("mailbox");
    }
    records
}

#[track_caller]
fn summary(folder: &Folder, arguments: &[&str]) -> Value {
    let file = folder.path("summary.json");
    let arguments = [
        &[
            "scan",
            "-q",
            "--force",
            "-o",
            "/dev/null",
            "--summary",
            file.to_str().unwrap(),
        ],
        arguments,
    ]
    .concat();
    ended(&mut urlspool(arguments), b"");
    lines(&fs::read(file).unwrap()).remove(0)
}

fn folder_path(folder: &Folder, name: &str) -> String {
    folder.path(name).to_str().unwrap().to_owned()
}

#[test]
fn a_version_2_repository_has_the_same_records_as_the_recipe() {
    if !has_git() {
        return;
    }
    let folder = Folder::new();
    let list = folder_path(&folder, "list.git");
    let texts: Vec<String> = ["one", "two", "three"].map(mail).into();
    let changes = [
        Change::Write("m", &texts[0]),
        Change::Write("m", &texts[1]),
        // The message is deleted and written again.
        Change::Delete(&texts[0]),
        Change::Write("m", &texts[0]),
        Change::Write("m", &texts[2]),
    ];
    repository(&list, &changes);
    let direct = done(&["scan", "-q", &list]);
    let piped = ended(&mut urlspool(["scan", "-q", "-"]), &recipe(&list));
    assert_eq!(
        direct.urls(),
        ["one", "two", "one", "three"].map(|host| format!("http://{host}.example/x"))
    );
    assert_eq!(
        without_source(direct.records()),
        without_source(piped.records())
    );
    let record = direct.records().remove(1);
    assert_eq!(
        (&record["source"]["path"], &record["source"]["mailbox"]),
        (&Value::from(&*list), &Value::from(&*list))
    );
    let summary = summary(&folder, &[&list]);
    assert_eq!(summary["messages"], 4);
    assert_eq!(summary["members_skipped"]["deleted"], 1);
    assert_eq!(
        (&summary["files_read"], &summary["events"]),
        (&Value::from(1), &serde_json::json!({}))
    );
    // `show` finds the message from its records.
    let shown = ended(&mut urlspool(["show"]), &direct.stdout);
    assert_eq!(shown.text().lines().collect::<Vec<_>>(), direct.urls());
    let place = format!("{list}!{}", record["source"]["member"][0].as_str().unwrap());
    assert_contains(done(&["explain", &place]).text(), "<two@b.example>");
    let missing = ended(
        &mut urlspool(["explain", &format!("{list}!{}", "0".repeat(40))]),
        b"",
    );
    assert_eq!(missing.status, Some(1), "{}", missing.stderr);
}

#[test]
fn a_version_1_repository_has_one_message_per_added_file() {
    if !has_git() {
        return;
    }
    let folder = Folder::new();
    let list = folder_path(&folder, "list.git");
    let name = |number: usize| format!("{:02x}/{:038x}", number, number + 0xbeef);
    let (texts, names) = (
        ["one", "two", "three", "four"].map(mail),
        [0, 1, 2].map(name),
    );
    let same_id = format!("{}/a", names[1]);
    repository(
        &list,
        &[
            Change::Write(&names[0], &texts[0]),
            Change::Write(&names[1], &texts[1]),
            Change::Write("README", "see http://readme.example/"),
            Change::Remove("README"),
            Change::Remove(&names[0]),
            Change::Write(&names[2], &texts[2]),
            // Two messages with the same Message-ID are in a folder.
            Change::Write(&same_id, &texts[3]),
        ],
    );
    let direct = done(&["scan", "-q", &list]);
    assert_eq!(
        direct.urls(),
        ["one", "two", "three", "four"].map(|host| format!("http://{host}.example/x"))
    );
    let summary = summary(&folder, &[&list]);
    assert_eq!(
        (&summary["messages"], &summary["records"]),
        (&Value::from(4), &Value::from(4))
    );
    // The folder replaces the first of the two.
    assert_eq!(summary["members_skipped"]["deleted"], 2);
    // A list whose messages are all deleted is a list too.
    let empty = folder_path(&folder, "empty.git");
    repository(
        &empty,
        &[
            Change::Write(&names[0], &texts[0]),
            Change::Remove(&names[0]),
        ],
    );
    assert_eq!(
        done(&["scan", "-q", &empty]).urls(),
        ["http://one.example/x"]
    );
}

#[test]
fn epochs_are_read_in_the_order_of_their_numbers() {
    if !has_git() {
        return;
    }
    let folder = Folder::new();
    for epoch in [0, 1, 2, 10] {
        let (path, text) = (
            folder_path(&folder, &format!("meta/git/{epoch}.git")),
            mail(&format!("e{epoch}")),
        );
        repository(&path, &[Change::Write("m", &text)]);
    }
    // The repository that collects all epochs has no messages itself.
    git(
        &[
            "init",
            "-q",
            "--bare",
            &folder_path(&folder, "meta/all.git"),
        ],
        b"",
    );
    folder.write("meta/msgmap", "http://other.example/");
    let scanned = done(&["scan", "-q", &folder_path(&folder, "meta")]);
    assert_eq!(
        scanned.urls(),
        ["e0", "e1", "e2", "e10"]
            .map(|host| format!("http://{host}.example/x"))
            .into_iter()
            .chain(["http://other.example/".to_owned()])
            .collect::<Vec<_>>()
    );
    let records = scanned.records();
    assert_eq!(
        records[1]["source"]["path"],
        folder_path(&folder, "meta/git/1.git")
    );
    for record in &records[..4] {
        assert_eq!(record["source"]["mailbox"], folder_path(&folder, "meta"));
    }
}

#[test]
fn a_repository_of_program_code_is_refused_with_a_reason() {
    if !has_git() {
        return;
    }
    let folder = Folder::new();
    let code = folder_path(&folder, "code.git");
    repository(
        &code,
        &[
            Change::Write("README", "see http://readme.example/"),
            Change::Write("m", "not alone"),
        ],
    );
    // `m` alone would make it a list.
    git(&["-C", &code, "rev-parse", "HEAD"], b"");
    repository(
        &code,
        &[Change::Write("README", "see http://readme.example/")],
    );
    let named = ended(&mut urlspool(["scan", &code]), b"");
    assert_eq!((named.status, named.stdout.len()), (Some(1), 0));
    let hint = "because it is a git repository without the messages of a mailing list; check it \
        out and scan its files: `git clone ";
    assert!(named.stderr.contains(hint), "{}", named.stderr);
    // A repository next to a working tree is skipped, and the files of the tree are read.
    let tree = folder_path(&folder, "tree");
    git(&["clone", "-q", &code, &tree], b"");
    let walked = done(&["scan", &tree]);
    assert_eq!(walked.urls(), ["http://readme.example/"]);
    assert_contains(&walked.stderr, "tree/.git: skip: not read: git-repository");
}

#[test]
fn no_program_of_a_repository_is_executed() {
    if !has_git() {
        return;
    }
    let folder = Folder::new();
    let (list, origin) = (
        folder_path(&folder, "list.git"),
        folder_path(&folder, "origin.git"),
    );
    let texts = ["one", "two"].map(mail);
    repository(
        &origin,
        &texts.each_ref().map(|text| Change::Write("m", text)),
    );
    git(
        &["-C", &origin, "config", "uploadpack.allowFilter", "true"],
        b"",
    );
    // A partial clone fetches blobs on demand.
    let url = format!("file://{origin}");
    git(
        &["clone", "-q", "--bare", "--filter=blob:none", &url, &list],
        b"",
    );
    let ran = folder_path(&folder, "ran");
    let script = folder.file(
        "script",
        format!("#!/bin/sh\ntouch {ran}\nexec git-upload-pack \"$@\"\n"),
    );
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let names = "remote.origin.uploadpack core.fsmonitor core.pager core.sshCommand \
        core.alternateRefsCommand diff.external credential.helper uploadpack.packObjectsHook";
    for name in names.split(' ') {
        git(&["-C", &list, "config", name, &script], b"");
    }
    git(
        &[
            "-C",
            &list,
            "config",
            "core.hooksPath",
            folder.root().to_str().unwrap(),
        ],
        b"",
    );
    let scanned = ended(&mut urlspool(["scan", &list]), b"");
    assert_eq!(scanned.urls(), Vec::<String>::new());
    assert!(!Path::new(&ran).exists(), "{}", scanned.stderr);
    // Missing blobs are reported.
    assert!(
        scanned.stderr.contains("missing-object") || scanned.status == Some(1),
        "{}",
        scanned.stderr
    );
    // A plain git command runs the program.
    let fetched = Command::new("git")
        .args(["-C", &list, "cat-file", "-p", "HEAD:m"])
        .output()
        .unwrap();
    assert!(Path::new(&ran).exists(), "{fetched:?}");
}

#[test]
fn a_blob_beyond_the_limit_is_an_event_and_is_not_read() {
    if !has_git() {
        return;
    }
    let folder = Folder::new();
    let list = folder_path(&folder, "list.git");
    let texts = [mail("one"), mail(&"x".repeat(5000)), mail("three")];
    repository(
        &list,
        &texts.each_ref().map(|text| Change::Write("m", text)),
    );
    let scanned = ended(
        &mut urlspool(["scan", "--set", "git_blob_bytes=4KiB", &list]),
        b"",
    );
    assert_eq!(
        scanned.urls(),
        ["http://one.example/x", "http://three.example/x"]
    );
    scanned.check(1, "a blob of 10");
    assert_contains(
        &scanned.stderr,
        "is not read; `git_blob_bytes` sets this limit",
    );
}

#[test]
fn a_damaged_repository_is_an_event() {
    if !has_git() {
        return;
    }
    let folder = Folder::new();
    let list = folder_path(&folder, "list.git");
    let texts = ["one", "two", "three"].map(mail);
    repository(
        &list,
        &texts.each_ref().map(|text| Change::Write("m", text)),
    );
    let damage = |name: &str| {
        let oid = String::from_utf8(git(&["-C", &list, "rev-parse", name], b"")).unwrap();
        let object = format!("{list}/objects/{}/{}", &oid[..2], oid[2..].trim());
        fs::set_permissions(&object, fs::Permissions::from_mode(0o644)).unwrap();
        fs::write(&object, "no object").unwrap();
    };
    damage("HEAD~1:m");
    let scanned = ended(&mut urlspool(["scan", &list]), b"");
    assert_ne!(scanned.stderr, "");
    let found = scanned.urls();
    assert_eq!(found[0], "http://one.example/x", "{}", scanned.stderr);
    damage("HEAD~1");
    let scanned = ended(&mut urlspool(["scan", &list]), b"");
    scanned.check(1, "git ");
}

/// Scans a repository with a fake git: a script in which `$command` is the git command.
fn with_git(folder: &Folder, list: &str, script: &str) -> Ended {
    let command = "for word; do case $word in rev-list|cat-file|ls-tree|rev-parse) command=$word;; \
        --batch) command=batch;; esac; done";
    let path = std::env::var("PATH").unwrap();
    let script = format!(
        "#!/bin/sh\n{command}\nreal() {{ PATH='{path}'; export PATH; exec git \"$@\"; }}\n\
         {script}\n"
    );
    let git = folder.file("bin/git", script);
    fs::set_permissions(&git, fs::Permissions::from_mode(0o755)).unwrap();
    let bin = folder.path("bin");
    let mut command = urlspool(["scan", "--set", "git_silence_s=1", list]);
    ended(
        command.env("PATH", format!("{}:/bin:/usr/bin", bin.display())),
        b"",
    )
}

#[test]
fn a_git_that_fails_in_any_way_is_an_event_and_never_a_hang() {
    if !has_git() {
        return;
    }
    let folder = Folder::new();
    let list = folder_path(&folder, "list.git");
    let texts = ["one", "two"].map(mail);
    repository(
        &list,
        &texts.each_ref().map(|text| Change::Write("m", text)),
    );
    let healthy = with_git(&folder, &list, "real \"$@\"");
    assert_eq!(
        (healthy.status, healthy.urls().len()),
        (Some(0), 2),
        "{}",
        healthy.stderr
    );
    for row in [
        "sleep 600 => git was silent for 1 s and was killed",
        "exec >&- 2>&-; sleep 600 => git was silent for 1 s and was killed",
        "echo fatal: no >&2; exit 128 => git rev-parse ended with status 128: fatal: no",
        "kill -9 $$ => git rev-parse was killed by signal 9",
        "GARBAGE => ",
        "[ $command = rev-list ] && exit 3; REAL => git rev-list ended with status 3",
        "[ $command = rev-list ] && sleep 600; REAL => git was silent for 1 s",
        "[ $command = rev-list ] && { GARBAGE; exit; }; REAL => ",
        "[ $command = cat-file ] && sleep 600; REAL => git was silent for 1 s",
        "[ $command = cat-file ] && { GARBAGE; exit; }; REAL => ",
        "[ $command = cat-file ] && exit 0; REAL => git ended before the last answer",
        "[ $command = batch ] && sleep 600; REAL => git was silent for 1 s",
        "[ $command = batch ] && exit 0; REAL => git ended before the last message",
        "[ $command = batch ] && { GARBAGE; exit; }; REAL => ",
        "[ $command = batch ] && { read oid; echo \"$oid blob 5\"; echo 12; exit 4; }; REAL \
         => ends within a member",
    ] {
        let (script, event) = row.split_once(" => ").unwrap();
        let script = script.replace("GARBAGE", "head -c 300000 /dev/urandom");
        let failed = with_git(&folder, &list, &script.replace("REAL", "real \"$@\""));
        failed.check(1, event);
    }
    let mut without = urlspool(["scan", &*list]);
    let missing = ended(without.env("PATH", folder.path("none")), b"");
    missing.check(1, "the program `git` is missing; install git");
}
