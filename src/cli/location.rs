//! Places as users write them, in files and in what compressions and archives hold.

use std::io;
use std::path::{Path, PathBuf};

use crate::origin::{FormatHint, Source};
use crate::read::{SparseRead, StreamStep, Streams};

/// `FILE`, or `FILE!MEMBER!MEMBER`: a file, and the names of the members from the outermost archive inwards. A file whose name
/// has a `!` is meant if it is there.
pub(super) fn names(text: &str) -> (PathBuf, Vec<Vec<u8>>) {
    let borders = text
        .match_indices('!')
        .map(|(at, _)| at)
        .chain([text.len()]);
    let is_there = |at: &usize| Path::new(&text[..*at]).is_file();
    let at = borders.rev().find(is_there).unwrap_or(text.len());
    let member = text[at..]
        .split('!')
        .skip(1)
        .map(|name| name.as_bytes().to_owned())
        .collect();
    (PathBuf::from(&text[..at]), member)
}

/// The bytes of the member of these names; with none, those of the source itself, unpacked.
///
/// # Errors
///
/// What the source says, or that there is no such member, and the name of one that is there.
pub(super) fn member(
    streams: Streams,
    names: &[Vec<u8>],
) -> io::Result<(Source, FormatHint, Box<dyn SparseRead>)> {
    let mut first = None;
    for step in streams {
        match step {
            StreamStep::Stream {
                source,
                hint,
                stream,
            } if source.member() == names => {
                return Ok((source, hint, stream));
            }
            StreamStep::Stream { source, .. } => first = first.or(Some(source)),
            StreamStep::Failed(event) if event.source.member() == names => {
                return Err(io::Error::other(event.diagnostic.message));
            }
            StreamStep::Skipped { source, reason } if source.member() == names => {
                return Err(io::Error::other(format!("skipped: {}", reason.name())));
            }
            _ => {}
        }
    }
    let such = first.map_or(String::new(), |source| {
        let names = source
            .member()
            .iter()
            .map(|name| format!("!{}", String::from_utf8_lossy(name)));
        format!(": one that it holds is FILE{}", names.collect::<String>())
    });
    let what = if names.is_empty() {
        "is an archive, of which a member must be named"
    } else {
        "holds no such member"
    };
    Err(io::Error::other(format!("{what}{such}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_stands_behind_its_archive() {
        let here = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
        assert_eq!(names(here), (PathBuf::from(here), vec![]));
        assert_eq!(
            names(&format!("{here}!a!b/c")),
            (PathBuf::from(here), vec![b"a".to_vec(), b"b/c".to_vec()])
        );
        assert_eq!(names("not!there"), (PathBuf::from("not!there"), vec![]));
    }
}
