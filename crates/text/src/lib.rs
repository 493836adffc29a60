//! URLs in text: where one starts (`scan`), how it continues (`repair`), where it ends (`parse`)
//! and its structure (`grammar`). Also the basics that every crate needs: limits, spans,
//! diagnostics, origins.

#[macro_use]
mod named_enum;
pub mod byte_scan;
pub mod diagnostic;
pub mod grammar;
pub mod hash;
pub mod limits;
pub mod origin;
pub mod parse;
pub mod planted_faults;
pub mod repair;
pub mod scan;
pub mod span;
pub mod unpack_balance;
