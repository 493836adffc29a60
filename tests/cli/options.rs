//! Effect of each option of `scan` on the records and the other outputs.

mod evidence;
mod filters;

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Value, json};

use crate::scene::{Folder, assert_contains, done, ended, lines, url, urlspool};

/// Two dated messages and one without a date.
const DATED: &str = "From a\nDate: Mon, 1 Jul 1996 00:00:00 GMT\nSubject: http://s.example/\n\n\
    http://july.example/\n\n\
    From b\nDate: Sat, 1 Aug 1998 00:00:00 GMT\nSubject: x\n\n\
    http://august.example/ and http://july.example/\n\n\
    From c\nSubject: y\n\nhttp://undated.example/\n";

/// URLs of several schemes and grammars, some of them duplicates, and candidates that are not URLs.
const MIXED: &str = "http://a.example/x HTTP://A.EXAMPLE:80/x gopher://g.example/11/x \
    ftp://f.example/ \
    http://a.example/~x www.w.example <URL:http://v.example/a http://v.example/b> \
    http://h05.example/{x} \
    mailto:jane@m.example x-lamp://l.example/ <URL:ftp:> http://... <http://open.example/\n";

/// Returns the URLs that a scan with these options finds in a text.
#[track_caller]
fn found(text: &str, options: &[&str]) -> Vec<String> {
    let folder = Folder::new();
    let file = folder.file("file", text);
    done(&[&["scan", &file], options].concat()).urls()
}

/// `--rules rfc1738` finds only URLs that RFC 1738 accepts.
#[test]
fn the_strict_rules_are_strict() {
    let urls = found(MIXED, &["--rules", "rfc1738"]);
    assert!(
        urls.contains(&"http://a.example/x".to_owned())
            && !urls.iter().any(|url| url.contains(['~', '{'])),
        "{urls:?}"
    );
    let records = done(&["scan", "--rules", "rfc1738", "text", "mail", "news"]).records();
    assert!(
        records
            .iter()
            .all(|record| record["conforms"][0] == "rfc1738" && record["wrapper"] != "schemeless")
    );
    assert!(records.len() > 100);
}

#[test]
fn context_is_the_text_around_a_url() {
    let folder = Folder::new();
    let file = folder.file("file", "aé see http://c.example/x there");
    let context =
        |bytes: &str| done(&["scan", "--context", bytes, &file]).records()[0]["context"].clone();
    assert_eq!(
        context("5"),
        serde_json::json!({"before": " see ", "after": ""})
    );
    assert_eq!(
        context("4"),
        serde_json::json!({"before": "see ", "after": " the"})
    );
    assert_eq!(context("4096"), context("99"));
    assert_eq!(context("3")["before"], "");
    assert_eq!(
        context("99"),
        serde_json::json!({"before": "aé see ", "after": " there"})
    );
    assert_eq!(
        context("6")["before"]
            .as_str()
            .map(|text| text.contains('\u{FFFD}')),
        Some(false)
    );
    assert_eq!(context("0"), Value::Null);
    // A longer word is cut between characters.
    folder.file("file", "éé\u{2039}http://c.example/x\u{203a}éé");
    assert_eq!(context("4")["before"], "\u{2039}");
    // Also after a blank or a full stop, as in texts written without blanks.
    folder.file(
        "file",
        "\u{5317}\u{4eac}\u{5927} http://c.example/x. \u{5b66}\u{5b66}\u{5b66}\u{5b66}",
    );
    assert_eq!(
        context("7"),
        serde_json::json!({"before": "\u{4eac}\u{5927} ", "after": ". \u{5b66}"})
    );
    for bytes in ["99", "4096"] {
        assert_eq!(context(bytes)["before"], "\u{5317}\u{4eac}\u{5927} ");
    }
}

/// Returns the sum of the counts in a table of the summary.
fn sum(summary: &Value, name: &str) -> u64 {
    summary[name]
        .as_object()
        .unwrap_or_else(|| panic!("no {name}"))
        .values()
        .map(|n| n.as_u64().unwrap())
        .sum()
}

/// Checks the three sums of a summary, and compares its counts with the lines of the other outputs.
#[track_caller]
fn audit(options: &[&str]) -> Value {
    let folder = Folder::new();
    let [summary, rejects, events] =
        ["summary", "rejects", "events"].map(|name| folder.file(name, ""));
    folder.write("in/mixed", MIXED);
    folder.write("in/dated", DATED);
    folder.write("in/empty", "");
    folder.write("in/binary", [0, 1, 2, 3, 0]);
    let input = folder.path("in").into_os_string().into_string().unwrap();
    let outputs = [
        "--summary",
        &summary,
        "--rejects",
        &rejects,
        "--events",
        &events,
    ];
    let ended = done(
        &[
            &["scan", "text", "mail", "news", &input],
            &outputs[..],
            options,
        ]
        .concat(),
    );
    let summary: Value = serde_json::from_slice(&fs::read(summary).unwrap()).unwrap();
    let number = |name: &str| {
        summary[name]
            .as_u64()
            .unwrap_or_else(|| panic!("no {name}"))
    };
    let [rejects, events] = [rejects, events].map(|path| lines(&fs::read(path).unwrap()));
    assert_eq!(
        number("files"),
        number("files_read") + sum(&summary, "files_skipped") + sum(&summary, "files_failed")
    );
    assert_eq!(
        number("messages"),
        number("messages_scanned") + sum(&summary, "messages_skipped")
    );
    let outcomes =
        number("records") + sum(&summary, "rejects") + sum(&summary, "filtered") + number("folded");
    assert_eq!(number("candidates") + number("unwrapped"), outcomes);
    assert_eq!(number("records"), ended.records().len() as u64);
    assert_eq!(sum(&summary, "rejects"), rejects.len() as u64);
    assert_eq!(sum(&summary, "events"), events.len() as u64);
    summary
}

#[test]
fn the_summary_adds_up_with_any_options() {
    let all = audit(&[]);
    assert!(
        sum(&all, "rejects") > 0
            && all["files_skipped"]["empty"] == 1
            && all["files_skipped"]["binary"] == 1
    );
    assert_eq!(
        all["messages_skipped"]["cross-post"], 1,
        "news has one article twice"
    );
    let once = audit(&["--unique", "run"]);
    assert!(once["folded"].as_u64() > Some(0));
    for summary in [&all, &once] {
        let counts = ["schemes", "wrappers"].map(|name| sum(summary, name));
        assert_eq!(counts, [summary["records"].as_u64().unwrap(); 2]);
    }
    assert!(audit(&["--unique", "message"])["folded"].as_u64() > Some(0));
    assert!(audit(&["--schemes", "gopher"])["filtered"]["schemes"].as_u64() > Some(0));
    assert!(audit(&["--until", "1997-01-01"])["messages_skipped"]["date"].as_u64() > Some(0));
    assert!(audit(&["--include", "*.mbox"])["files_skipped"]["filtered"].as_u64() > Some(0));
    audit(&["--rules", "rfc1738", "-j", "3"]);
}

#[test]
fn rejects_have_their_reasons_and_places() {
    let folder = Folder::new();
    let (file, rejects) = (folder.file("file", MIXED), folder.file("rejects", ""));
    let records = done(&["scan", "--rejects", &rejects, &file]);
    let text = MIXED.as_bytes();
    let mut kinds = BTreeSet::new();
    for reject in lines(&fs::read(&rejects).unwrap()) {
        let number =
            |name: &str| usize::try_from(reject["source"][name].as_u64().unwrap()).unwrap();
        let bytes = &text[number("start")..number("end")];
        assert_eq!(
            reject["text"].as_str().unwrap().as_bytes(),
            bytes,
            "{reject}"
        );
        kinds.insert(reject["reason"]["kind"].as_str().unwrap().to_owned());
    }
    assert!(kinds.contains("two-urls") && kinds.contains("unclosed"));
    // A rejected wrapper yields no URL.
    assert!(
        !records
            .records()
            .iter()
            .map(url)
            .any(|url| url.contains("v.example")),
    );
}

#[test]
fn a_dry_run_lists_the_files_to_read() {
    let folder = Folder::new();
    folder.write("in/a.mbox", DATED);
    folder.write("in/binary", [0, 1, 2, 3, 0]);
    folder.write("in/spam/1", "http://spam.example/\n");
    folder.write("in/z\n.txt", "http://z.example/\n");
    let root = folder.path("in").into_os_string().into_string().unwrap();
    let args = ["scan", "--dry-run", "--exclude", "spam", &root];
    let dry = done(&args);
    let size = DATED.len();
    assert_eq!(
        dry.text(),
        format!("mbox\t{size}\t{root}/a.mbox\ntext\t18\t{root}/z\\u{{a}}.txt\n")
    );
    assert_eq!(dry.stderr, "");
    let verbose = done(&[&args[..], &["-v"]].concat());
    assert_contains(&verbose.stderr, "binary: would be skipped: binary");
    let containers = done(&["scan", "--dry-run", "containers"]);
    assert!(containers.text().starts_with("compress\t"));
    assert_eq!(done(&["scan", "--dry-run"]).text(), "stream\t-\t-\n");
}

#[test]
fn named_header_fields_are_in_the_records() {
    let folder = Folder::new();
    let mail = "From a\nSubject: x\nx-labels: =?utf-8?q?S=C3=A9nt?=,\n Inbox\nReply-To: b\n\
        X-Labels: c\n\nhttp://a.example/\n\n\
        From b\nSubject: y\n\nhttp://b.example/\n";
    let file = folder.file("file", mail);
    let fields = |options: &[&str]| -> Vec<Value> {
        let scan = done(&[&["scan", &file], options].concat());
        let records = scan.records();
        let field = |record: &Value| record["message"]["fields"].clone();
        records.iter().map(field).collect()
    };
    assert_eq!(fields(&[]), [Value::Null, Value::Null]);
    let labels = |value: &str| json!({"name": "X-Labels", "value": value});
    let first =
        json!([labels("S\u{e9}nt, Inbox"), {"name": "Reply-To", "value": "b"}, labels("c")]);
    assert_eq!(
        fields(&["--set", "header_fields=X-Labels,Reply-To"]),
        [first, json!([])]
    );
    let config = folder.file("config.toml", "[extract]\nheader_fields = [\"reply-to\"]\n");
    let of_config = json!([{"name": "reply-to", "value": "b"}]);
    assert_eq!(fields(&["--config", &config])[0], of_config);
    assert_eq!(
        fields(&["--config", &config, "--set", "header_fields="])[0],
        Value::Null
    );
    let csv = done(&[
        "scan",
        "--format",
        "csv",
        "--fields",
        "message.fields",
        "--set",
        "header_fields=Reply-To",
        &file,
    ]);
    assert_eq!(
        String::from_utf8_lossy(&csv.stdout),
        "message.fields\n\"[{\"\"name\"\":\"\"Reply-To\"\",\"\"value\"\":\"\"b\"\"}]\"\n[]\n"
    );
    let many = vec!["X-A"; 65].join(",");
    for (names, reason) in [("a b", "a b"), (":", "header field"), (&many, "65 names")] {
        let setting = format!("header_fields={names}");
        let ended = ended(&mut urlspool(["scan", "--set", &setting, &file]), b"");
        ended.check(2, reason);
    }
}
