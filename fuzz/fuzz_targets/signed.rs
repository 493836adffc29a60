//! Signed content of PKCS #7: the properties of the target `documents`, for one kind.
#![no_main]

use libfuzzer_sys::fuzz_target;
use urlspool_fuzz::documents::check_documents;
use urlspool_mail::documents::DocumentKind;

fuzz_target!(|bytes: &[u8]| check_documents(&[DocumentKind::Signed], bytes));
