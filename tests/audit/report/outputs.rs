//! Files of a report beside those of the user.

use std::fs;
use std::process::Command;

use super::planned;
use crate::audit::{audit, audited};
use crate::scene::{ended, urlspool};

/// It was removed as one that an earlier run had left.
#[test]
fn a_file_of_the_user_beside_the_report_stays() {
    let folder = planned();
    let mine = folder.path("report.html.partial");
    fs::write(&mine, "mine").unwrap();
    let left = folder.path("report.html.urlspool-partial");
    fs::write(&left, "of a run that was killed").unwrap();
    let html = folder.path("report.html");
    audited(&folder, "report", &["-o", html.to_str().unwrap()]);
    assert_eq!(fs::read(&mine).unwrap(), b"mine");
    assert!(html.exists() && !left.exists());
}

#[test]
fn a_file_in_the_place_of_the_folder_is_named() {
    let folder = planned();
    let tables = folder.file("tables", "mine");
    let args = ["-o", "/dev/null", "--csv", &tables];
    let end = audit(&folder, "report", &args);
    assert_eq!(end.status, Some(2), "{}", end.stderr);
    let expected = format!("urlspool: {tables} is a file; name a folder for the CSV files");
    assert!(end.stderr.starts_with(&expected), "{}", end.stderr);
    assert_eq!(fs::read(&tables).unwrap(), b"mine");
}

#[test]
fn the_page_may_be_in_the_new_folder_of_the_tables() {
    let folder = planned();
    let tables = folder.path("out");
    let page = tables.join("report.html");
    let [page, tables] = [&page, &tables].map(|path| path.to_str().unwrap());
    audited(&folder, "report", &["-o", page, "--csv", tables]);
    assert!(fs::read_dir(tables).unwrap().count() > 2);
    assert!(fs::exists(page).unwrap());
}

#[test]
fn a_failed_report_leaves_no_new_folder() {
    let folder = planned();
    let out = folder.path("out").display().to_string();
    for (page, status, reason) in [
        (out.clone(), 2, "name two files"),
        (format!("{out}/dead-links.csv"), 2, "name two files"),
        (
            format!("{out}/../out/./dead-links.csv"),
            2,
            "name two files",
        ),
        (format!("{out}/missing/report.html"), 74, "No such file"),
    ] {
        let end = audit(&folder, "report", &["-o", &page, "--csv", &out]);
        assert_eq!(end.status, Some(status), "{page}: {}", end.stderr);
        assert!(end.stderr.contains(reason), "{page}: {}", end.stderr);
        assert!(!fs::exists(&out).unwrap(), "{page}");
        let inner = format!("{out}/of/tables");
        let end = audit(&folder, "report", &["-o", &inner, "--csv", &inner]);
        assert_eq!(end.status, Some(2), "{}", end.stderr);
        assert!(!fs::exists(&out).unwrap(), "a folder above {inner} stays");
    }
}

#[test]
fn a_full_standard_output_is_named() {
    let folder = planned();
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let mut report = urlspool(["audit", "report", "-o", "-"]);
    let report = report.arg(folder.path("urls.db")).stdout(full);
    let end = report.output().unwrap();
    assert_eq!(end.status.code(), Some(74), "{end:?}");
    let stderr = String::from_utf8(end.stderr).unwrap();
    let expected = "urlspool: cannot write standard output: ";
    assert!(stderr.contains(expected), "{stderr}");
}

#[test]
fn standard_output_is_not_the_database() {
    let folder = planned();
    let database = folder.path("urls.db");
    let before = fs::read(&database).unwrap();
    for output in ["-", "/dev/stdout"] {
        for end in ["", "-journal"] {
            let script = format!("exec \"$0\" audit report \"$1\" -o {output} >>\"$1{end}\"");
            let mut shell = Command::new("sh");
            shell.args(["-c", &script, env!("CARGO_BIN_EXE_urlspool")]);
            let end = ended(shell.arg(&database), b"");
            assert_eq!(end.status, Some(2), "{output}: {}", end.stderr);
            let expected = "standard output would overwrite the database";
            assert!(end.stderr.contains(expected), "{}", end.stderr);
            assert_eq!(fs::read(&database).unwrap(), before);
        }
    }
    let script = "mkdir csv && exec \"$0\" audit report \"$1\" -o - --csv csv >csv/by-host.csv";
    let mut shell = Command::new("sh");
    shell.args(["-c", script, env!("CARGO_BIN_EXE_urlspool")]);
    let end = ended(shell.arg(&database).current_dir(folder.root()), b"");
    assert_eq!(end.status, Some(2), "{}", end.stderr);
    assert!(end.stderr.contains("would be the same file"));
}
