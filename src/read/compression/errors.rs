//! Errors of compressed data.

use std::io;

use crate::read::error;

/// Creates the error of a codec that rejects its input.
pub(super) fn damaged(cause: impl std::fmt::Display) -> io::Error {
    error::damage(format!("its compressed data is damaged: {cause}"))
}

/// Creates the error of a stream that ends within its compressed data.
pub(super) fn truncated() -> io::Error {
    error::damage("ends before its compressed data does")
}

/// Creates the error of a stream with other bytes after its compressed data.
pub(super) fn trailing_data() -> io::Error {
    error::damage("has bytes after its end that are not compressed data")
}

/// Creates the error of a stream that requests a larger window than the limit.
pub(super) fn window_too_large() -> io::Error {
    error::limit("asks for a larger window than is allowed to unpack it")
}
