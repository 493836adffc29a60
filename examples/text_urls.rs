//! Prints the URLs of a text on standard input, one a line, with their byte ranges.
//!
//!     cargo run --example text_urls < corpus/text/appendix.txt

use std::io::{self, Read};

fn main() -> io::Result<()> {
    let mut text = String::new();
    io::stdin().read_to_string(&mut text)?;
    for url in urlspool::urls(&text) {
        println!("{:?}\t{url}", url.range());
    }
    Ok(())
}
