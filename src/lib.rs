//! `urlspool` gets the URLs of mail and USENET archives out whole.

pub mod grammar;

pub mod span;

pub mod limits;

pub mod origin;

pub mod problem;

pub mod split;

pub mod walk;

pub mod read;

pub mod decode;

pub mod scan;

pub mod repair;

pub mod parse;

pub mod record;

pub mod sink;

pub mod config;

pub mod pipeline;

pub mod cli;
