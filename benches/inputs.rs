//! Writes generated archives: `cargo bench -p benches --bench inputs -- FOLDER [MEBIBYTES]`.
//!
//! Prints one line per archive, with tabs: name, number of messages, number of URLs.

mod generate;
#[path = "../tests/scene/rng.rs"]
mod rng;

use std::path::PathBuf;
use std::{env, fs, io};

use generate::{Kind, Mbox, mbox, message};
use rng::Rng;

/// Number of articles, each a small file.
const ARTICLES: usize = 100_000;

/// Number of articles per folder.
const GROUP: usize = 1_000;

fn main() -> io::Result<()> {
    let args: Vec<String> = env::args()
        .skip(1)
        .filter(|arg| !arg.starts_with("--"))
        .collect();
    let Some(folder) = args.first().map(PathBuf::from) else {
        // `cargo bench` runs this program too, without a folder.
        return Ok(());
    };
    let mebibytes: usize = args
        .get(1)
        .and_then(|number| number.parse().ok())
        .unwrap_or(400);
    fs::create_dir_all(&folder)?;
    for (name, kind) in Kind::ALL {
        let Mbox {
            bytes,
            messages,
            urls,
        } = mbox(kind, mebibytes << 20);
        fs::write(folder.join(name), bytes)?;
        println!("{name}\t{messages}\t{urls}");
    }
    let mut rng = Rng::seeded(1738);
    let mut urls = 0;
    for number in 0..ARTICLES {
        let group = folder.join(format!("news/group{:03}", number / GROUP));
        if number % GROUP == 0 {
            fs::create_dir_all(&group)?;
        }
        let article = message(Kind::Dense, number, &mut rng);
        urls += article.urls;
        let text = format!(
            "Path: mail.example!not-for-mail\nNewsgroups: example.lamps\n{}",
            article.text
        );
        fs::write(group.join((1 + number % GROUP).to_string()), text)?;
    }
    println!("news\t{ARTICLES}\t{urls}");
    Ok(())
}
