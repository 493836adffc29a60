//! `urlspool` gets the URLs of mail and USENET archives out whole.

pub mod grammar;
