//! Reasons for which a file, a member of an archive or a message is skipped, and filters that hold URLs back.

named_enum! {
    /// Reason for which something is not read although nothing about it failed. A closed set,
    /// except for what later formats add.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    #[non_exhaustive]
    pub enum SkipReason {
        /// It has no bytes.
        Empty = "empty",
        /// Bytes that are no text and no known format.
        Binary = "binary",
        /// The user's patterns exclude it.
        Filtered = "filtered",
        /// A file in which a mail or news program keeps its own data.
        ControlFile = "control-file",
        /// A file that the run itself writes; in a spool of the daemon, any output of urlspool.
        OwnOutput = "own-output",
        /// A file of a folder that urlspool wrote in an earlier run: records, events, a table.
        EarlierOutput = "earlier-output",
        /// A further name of a file that is read under its first name.
        HardLink = "hard-link",
        /// A symbolic link that is not followed.
        Symlink = "symlink",
        /// Neither a regular file nor a folder, or not what it was when it was listed.
        NotRegular = "not-regular",
        /// A block or character device, as an archive names it.
        Device = "device",
        /// A named pipe, as an archive names it.
        Fifo = "fifo",
        /// A member of a tar whose bytes are pieces of a larger file.
        Sparse = "sparse",
        /// A message in `tmp` of a Maildir, or one elsewhere in it whose name starts with a dot,
        /// which may be incomplete (maildir(5)).
        MaildirTmp = "maildir-tmp",
        /// A name in a stream of git objects for which git has no object.
        MissingObject = "missing-object",
        /// A message that a commit of a git repository deletes.
        Deleted = "deleted",
        /// A git repository whose files are not the messages of a mailing list.
        Repository = "git-repository",
        /// An encrypted member of a zip.
        Encrypted = "encrypted",
        /// A member of a zip compressed by a method that is not supported.
        UnknownCompression = "unknown-compression",
        /// The file disappeared before it was read.
        Vanished = "vanished",
        /// A gzip stream in a place where compressed data is not unpacked.
        Gzip = "gzip",
        /// A bzip2 stream, likewise.
        Bzip2 = "bzip2",
        /// An xz stream, likewise.
        Xz = "xz",
        /// A Zstandard frame, likewise.
        Zstd = "zstd",
        /// An LZ4 frame, likewise.
        Lz4 = "lz4",
        /// Output of compress(1), likewise.
        Compress = "compress",
        /// A zip archive, likewise.
        Zip = "zip",
        /// A tar archive, likewise.
        Tar = "tar",
        /// A RAR archive.
        Rar = "rar",
        /// A 7z archive.
        SevenZip = "7z",
        /// An ELF binary.
        Elf = "elf",
        /// A PNG image.
        Png = "png",
        /// A JPEG image.
        Jpeg = "jpeg",
        /// A GIF image.
        Gif = "gif",
        /// A PDF document.
        Pdf = "pdf",
        /// An SQLite database.
        Sqlite = "sqlite",
        /// A news batch packed by compress(1), whose packed bytes are not compressed data.
        Cunbatch = "cunbatch",
        /// A news batch packed by gzip, likewise.
        Gunbatch = "gunbatch",
        /// A news batch packed by bzip2, likewise.
        Bunbatch = "bunbatch",
        /// A news batch packed by another program.
        PackedBatch = "packed-batch",
        /// A message whose search panicked.
        Panic = "panic",
        /// A message outside the requested range of dates.
        Date = "date",
        /// A message of no list and no newsgroup that is requested.
        List = "list",
        /// A copy of an article that was read in another group.
        CrossPost = "cross-post",
    }
}

named_enum! {
    /// Filter of the options that holds a URL back.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    #[non_exhaustive]
    pub enum UrlFilter {
        /// No requested grammar accepts it.
        Accept = "accept",
        /// Its scheme is none of those that are requested.
        Schemes = "schemes",
        /// Its host is none of the requested hosts, and beneath no requested domain.
        Host = "host",
        /// It is in no requested region.
        Region = "region",
        /// It is no link whose text names another host.
        Mismatch = "mismatch",
        /// It has no requested hazard.
        Hazard = "hazard",
    }
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
