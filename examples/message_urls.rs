//! Prints the URLs of one mail message: where each stands, how it was repaired, and which grammars accept it.
//!
//!     cargo run --example message_urls corpus/mail/multipart.eml

use std::error::Error;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let path = env::args_os().nth(1).ok_or("usage: message_urls FILE")?;
    let mail = fs::read(path)?;
    for url in urlspool::message_urls(&mail) {
        let repairs: Vec<_> = url.repairs().iter().map(urlspool::Repair::name).collect();
        let grammars: Vec<_> = url.verdicts().conforms().collect();
        println!(
            "{url}\n    {} at {:?}, repairs {repairs:?}, accepted by {grammars:?}",
            url.region(),
            url.range(),
        );
    }
    Ok(())
}
