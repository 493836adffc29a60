//! The one test binary: a module per subject.

mod grammar;
mod twin;
