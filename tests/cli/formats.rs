//! The formats of `scan`: lines, fields, and identical output for any number of threads.

mod tables;

use serde_json::{Map, Value};

use crate::scene::{Folder, corpus, done, ended, names, urlspool};

const MAIL: &str = "From a\nDate: Mon, 1 Jul 1996 00:00:00 GMT\n\
    From: \"Doe, Jane\" <jane@m.example>\n\
    Subject: =1+2\tlamps\nMessage-ID: <1@m.example>\n\n\
    http://a.example/x#y and http://A.example/x#y\n\
    <URL:wais://w.exa\nmple/db> or http://a b/\n";

/// Returns the names of all fields that can be selected, in record order.
fn all_fields(record: &Value) -> String {
    let fields = record.as_object().unwrap().iter();
    let names = fields.flat_map(|(name, value)| match (name.as_str(), value) {
        ("error", _) => ["offset", "part", "kind", "message"]
            .map(|key| format!("error.{key}"))
            .to_vec(),
        (name, Value::Object(inner)) => inner.keys().map(|key| format!("{name}.{key}")).collect(),
        (name, _) => vec![name.to_owned()],
    });
    names.collect::<Vec<_>>().join(",")
}

/// Returns a copy of the record with only these fields.
fn projected(record: &Value, fields: &[&str]) -> Value {
    let mut chosen = Map::new();
    for field in fields {
        match field.split_once('.') {
            None => drop(chosen.insert((*field).to_owned(), record[field].clone())),
            Some((parent, _)) if record[parent].is_null() => {
                chosen.insert(parent.to_owned(), Value::Null);
            }
            Some((parent, key)) => {
                let inner = chosen
                    .entry(parent)
                    .or_insert_with(|| Value::Object(Map::new()));
                inner[key] = record[parent][key].clone();
            }
        }
    }
    Value::Object(chosen)
}

/// Returns the paths of the whole corpus as arguments.
fn whole_corpus() -> Vec<String> {
    names(&corpus())
}

#[track_caller]
fn scan(options: &[&str]) -> Vec<u8> {
    let paths = whole_corpus();
    let mut args = vec!["scan", "-q"];
    args.extend(options);
    args.extend(paths.iter().map(String::as_str));
    let ended = ended(&mut urlspool(&args), b"");
    assert!(matches!(ended.status, Some(0 | 1)), "{}", ended.stderr);
    assert!(!ended.stdout.is_empty(), "{options:?}");
    ended.stdout
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

#[test]
fn urls_and_hrefs_are_printed_as_lines() {
    let folder = Folder::new();
    let file = folder.file("mail", MAIL);
    let urls = done(&["scan", "--format", "urls", &file]);
    assert_eq!(
        urls.text(),
        "http://a.example/x#y\nhttp://A.example/x#y\nwais://w.example/db\nhttp://a\n"
    );
    let hrefs = done(&["scan", "--format", "hrefs", &file]);
    assert_eq!(
        hrefs.text(),
        "http://a.example/x#y\nhttp://a.example/x#y\nwais://w.example/db\nhttp://a/\n"
    );
    let port = folder.file("port", "http://a.example:70000/x and http://b.example/\n");
    let hrefs = done(&["scan", "--format", "hrefs", &port]);
    assert_eq!(hrefs.text(), "http://b.example/\n");
}

#[test]
fn lines_for_people_name_the_place() {
    let folder = Folder::new();
    let file = folder.file("mail", MAIL);
    let lines = done(&["scan", "--format", "grep", &file]);
    let at = |url: &str| MAIL.find(url).unwrap();
    let expected = format!(
        "{file}:{}: http://a.example/x#y\n{file}:{}: http://A.example/x#y\n\
         {file}:{}: wais://w.example/db\n{file}:{}: http://a\n",
        at("http://a.e"),
        at("http://A.e"),
        at("wais:"),
        at("http://a b")
    );
    assert_eq!(lines.text(), expected);
    for line in lines.text().lines() {
        let place = line.rsplit_once(": ").unwrap().0;
        done(&["explain", place]);
        let bytes = done(&["show", place]).stdout;
        assert!(bytes.starts_with(b"http:") || bytes.starts_with(b"wais:"));
    }
}

/// A field has the same value alone as in the whole record.
#[test]
fn selecting_all_fields_yields_the_whole_record() {
    for options in [
        &["--unique", "none"][..],
        &["--unique", "message"],
        &["--unique", "run", "--context", "9"],
    ] {
        let whole = text(scan(options));
        let first = serde_json::from_str(whole.lines().next().unwrap()).unwrap();
        let fields = format!("{},part,context", all_fields(&first));
        let chosen = text(scan(&[options, &["--fields", &fields]].concat()));
        for (line, whole) in chosen.lines().zip(whole.lines()) {
            assert_eq!(line, whole, "{options:?}");
        }
        assert_eq!(chosen.len(), whole.len());
    }
}

/// Selecting one field still reads the fields from which it is computed.
#[test]
fn a_field_chosen_alone_has_its_value() {
    let folder = Folder::new();
    let header =
        "Newsgroups: a.b,c.d\nReferences: <2@m.example> <3@m.example>\nList-Id: <l.m.example>\n";
    let mail = MAIL.replacen("Date:", &format!("{header}Date:"), 1);
    let file = folder.file("mail", &mail);
    let lines = |args: &[&str]| {
        let lines = done(&[&["scan", &file], args].concat());
        let values = lines.text().lines().map(serde_json::from_str::<Value>);
        values.map(Result::unwrap).collect::<Vec<_>>()
    };
    let whole = lines(&[]);
    assert!(!whole[0]["message"]["references"][1].is_null());
    for field in all_fields(&whole[0]).split(',') {
        let expected: Vec<_> = whole
            .iter()
            .map(|record| projected(record, &[field]))
            .collect();
        assert_eq!(lines(&["--fields", field]), expected, "{field}");
    }
}

/// A format without the author counts the same records by other authors as one with it.
#[test]
fn other_authors_are_counted_in_all_formats() {
    let folder = Folder::new();
    let text = "From: a@b.example\n\n-----Original Message-----\nFrom: Joe <c@d.example>\n\
        Subject: x\n\nhttp://e.example/\n";
    let path = folder.file("mail", text);
    for format in [
        &["jsonl"][..],
        &["jsonl", "--fields", "url"],
        &["csv"],
        &["urls"],
    ] {
        let options = [&["scan", "-v", &path, "--format"], format].concat();
        let ended = done(&options);
        assert!(
            ended.stderr.contains("1 records by another author"),
            "{format:?}"
        );
    }
}

/// `--unique run` drops finished lines, both in formats with several lengths of line and in formats
/// without one line per record.
#[test]
fn every_format_leaves_out_repetitions() {
    let folder = Folder::new();
    let file = folder.file(
        "mail",
        "http://a.example/ http://b.example:70000/ http://a.example/ http://b.example:70000/ \
         http://c.example/\n",
    );
    let run = |format: &str| {
        let ended = done(&["scan", "--unique", "run", "--format", format, &file]);
        ended.text().lines().count()
    };
    assert_eq!(run("urls"), 3);
    assert_eq!(run("hrefs"), 2);
    assert_eq!(run("grep"), 3);
    assert_eq!(run("csv"), 4);
    let counts = |format: &str| {
        let options = ["--unique", "message", "--fields", "count,url", "--format"];
        done(&[&["scan"], &options[..], &[format, &file]].concat())
            .text()
            .to_owned()
    };
    assert_eq!(
        counts("csv"),
        "count,url\n2,http://a.example/\n2,http://b.example:70000/\n,http://c.example/\n"
    );
    assert_eq!(
        counts("jsonl"),
        "{\"url\":\"http://a.example/\",\"count\":2}\n\
         {\"url\":\"http://b.example:70000/\",\"count\":2}\n\
         {\"url\":\"http://c.example/\",\"count\":null}\n"
    );
}

#[test]
fn fields_that_do_not_exist_are_refused_with_the_nearest_name() {
    let refused = |args: &[&str], expected: &str| {
        let ended = ended(&mut urlspool([&["scan"], args].concat()), b"");
        ended.check(2, expected);
    };
    for (fields, tip) in [
        ("urll", "unknown field; did you mean `url`?"),
        ("url,message.dat", "did you mean `message.date`?"),
        ("parts.name", "did you mean `parts`?"),
        ("url,qqq", "`urlspool generate man record` lists the fields"),
    ] {
        refused(&["--fields", fields], tip);
        let message = ended(&mut urlspool(["scan", "--fields", fields]), b"").stderr;
        assert!(message.len() < 250, "it lists all fields: {message}");
    }
    refused(
        &["--fields", "url", "--format", "urls"],
        "--format jsonl, csv or tsv",
    );
    refused(
        &["--fields", "slim", "--format", "grep"],
        "--format jsonl, csv or tsv",
    );
}

/// A text with several kinds of URLs.
const LINKS: &str = "http://www.a.example/b.html#c https://d.example/?u=http://e.example/ \
    mailto:joe@f.example ftp://ftp.g.example/h\n";

#[test]
fn defanged_urls_are_not_links_and_are_read_back() {
    let folder = Folder::new();
    let file = folder.file("mail.txt", LINKS);
    let scan = |path: &str, args: &[&str]| {
        done(&[&["scan", "--kind", "text", path], args].concat())
            .text()
            .to_owned()
    };
    let urls = scan(&file, &["--format", "urls", "--defang"]);
    assert_eq!(
        urls,
        "hxxp://www[.]a[.]example/b.html#c\n\
         hxxps://d[.]example/?u=hxxp://e[.]example/\n\
         hxxp://e[.]example/\n\
         mailto[:]joe[at]f[.]example\n\
         ftp[:]//ftp[.]g[.]example/h\n"
    );
    for format in ["urls", "hrefs", "grep", "csv", "tsv"] {
        let text = scan(&file, &["--format", format, "--defang"]);
        for link in "http: https: ftp: mailto: www. d.example f.example".split(' ') {
            assert!(!text.contains(link), "{format}: {text}");
        }
        assert!(text.contains("hxxps://d[.]example/"), "{format}: {text}");
    }
    let defanged = folder.file("defanged.txt", &urls);
    let live = |path: &str| scan(path, &["--format", "urls"]);
    // The target has a line of its own, and is found in the query too.
    let target = "http://e.example/\n";
    let expected = live(&file).replacen(&format!("\n{target}"), &format!("\n{target}{target}"), 1);
    assert_eq!(live(&defanged), expected);
}
