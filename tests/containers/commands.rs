//! Containers as the commands show and explain read them.

use super::{Zipped, gzip, mail, mbox, scan, shown, tar, zip};
use crate::scene::{Folder, program_command};

#[test]
fn show_prints_the_bytes_of_records_in_containers() {
    let inner = zip(&[Zipped::new("m.mbox.gz", &gzip(&mbox(3)))]);
    let folder = Folder::with(
        "a!b.tgz",
        gzip(&tar(&[("1", mail(9).as_bytes()), ("in.zip", &inner)])),
    );
    let output = scan(folder.root());
    let expected =
        "http://n9.example/\nhttp://n0.example/\nhttp://n1.example/\nhttp://n2.example/\n";
    assert_eq!(shown(&output.records), expected);
    let place = format!("{}!in.zip!m.mbox.gz:0-12", folder.path("a!b.tgz").display());
    let output = program_command().args(["show", &place]).output().unwrap();
    assert_eq!(output.stdout, b"From a@b Mon\n");
    let nowhere = format!("{}!nothing:0-12", folder.path("a!b.tgz").display());
    let output = program_command().args(["show", &nowhere]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn explain_reads_containers() {
    let explained = |place: String| {
        let output = program_command()
            .args(["explain", &place])
            .output()
            .unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8(text).unwrap())
    };
    let inner = zip(&[Zipped::new("m.mbox.gz", &gzip(&mbox(3)))]);
    let folder = Folder::with(
        "a!b.tgz",
        gzip(&tar(&[("1", mail(9).as_bytes()), ("in.zip", &inner)])),
    );
    let archive = folder.path("a!b.tgz").display().to_string();
    let (status, text) = explained(format!("{archive}!in.zip!m.mbox.gz:100"));
    assert_eq!(status, Some(0), "{text}");
    assert!(
        text.contains("The member is read as mbox")
            && text.contains("accepted: http://n1.example/"),
        "{text}"
    );
    let (status, text) = explained(format!("{archive}!1"));
    assert!(
        status == Some(0) && text.contains("accepted: http://n9.example/"),
        "{text}"
    );
    let (status, text) = explained(archive.clone());
    assert_eq!(status, Some(1));
    assert!(
        text.contains("name one of its members, for example FILE!1"),
        "{text}"
    );
    let (status, text) = explained(format!("{archive}!2"));
    assert!(
        status == Some(1) && text.contains("has no such member"),
        "{text}"
    );

    // Offsets are those of the unpacked bytes, as records give them.
    folder.write("m.gz", gzip(&mbox(3)));
    let records = scan(&folder.path("m.gz")).lines();
    for record in &records {
        let (status, text) = explained(format!(
            "{}:{}",
            folder.path("m.gz").display(),
            record["source"]["start"]
        ));
        let url = record["url"].as_str().unwrap();
        assert!(
            status == Some(0) && text.contains("The file is read as mbox"),
            "{text}"
        );
        assert!(
            text.contains(&format!("accepted: {url}")) && text.matches("accepted:").count() == 1,
            "{text}"
        );
    }
    assert_eq!(records.len(), 3);
}
