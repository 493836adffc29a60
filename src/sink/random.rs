//! Random bytes for names that nobody else has, for tokens and for secret keys.

use std::io;

/// Returns random bytes.
///
/// # Errors
///
/// The error of the system.
#[cfg(target_os = "linux")]
pub(crate) fn random_bytes<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())?;
    Ok(bytes)
}

/// Returns random bytes.
///
/// # Errors
///
/// The error of the system.
#[cfg(not(target_os = "linux"))]
pub(crate) fn random_bytes<const N: usize>() -> io::Result<[u8; N]> {
    use std::io::Read;

    let mut bytes = [0; N];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}
