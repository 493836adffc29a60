//! The modules of this crate, for its own tests, fuzz targets, benchmarks and Python package
//! (feature `internals`).
//!
//! Nothing here is promised to anybody else: it changes without a word in the changelog.

pub mod span {
    pub use crate::span::*;
}

pub mod limits {
    pub use crate::limits::*;
}

pub mod origin {
    pub use crate::origin::*;
}

pub mod diagnostic {
    pub use crate::diagnostic::*;
}

#[cfg(feature = "files")]
pub mod walk {
    pub use crate::walk::*;
}

pub mod read {
    pub use crate::read::*;
}

pub mod documents {
    pub use crate::documents::*;
}

pub mod split {
    pub use crate::split::*;
}

pub mod decode {
    pub use crate::decode::*;
}

pub mod scan {
    pub use crate::scan::*;
}

pub mod repair {
    pub use crate::repair::*;
}

pub mod parse {
    pub use crate::parse::*;
}

pub mod record {
    pub use crate::record::*;
}

pub mod explain {
    pub use crate::explain::*;
}

pub mod extract {
    pub use crate::extract::*;
}

#[cfg(feature = "stats")]
pub mod stats {
    pub use crate::stats::*;
}

#[cfg(feature = "files")]
pub mod sink {
    pub use crate::sink::*;
}

#[cfg(feature = "files")]
pub mod pipeline {
    pub use crate::pipeline::*;
}

#[cfg(feature = "settings")]
pub mod config {
    pub use crate::config::*;
}

#[cfg(feature = "daemon")]
pub mod daemon {
    pub use crate::daemon::*;
}

#[cfg(feature = "load")]
pub mod load {
    pub use crate::load::*;
}

#[cfg(feature = "audit")]
pub mod audit {
    pub use crate::audit::*;
}

#[cfg(feature = "cli")]
pub mod cli {
    pub use crate::cli::*;
}
