//! Random bytes for names that nobody else has, and for tokens.

use std::io;

/// Returns 128 random bits.
///
/// # Errors
///
/// The error of the system.
#[cfg(target_os = "linux")]
pub(crate) fn random_bits() -> io::Result<[u8; 16]> {
    let mut bits = [0; 16];
    rustix::rand::getrandom(&mut bits, rustix::rand::GetRandomFlags::empty())?;
    Ok(bits)
}

/// Returns 128 random bits.
///
/// # Errors
///
/// The error of the system.
#[cfg(not(target_os = "linux"))]
pub(crate) fn random_bits() -> io::Result<[u8; 16]> {
    use std::io::Read;

    let mut bits = [0; 16];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bits)?;
    Ok(bits)
}
