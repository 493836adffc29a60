//! Documents: no panics, bounded decompression and pages, equal results when read twice, no markup
//! except links and lines, and the range of the whole document for each text of a document source.
#![no_main]

use libfuzzer_sys::fuzz_target;
use urlspool_fuzz::documents::check_documents;
use urlspool_mail::documents::DocumentKind;

fuzz_target!(|bytes: &[u8]| check_documents(&DocumentKind::ALL, bytes));
