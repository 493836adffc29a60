//! From a message to the records of its URLs.

pub mod explain;
pub mod extract;
pub mod record;
