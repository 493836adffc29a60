//! Every limit of the program, with its unit, its default and its reason.
//!
//! Reaching a limit causes a [`crate::diagnostic::Diagnostic`]; the input beyond it is still
//! scanned as text. Work is limited in bytes and steps, never in seconds, so the output does not
//! depend on the machine. The only exception is that another program may not be silent forever.
//!
//! This file has the limits that a run can set. Constants are in one file per subject.

mod audit;
mod daemon;
mod files;
mod store;
mod text;

pub use audit::*;
pub use daemon::*;
pub use files::*;
pub use store::*;
pub use text::*;

/// A limit that a run can set.
#[derive(Debug)]
pub struct Limit {
    /// The name in the configuration's `[limits]` table.
    pub name: &'static str,
    /// The unit of the value.
    pub unit: LimitUnit,
    /// The smallest value allowed.
    pub min: usize,
    /// The documentation. The first paragraph describes the limit, the second its reason.
    pub doc: &'static str,
    /// Returns the value of this limit.
    pub get: fn(&Limits) -> usize,
    /// Sets the value of this limit.
    pub set: fn(&mut Limits, usize),
}

/// The unit of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitUnit {
    /// Bytes, written as a size such as `16KiB`.
    Bytes,
    /// A count, a nesting depth, or a ratio of bytes.
    Number,
}

/// Lists each settable limit once. [`Limits`], its defaults and [`Limits::ALL`] are generated from
/// this list.
macro_rules! limits {
    ($(
        $(#[doc = $doc:literal])+
        $name:ident: $unit:ident, at least $min:literal, default $default:expr;
    )+) => {
        /// The limits that a run can set, named as in the configuration.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct Limits {
            $( $(#[doc = $doc])+ pub $name: usize, )+
        }

        impl Default for Limits {
            fn default() -> Limits {
                Limits { $($name: $default,)+ }
            }
        }

        impl Limits {
            /// All limits, in the order of the configuration file.
            pub const ALL: &'static [Limit] = &[
                $( Limit {
                    name: stringify!($name),
                    unit: LimitUnit::$unit,
                    min: $min,
                    doc: concat!($($doc, "\n"),+),
                    get: |limits| limits.$name,
                    set: |limits, value| limits.$name = value,
                }, )+
            ];
        }
    };
}

limits! {
    /// Maximum size of a message that is held in memory and parsed as MIME; the rest of it is
    /// scanned as text.
    ///
    /// Larger than any message that mail servers accept by default (10 to 64 MB).
    message_bytes: Bytes, at least 1, default 32 << 20;

    /// Maximum nesting of multipart and message/rfc822 parts.
    ///
    /// Equal to the limit of Dovecot's parser and to Postfix's `mime_nesting_limit`.
    mime_depth: Number, at least 1, default 100;

    /// Maximum number of parts of one message.
    ///
    /// Equal to the limit of Dovecot's parser.
    mime_parts: Number, at least 1, default 10_000;

    /// Maximum size of the header of one message; the rest is read as body.
    ///
    /// The longest real headers list thousands of addresses, a few hundred KiB.
    header_bytes: Bytes, at least 1, default 4 << 20;

    /// Maximum size of a header field in a record. The whole field is scanned for URLs.
    ///
    /// Every record of a message repeats the fields. Without this limit, a message of `n` bytes
    /// could produce `n * n` bytes of output.
    field_bytes: Bytes, at least 1, default 4 << 10;

    /// Maximum size of the text between `<` and `>` by the wide rules.
    ///
    /// Real URLs are shorter than 2,000 bytes; tracking links are longer.
    wrapper_bytes: Bytes, at least 1, default 8 << 10;

    /// Maximum size of a URL in a record. A longer URL is truncated, and the record contains its
    /// full length and hash.
    ///
    /// Browsers and servers accept 2 to 8 KiB; longer URLs contain data.
    url_bytes: Bytes, at least 1, default 16 << 10;

    /// Number of URLs of one message above which an event is reported. All of them are written.
    ///
    /// A digest of links has hundreds, a list of sites thousands.
    message_urls: Number, at least 0, default 100_000;

    /// Maximum number of steps for each byte of a message, in addition to those that every message
    /// may take. Beyond it, only the start of each bare word is read, and wrappers, relative links
    /// and redirectors are not resolved.
    ///
    /// A step is one byte, after the first 640, of a word or wrapper that is read, or of a URL
    /// that is resolved, unwrapped or written. Ordinary mail takes less than one step per byte. A
    /// page of short links that are resolved against a long `<base>` takes thousands.
    steps_per_byte: Number, at least 1, default 64;

    /// Maximum number of nested redirectors to unwrap.
    ///
    /// Chains of two are common, chains of three are rare.
    unwrap_depth: Number, at least 0, default 5;

    /// Maximum number of URLs used as evidence for joins (`scan --evidence`). Others are ignored.
    ///
    /// Five million URLs take 327 MB at the peak, while the table grows.
    evidence_urls: Number, at least 0, default 5_000_000;

    /// Maximum nesting of compressed files and archives. Deeper ones are not read.
    ///
    /// Real files are `.mbox.gz` in `.tar.gz` in `.zip`: four levels.
    container_depth: Number, at least 0, default 4;

    /// Maximum number of entries of one tar or zip. The rest is not read.
    ///
    /// A year of a busy news server has fewer.
    archive_entries: Number, at least 0, default 1_000_000;

    /// Maximum size of a blob of a git repository. A larger blob is not read.
    ///
    /// Git holds a blob in memory. Mail servers accept 10 to 64 MB.
    git_blob_bytes: Bytes, at least 1, default 128 << 20;

    /// Maximum number of seconds for which `git` may write no output while a repository is read,
    /// and `readpst` while it unpacks an Outlook folder. Then it is terminated, and the rest is
    /// not read.
    ///
    /// Git lists the commits of a large repository in less than a minute, or in several minutes on
    /// a slow disk or server.
    git_silence_s: Number, at least 1, default 600;

    /// Maximum size of a member's name. A longer name is truncated.
    ///
    /// Equal to `PATH_MAX` on Linux.
    member_name_bytes: Bytes, at least 1, default 4 << 10;

    /// Maximum size of the window or dictionary that a zstd or xz file may request. A file that
    /// requests more is not read.
    ///
    /// `zstd --ultra` alone takes 128 MiB.
    window_bytes: Bytes, at least 0, default 128 << 20;

    /// Maximum number of unpacked bytes per compressed byte, for one stream, and for a file
    /// including all levels and members and the work of starting each stream and entry. The rest
    /// is not read.
    ///
    /// A repetitive mbox has a ratio of 19. Zeros reach 1,030 in gzip and thousands in other
    /// formats.
    unpack_ratio: Number, at least 1, default 1_000;

    /// Number of unpacked bytes before `unpack_ratio` is checked.
    ///
    /// They are read in a second. A legitimate archive may start with a run of zeros.
    unpack_ratio_from_bytes: Bytes, at least 0, default 256 << 20;

    /// Maximum number of unpacked bytes per compressed byte inside another container. The rest is
    /// not read.
    ///
    /// Ratios multiply: two levels with this ratio are equivalent to one level with ten times
    /// `unpack_ratio`.
    nested_ratio: Number, at least 1, default 100;

    /// Number of unpacked bytes before `nested_ratio` is checked.
    ///
    /// Small members of one repeated line compress to almost nothing.
    nested_ratio_from_bytes: Bytes, at least 0, default 16 << 20;

    /// Number of bytes that the archives and documents attached to one message may unpack to,
    /// including nested ones, in addition to `nested_ratio` times the size of the message. The
    /// rest is not read. Also limits what `readpst` may write for an Outlook folder, in addition
    /// to `nested_ratio` times its size.
    ///
    /// A short message may have a log of one repeated line attached, and a mailbox has thousands
    /// of such messages.
    attached_bytes: Bytes, at least 0, default 128 << 10;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_not_cut_inside_a_wrapper_of_the_default_size() {
        assert_eq!(OPEN_WRAPPER_BYTES, 2 * Limits::default().wrapper_bytes);
    }
}
