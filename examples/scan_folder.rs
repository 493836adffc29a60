//! Counts the URLs of a folder by host and year.
//!
//!     cargo run --example scan_folder corpus/mail

#![allow(clippy::print_stderr)]

use std::collections::BTreeMap;
use std::env;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let mut counts: BTreeMap<(String, String), u64> = BTreeMap::new();
    let mut records = urlspool::scan(env::args_os().skip(1)).run()?;
    for record in &mut records {
        let year = record.message_date().map_or("undated", |date| &date[..4]);
        let host = record.host().unwrap_or_default();
        *counts
            .entry((host.to_owned(), year.to_owned()))
            .or_default() += 1;
    }
    for ((host, year), count) in counts {
        println!("{count}\t{year}\t{host}");
    }
    let summary = records.finish()?.summary;
    eprintln!("{} messages, {} URLs", summary.messages, summary.records);
    Ok(())
}
