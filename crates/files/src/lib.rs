//! Files and folders on all cores, to outputs that are complete or absent.

pub mod config;
pub mod evidence;
pub mod keyed_hash;
pub mod listener;
pub mod options;
pub mod pipeline;
pub mod scan;
pub mod sink;
