//! Prints the links that `linkify` finds in the given files, one per line, to compare speed.

use std::io::{self, Write};
use std::{env, fs};

fn main() -> io::Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    for path in env::args().skip(1).filter(|arg| !arg.starts_with("--")) {
        let bytes = fs::read(path)?;
        let text = String::from_utf8_lossy(&bytes);
        for link in linkify::LinkFinder::new().links(&text) {
            writeln!(out, "{}", link.as_str())?;
        }
    }
    out.flush()
}
