//! Limits of statistics, which hold in at most 256 MiB whatever the archive holds.

/// Maximum number of distinct URLs, of messages and of sources that are counted exactly. Each takes
/// up to 22 bytes while the table grows; more are estimated.
pub const STATS_EXACT: usize = 1_800_000;

/// Bits of a hash that choose a register of an estimate: 65,536 registers of a byte, for a standard
/// error of 0.41 %.
pub const STATS_REGISTER_BITS: u32 = 16;

/// Maximum number of names of a list, such as that of hosts, that are counted exactly.
pub const STATS_NAMES: usize = 100_000;

/// Maximum number of bytes of the names of a list. Names of 80 bytes reach both limits.
pub const STATS_NAMES_BYTES: usize = 8 << 20;

/// Maximum length of a name in bytes. Longer ones are cut, and counted as one if they begin alike.
pub const STATS_NAME_BYTES: usize = 256;
