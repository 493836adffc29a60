fn main() -> Result<(), Box<dyn std::error::Error>> {
    for url in urlspool::urls("see <URL:http://a.example/x\n  y> now") {
        println!("{url} at {:?}", url.range());
    }
    let mail = b"Subject: a note\n\nIt is under <URL:ftp://ds.in\n   ternic.net/rfc>.\n";
    for url in urlspool::message_urls(mail) {
        println!("{url} at {:?}, {} joins", url.range(), url.joins.len());
    }
    let reading = urlspool::grammar::Url::parse("ftp://host/a;type=d")?;
    println!("{:?}", reading.form);
    #[cfg(feature = "files")]
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/text");
    #[cfg(feature = "files")]
    for record in urlspool::scan([folder]).run()? {
        println!("{} in {}", record.url(), record.path());
    }
    Ok(())
}
