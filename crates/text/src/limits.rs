//! Every limit of the program, each with its unit, its default and the reason for it.
//!
//! Reaching one gives a [`crate::diagnostic::Diagnostic`]; what is beyond it is still scanned as
//! text. Work is limited in bytes and steps, never in seconds, so that the output does not depend
//! on the machine; only another program may not be silent for ever.
//!
//! The limits that a run can set are here; the constants are in a file for each subject.

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
    /// The unit of its value.
    pub unit: LimitUnit,
    /// The smallest value that it can have.
    pub min: usize,
    /// The documentation: the first paragraph says what is limited, the second gives the reason.
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
    /// A number of things, levels, or bytes for each byte.
    Number,
}

/// Writes each limit that a run can set once; [`Limits`], its defaults and [`Limits::ALL`] are made
/// from it.
macro_rules! limits {
    ($(
        $(#[doc = $doc:literal])+
        $name:ident: $unit:ident, at least $min:literal, default $default:expr;
    )+) => {
        /// The limits that a run can set, by their names in the configuration.
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
    /// As Dovecot's parser and Postfix's `mime_nesting_limit`.
    mime_depth: Number, at least 1, default 100;

    /// Maximum number of parts of one message.
    ///
    /// As Dovecot's parser.
    mime_parts: Number, at least 1, default 10_000;

    /// Maximum size of the header of one message; what follows is body.
    ///
    /// The longest real ones list thousands of addresses, a few hundred KiB.
    header_bytes: Bytes, at least 1, default 4 << 20;

    /// Maximum size of a header field in a record. The whole field is scanned for URLs.
    ///
    /// Every record of a message repeats the fields, so that a message of `n` bytes could otherwise
    /// give `n * n` bytes of output.
    field_bytes: Bytes, at least 1, default 4 << 10;

    /// Maximum size of the text between `<` and `>` by the wide rules.
    ///
    /// Real URLs are below 2,000 bytes; tracking links are longer.
    wrapper_bytes: Bytes, at least 1, default 8 << 10;

    /// Maximum size of a URL in a record. A longer one is cut, and the record has its full length
    /// and hash.
    ///
    /// Browsers and servers take 2 to 8 KiB; longer ones hold data.
    url_bytes: Bytes, at least 1, default 16 << 10;

    /// Number of URLs of one message above which an event is reported. All of them are written.
    ///
    /// A digest of links has hundreds, a list of sites thousands.
    message_urls: Number, at least 0, default 100_000;

    /// Maximum number of steps for each byte of a message, besides those that any message may take.
    /// Beyond it only the beginnings of bare words are read; wrappers, relative links and
    /// redirectors are not undone.
    ///
    /// A step is one byte, after the first 640, of a word or wrapper that is read, or of a URL that
    /// is resolved, unwrapped or written. Ordinary mail takes less than one for each byte; a page
    /// of short links that a long `<base>` resolves takes thousands.
    steps_per_byte: Number, at least 1, default 64;

    /// Maximum number of redirectors, one inside the other, that are undone.
    ///
    /// Chains of two are common, of three rare.
    unwrap_depth: Number, at least 0, default 5;

    /// Maximum number of URLs that are evidence for joins (`scan --evidence`). The others are left
    /// out.
    ///
    /// Five million take 327 MB at the peak, while the table grows.
    evidence_urls: Number, at least 0, default 5_000_000;

    /// Maximum nesting of compressed files and archives. A deeper one is not read.
    ///
    /// Real ones are `.mbox.gz` in `.tar.gz` in `.zip`: four.
    container_depth: Number, at least 0, default 4;

    /// Maximum number of entries of one tar or zip. The rest is not read.
    ///
    /// A year of a busy news server has fewer.
    archive_entries: Number, at least 0, default 1_000_000;

    /// Maximum size of a blob of a git repository. A larger one is not read.
    ///
    /// Git holds a blob in memory; mail servers accept 10 to 64 MB.
    git_blob_bytes: Bytes, at least 1, default 128 << 20;

    /// Maximum number of seconds for which `git` may give nothing while a repository is read. Then
    /// it is ended, and the rest is not read.
    ///
    /// It lists the commits of a large repository in less than a minute, and on a slow disk or
    /// server in several.
    git_silence_s: Number, at least 1, default 600;

    /// Maximum size of a member's name; a longer one is cut.
    ///
    /// As `PATH_MAX` of Linux.
    member_name_bytes: Bytes, at least 1, default 4 << 10;

    /// Maximum size of the window or dictionary that a zstd or xz file may ask for. A file that
    /// asks for more is not read.
    ///
    /// `zstd --ultra` alone takes 128 MiB.
    window_bytes: Bytes, at least 0, default 128 << 20;

    /// Maximum number of unpacked bytes for each compressed byte, of one stream, and of a file with
    /// everything in it: all levels and members, and the work of beginning each stream and entry.
    /// The rest is not read.
    ///
    /// A repetitive mbox gives 19; zeros give 1,030 in gzip and thousands in others.
    unpack_ratio: Number, at least 1, default 1_000;

    /// Number of unpacked bytes up to which `unpack_ratio` is not checked.
    ///
    /// They are read in a second; an honest archive may begin with a run of zeros.
    unpack_ratio_from_bytes: Bytes, at least 0, default 256 << 20;

    /// Maximum number of unpacked bytes for each compressed byte of what is inside another
    /// container. The rest is not read.
    ///
    /// Ratios multiply: two levels at this one are as much as one level at ten times
    /// `unpack_ratio`.
    nested_ratio: Number, at least 1, default 100;

    /// Number of unpacked bytes up to which `nested_ratio` is not checked.
    ///
    /// Small members of one repeated line compress to almost nothing.
    nested_ratio_from_bytes: Bytes, at least 0, default 16 << 20;

    /// Number of bytes that the archives and documents attached to one message may unpack to, with
    /// everything in them, besides `nested_ratio` times the size of the message. The rest is not
    /// read.
    ///
    /// A short message may have a log of one repeated line; a mailbox has thousands of such
    /// messages.
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
