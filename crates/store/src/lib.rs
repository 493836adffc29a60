//! Records in databases: loads, searches, statistics, pages.

pub mod browse;
pub mod load;
pub mod page;
pub mod stats;
