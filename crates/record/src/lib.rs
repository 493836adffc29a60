//! Turns a message into the records of its URLs.

pub mod explain;
pub mod extract;
pub mod record;
