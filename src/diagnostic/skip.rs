//! Reasons for which a file, a member of an archive or a message is skipped.

/// Reason for which something is not read although nothing about it failed. A closed set, except for what later formats add.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum SkipReason {
    /// It has no bytes.
    Empty,
    /// Bytes that are no text and no known format.
    Binary,
    /// The user's patterns exclude it.
    Filtered,
    /// A file in which a mail or news program keeps its own data.
    ControlFile,
    /// A file that the run itself writes; in a spool of the daemon, any output of urlspool.
    OwnOutput,
    /// A further name of a file that is read under its first name.
    HardLink,
    /// A symbolic link that is not followed.
    Symlink,
    /// Neither a regular file nor a folder, or not what it was when it was listed.
    NotRegular,
    /// A block or character device, as an archive names it.
    Device,
    /// A named pipe, as an archive names it.
    Fifo,
    /// A member of a tar whose bytes are pieces of a larger file.
    Sparse,
    /// A message in `tmp` of a Maildir, which may be incomplete (maildir(5)).
    MaildirTmp,
    /// A name in a stream of git objects for which git has no object.
    MissingObject,
    /// An encrypted member of a zip.
    Encrypted,
    /// A member of a zip compressed by a method that is not supported.
    UnknownCompression,
    /// The file disappeared before it was read.
    Vanished,
    /// A gzip stream in a place where compressed data is not unpacked.
    Gzip,
    /// A bzip2 stream, likewise.
    Bzip2,
    /// An xz stream, likewise.
    Xz,
    /// A Zstandard frame, likewise.
    Zstd,
    /// An LZ4 frame, likewise.
    Lz4,
    /// Output of compress(1), likewise.
    Compress,
    /// A zip archive, likewise.
    Zip,
    /// A tar archive, likewise.
    Tar,
    /// A RAR archive.
    Rar,
    /// A 7z archive.
    SevenZip,
    /// An ELF binary.
    Elf,
    /// A PNG image.
    Png,
    /// A JPEG image.
    Jpeg,
    /// A GIF image.
    Gif,
    /// A PDF document.
    Pdf,
    /// An SQLite database.
    Sqlite,
    /// A news batch packed by compress(1), whose packed bytes are not compressed data.
    Cunbatch,
    /// A news batch packed by gzip, likewise.
    Gunbatch,
    /// A news batch packed by bzip2, likewise.
    Bunbatch,
    /// A news batch packed by another program.
    PackedBatch,
    /// A message whose search panicked.
    Panic,
    /// A message outside the requested range of dates.
    Date,
    /// A copy of an article that was read in another group.
    CrossPost,
}

impl SkipReason {
    /// Returns the name in the summary's `files_skipped`, `members_skipped` and `messages_skipped`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            SkipReason::Empty => "empty",
            SkipReason::Binary => "binary",
            SkipReason::Filtered => "filtered",
            SkipReason::ControlFile => "control-file",
            SkipReason::OwnOutput => "own-output",
            SkipReason::HardLink => "hard-link",
            SkipReason::Symlink => "symlink",
            SkipReason::NotRegular => "not-regular",
            SkipReason::Device => "device",
            SkipReason::Fifo => "fifo",
            SkipReason::Sparse => "sparse",
            SkipReason::MaildirTmp => "maildir-tmp",
            SkipReason::MissingObject => "missing-object",
            SkipReason::Encrypted => "encrypted",
            SkipReason::UnknownCompression => "unknown-compression",
            SkipReason::Vanished => "vanished",
            SkipReason::Gzip => "gzip",
            SkipReason::Bzip2 => "bzip2",
            SkipReason::Xz => "xz",
            SkipReason::Zstd => "zstd",
            SkipReason::Lz4 => "lz4",
            SkipReason::Compress => "compress",
            SkipReason::Zip => "zip",
            SkipReason::Tar => "tar",
            SkipReason::Rar => "rar",
            SkipReason::SevenZip => "7z",
            SkipReason::Elf => "elf",
            SkipReason::Png => "png",
            SkipReason::Jpeg => "jpeg",
            SkipReason::Gif => "gif",
            SkipReason::Pdf => "pdf",
            SkipReason::Sqlite => "sqlite",
            SkipReason::Cunbatch => "cunbatch",
            SkipReason::Gunbatch => "gunbatch",
            SkipReason::Bunbatch => "bunbatch",
            SkipReason::PackedBatch => "packed-batch",
            SkipReason::Panic => "panic",
            SkipReason::Date => "date",
            SkipReason::CrossPost => "cross-post",
        }
    }

    /// All reasons.
    pub const ALL: [SkipReason; 39] = [
        SkipReason::Empty,
        SkipReason::Binary,
        SkipReason::Filtered,
        SkipReason::ControlFile,
        SkipReason::OwnOutput,
        SkipReason::HardLink,
        SkipReason::Symlink,
        SkipReason::NotRegular,
        SkipReason::Device,
        SkipReason::Fifo,
        SkipReason::Sparse,
        SkipReason::MaildirTmp,
        SkipReason::MissingObject,
        SkipReason::Encrypted,
        SkipReason::UnknownCompression,
        SkipReason::Vanished,
        SkipReason::Gzip,
        SkipReason::Bzip2,
        SkipReason::Xz,
        SkipReason::Zstd,
        SkipReason::Lz4,
        SkipReason::Compress,
        SkipReason::Zip,
        SkipReason::Tar,
        SkipReason::Rar,
        SkipReason::SevenZip,
        SkipReason::Elf,
        SkipReason::Png,
        SkipReason::Jpeg,
        SkipReason::Gif,
        SkipReason::Pdf,
        SkipReason::Sqlite,
        SkipReason::Cunbatch,
        SkipReason::Gunbatch,
        SkipReason::Bunbatch,
        SkipReason::PackedBatch,
        SkipReason::Panic,
        SkipReason::Date,
        SkipReason::CrossPost,
    ];
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_reason_has_a_name_of_its_own() {
        let names: BTreeSet<&str> = SkipReason::ALL.map(SkipReason::name).into();
        assert_eq!(names.len(), SkipReason::ALL.len());
        for (place, reason) in SkipReason::ALL.into_iter().enumerate() {
            assert_eq!(reason as usize, place, "{}", reason.name());
        }
    }
}
