//! Prints the URLs of a message with their places, repairs and accepting grammars.
//!
//!     cargo run --example message_urls corpus/mail/multipart.eml

use std::error::Error;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let path = env::args_os().nth(1).ok_or("usage: message_urls FILE")?;
    let mail = fs::read(path)?;
    for url in urlspool::message_urls(&mail) {
        let repairs: Vec<_> = url.repairs.iter().map(urlspool::Repair::name).collect();
        let grammars: Vec<_> = url.verdicts().conforms().collect();
        println!(
            "{url}\n    {} at {:?}, repairs {repairs:?}, accepted by {grammars:?}",
            url.region,
            url.range(),
        );
    }
    Ok(())
}
