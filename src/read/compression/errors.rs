//! Errors of compressed data.

use std::io;

use crate::read::error;

pub(super) fn behind_the_end() -> io::Error {
    error::damage("octets that are no compressed data stand behind its end")
}

pub(super) fn cut_off() -> io::Error {
    error::damage("ends before its compressed data does")
}

pub(super) fn damaged(error: impl std::fmt::Display) -> io::Error {
    error::damage(format!("its compressed data is damaged: {error}"))
}

pub(super) fn too_large_a_window() -> io::Error {
    error::limit("asks for a larger window than is allowed to unpack it")
}
