//! Containers as read by the commands show and explain.

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
