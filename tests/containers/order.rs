//! The order of records does not depend on the number of threads.

use urlspool_sources::walk::SymlinkPolicy;
use urlspool_text::limits::Limits;

use super::{gzip, mail, scan_with, tar};
use crate::scene::Folder;

#[test]
fn output_does_not_depend_on_threads_and_batches() {
    let names: Vec<String> = (0..1_000).map(|number| format!("spool/{number}")).collect();
    let mails: Vec<String> = (0..1_000).map(mail).collect();
    let members: Vec<_> = names
        .iter()
        .zip(&mails)
        .map(|(name, mail)| (name.as_str(), mail.as_bytes()))
        .collect();
    let folder = Folder::with("a.tar", tar(&members));
    folder.write("b.tgz", gzip(&tar(&members)));
    let output = |threads| {
        scan_with(
            folder.root(),
            Limits::default(),
            SymlinkPolicy::Skip,
            threads,
        )
    };
    let one = output(1);
    assert_eq!((one.urls().len(), one.summary.members_read), (2_000, 2_000));
    assert!(one.records == output(4).records);
}

#[test]
fn a_small_file_that_unpacks_to_a_large_one_is_read_in_blocks() {
    let message = format!(
        "From a\nA: b\nSubject: x\n\n{}http://a.example/\n\n",
        "words and words\n".repeat(60_000)
    );
    let packed = zstd::encode_all(message.repeat(20).as_bytes(), 3).unwrap();
    assert!(packed.len() < 100_000);
    let folder = Folder::with("b.zst", &packed);
    folder.write("a", mail(1));
    folder.write("c", mail(2));
    for threads in [1, 3] {
        let output = scan_with(
            folder.root(),
            Limits::default(),
            SymlinkPolicy::Skip,
            threads,
        );
        let urls = output.urls();
        assert_eq!(
            (urls.len(), urls[0].as_str(), urls[21].as_str()),
            (22, "http://n1.example/", "http://n2.example/")
        );
        assert_eq!(output.summary.bytes_unpacked, message.len() as u64 * 20);
        assert_eq!(output.summary.files_read, 3);
    }
}
