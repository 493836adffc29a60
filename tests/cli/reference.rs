//! The program's own reference: schema, configuration, completions, manual page, help.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Map, Value};

use crate::scene::{Folder, corpus, done, lines};

fn schema() -> Value {
    serde_json::from_slice(&done(&["schema"]).stdout).expect("the schema is JSON")
}

/// The schema of the lines of one type.
fn of_type<'s>(schema: &'s Value, name: &str) -> &'s Value {
    let all = schema["oneOf"].as_array().unwrap();
    all.iter()
        .find(|one| one["properties"]["type"]["const"] == name)
        .unwrap_or_else(|| panic!("no {name}"))
}

/// Collects the places where a value does not match its schema: unknown keys, missing keys, values of another type, names
/// that are not in a closed set.
fn mismatches(value: &Value, schema: &Value, at: &str, found: &mut BTreeSet<String>) {
    if let Some(allowed) = schema["enum"]
        .as_array()
        .filter(|allowed| !allowed.contains(value))
    {
        found.insert(format!("{at}: {value} is none of {allowed:?}"));
    }
    if schema.get("const").is_some_and(|only| only != value) {
        found.insert(format!("{at}: {value} is not {}", schema["const"]));
    }
    let types: Vec<_> = schema["type"]
        .as_array()
        .map_or(vec![&schema["type"]], |types| types.iter().collect());
    let is_null = types[0].is_null();
    if !is_null
        && !types
            .iter()
            .any(|name| is_of(value, name.as_str().unwrap_or_default()))
    {
        found.insert(format!("{at}: {value} is no {}", schema["type"]));
    }
    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
        mismatches(item, &schema["items"], &format!("{at}[{index}]"), found);
    }
    let (Some(object), Some(properties)) = (value.as_object(), schema["properties"].as_object())
    else {
        return;
    };
    keys(object, schema, properties, at, found);
    for (key, value) in object {
        mismatches(
            value,
            properties.get(key).unwrap_or(&Value::Null),
            &format!("{at}.{key}"),
            found,
        );
    }
}

fn keys(
    object: &Map<String, Value>,
    schema: &Value,
    properties: &Map<String, Value>,
    at: &str,
    found: &mut BTreeSet<String>,
) {
    let unknown = object.keys().filter(|key| !properties.contains_key(*key));
    found.extend(unknown.map(|key| format!("{at}.{key}: not in the schema")));
    let required = schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str);
    found.extend(
        required
            .filter(|key| !object.contains_key(*key))
            .map(|key| format!("{at}.{key}: missing")),
    );
}

fn is_of(value: &Value, name: &str) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    }
}

#[track_caller]
fn check_type(name: &str, values: &[Value]) {
    assert!(!values.is_empty(), "no {name} to check");
    let schema = schema();
    let mut found = BTreeSet::new();
    for value in values {
        mismatches(value, of_type(&schema, name), name, &mut found);
    }
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn every_line_matches_the_schema() {
    let folder = Folder::new();
    let [rejects, events, long] = ["rejects", "events", "long"].map(|name| folder.file(name, ""));
    fs::write(
        &long,
        format!(
            "http://l.example/{}\nhttp://l.example/\u{E9}\n",
            "x".repeat(20_000)
        ),
    )
    .unwrap();
    let binary = folder.file("binary", [0, 1, 2, 3, 0]);
    let args = [
        "scan",
        "--context",
        "9",
        "--rejects",
        &rejects,
        "--events",
        &events,
        "text",
        "mail",
        "news",
        &long,
        &binary,
    ];
    let records = done(&args).records();
    assert!(records.iter().any(|record| record["truncated"] == true) && records.len() > 200);
    check_type("url", &records);
    check_type("reject", &lines(&fs::read(rejects).unwrap()));
    check_type("event", &lines(&fs::read(events).unwrap()));
}

/// Returns the names of a JSON object's members in the order of the text, those of objects within it dotted.
fn names_in_order(schema: &Value, parent: &str, names: &mut Vec<String>) {
    for key in schema["required"].as_array().unwrap() {
        let name = format!("{parent}{}", key.as_str().unwrap());
        names.push(name.clone());
        let field = &schema["properties"][key.as_str().unwrap()];
        if field["properties"].is_object() {
            names_in_order(field, &format!("{name}."), names);
        }
    }
}

/// Every record has every field, in the order of the schema.
#[test]
fn every_record_has_every_field_in_the_order_of_the_schema() {
    let folder = Folder::new();
    let long = folder.file("long", format!("http://l.example/{}\n", "x".repeat(20_000)));
    let mut names = Vec::new();
    names_in_order(of_type(&schema(), "url"), "", &mut names);
    for options in [
        &["--context", "9"][..],
        &["--unique", "message"],
        &["--unique", "run"],
    ] {
        let paths = ["text", "mail", "news", &long];
        let out = done(&[&["scan"], options, &paths[..]].concat()).stdout;
        let text = String::from_utf8(out).unwrap();
        for line in text.lines() {
            let record: Value = serde_json::from_str(line).unwrap();
            let mut rest = line;
            for name in &names {
                let holder = name
                    .rsplit_once('.')
                    .map(|(holder, _)| holder.replace('.', "/"));
                if holder.is_some_and(|holder| {
                    record
                        .pointer(&format!("/{holder}"))
                        .is_none_or(Value::is_null)
                }) {
                    continue;
                }
                let key = format!("\"{}\":", name.rsplit('.').next().unwrap());
                let at = rest
                    .find(&key)
                    .unwrap_or_else(|| panic!("no {name} in order: {line}"));
                rest = &rest[at..];
            }
        }
    }
}

#[test]
fn the_reference_of_the_record_is_made_from_its_table() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/record.md");
    let text = fs::read_to_string(&path).unwrap();
    let (head, rest) = text.split_once("<!-- made by `urlspool` -->\n").unwrap();
    let (table, tail) = rest.split_once("<!-- end -->\n").unwrap();
    let made = format!("\n{}\n", urlspool::internals::record::record_reference());
    if std::env::var_os("URLSPOOL_BLESS").is_some_and(|value| value == "1") {
        let whole = format!("{head}<!-- made by `urlspool` -->\n{made}<!-- end -->\n{tail}");
        return fs::write(&path, whole).unwrap();
    }
    assert_eq!(
        table, made,
        "URLSPOOL_BLESS=1 cargo test reference writes it again"
    );
}

/// The names of the commands in a help.
#[cfg(all(
    feature = "browse",
    feature = "documents",
    feature = "elasticsearch",
    feature = "parquet",
    feature = "postgres"
))]
fn commands_in(help: &str) -> Vec<&str> {
    let block = help.split("Commands:\n").nth(1).unwrap_or_default();
    let lines = block.lines().take_while(|line| !line.is_empty());
    let is_name = |line: &&str| line.starts_with("  ") && !line.starts_with("   ");
    let names = lines
        .filter(is_name)
        .filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "help").collect()
}

/// The page of commands has the help of each, as a program with all features of packages prints it.
#[cfg(all(
    feature = "browse",
    feature = "documents",
    feature = "elasticsearch",
    feature = "parquet",
    feature = "postgres"
))]
#[test]
fn the_reference_of_the_commands_is_made_from_the_help() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/commands.md");
    let mut made = "# Commands\n\nThe help of each command, as a program with all features prints it; `urlspool man COMMAND` \
                    has the same.\n"
        .to_owned();
    let mut section = |level: &str, command: &[&str]| {
        let ended = done(&[command, &["--help"]].concat());
        let help: Vec<&str> = ended.text().lines().map(str::trim_end).collect();
        let title = [&["urlspool"], command].concat().join(" ");
        made += &format!("\n{level} {title}\n\n```text\n{}\n```\n", help.join("\n"));
    };
    section("##", &[]);
    let help = done(&["--help"]);
    let commands = commands_in(help.text());
    assert!(10 < commands.len(), "{commands:?}");
    for command in commands {
        section("##", &[command]);
        for step in commands_in(done(&[command, "--help"]).text()) {
            section("###", &[command, step]);
        }
    }
    if std::env::var_os("URLSPOOL_BLESS").is_some_and(|value| value == "1") {
        return fs::write(&path, made).unwrap();
    }
    assert!(
        fs::read_to_string(&path).is_ok_and(|page| page == made),
        "URLSPOOL_BLESS=1 cargo test --all-features reference writes docs/commands.md again"
    );
}

#[test]
fn the_names_in_a_summary_are_those_of_the_schema() {
    let folder = Folder::new();
    let summary = folder.file("summary", "");
    folder.file("picture.png", b"\x89PNG\r\n\x1a\n\0\0");
    let root = folder.root().to_str().unwrap().to_owned();
    done(&["scan", "--summary", &summary, "text", "mail", "news", &root]);
    let summary: Value = serde_json::from_slice(&fs::read(summary).unwrap()).unwrap();
    let schema = schema();
    let properties = schema["$defs"]["summary"]["properties"]
        .as_object()
        .unwrap();
    for (name, counts) in properties {
        let allowed = counts["propertyNames"]["enum"].as_array().unwrap();
        let counted = summary[name]
            .as_object()
            .unwrap_or_else(|| panic!("no {name}"));
        for key in counted.keys() {
            assert!(
                allowed.contains(&Value::from(key.as_str())),
                "{name}: {key}"
            );
        }
    }
}

#[test]
fn the_golden_records_match_the_schema() {
    let mut checked = 0;
    for room in ["mail", "text", ""] {
        for entry in fs::read_dir(corpus().join("golden").join(room)).unwrap() {
            let path = entry.unwrap().path();
            if path.to_str().unwrap().ends_with(".golden.jsonl") {
                let records = lines(&fs::read(path).unwrap());
                check_type("url", &records);
                checked += 1;
            }
        }
    }
    assert!(checked > 10, "{checked} golden files");
}

#[test]
fn the_checker_finds_mismatches() {
    let schema = schema();
    let good = done(&["scan", "text/appendix.txt"]).records().remove(0);
    let with = |change: &dyn Fn(&mut Value)| {
        let mut bad = good.clone();
        change(&mut bad);
        let mut found = BTreeSet::new();
        mismatches(&bad, of_type(&schema, "url"), "url", &mut found);
        found.into_iter().collect::<Vec<_>>()
    };
    assert!(with(&|_| {}).is_empty());
    assert_eq!(
        with(&|bad| bad["extra"] = 1.into()),
        ["url.extra: not in the schema"]
    );
    assert_eq!(
        with(&|bad| bad["source"]["extra"] = 1.into()),
        ["url.source.extra: not in the schema"]
    );
    assert_eq!(
        with(&|bad| drop(bad.as_object_mut().unwrap().remove("id"))),
        ["url.id: missing"]
    );
    assert_eq!(
        with(&|bad| bad["quote_depth"] = "1".into()),
        ["url.quote_depth: \"1\" is no \"integer\""]
    );
    assert_eq!(with(&|bad| bad["source"]["kind"] = "box".into()).len(), 1);
    assert_eq!(with(&|bad| bad["repairs"] = vec!["luck"].into()).len(), 1);
}

#[test]
fn a_configuration_is_printed_with_every_key() {
    let folder = Folder::new();
    let written = folder.file(
        "a.toml",
        "[extract]\ncontext = 7\n[limits]\nurl_bytes = \"4KiB\"\n",
    );
    let resolved = done(&["check-config", &written]).text().to_owned();
    for key in [
        "context = 7",
        "rules = \"wide\"",
        "schemeless = true",
        "message_bytes = ",
        "url_bytes = ",
    ] {
        assert!(resolved.contains(key), "{key}: {resolved}");
    }
    let again = done(&["check-config", &folder.file("b.toml", &resolved)]);
    assert_eq!(
        again.text(),
        resolved,
        "the printed configuration is read back unchanged"
    );
}

#[test]
fn completions_are_printed() {
    for (shell, mark) in [
        ("bash", "complete -F"),
        ("zsh", "#compdef urlspool"),
        ("fish", "complete -c urlspool"),
    ] {
        let script = done(&["completions", shell]);
        assert!(
            script.text().contains(mark) && script.text().contains("scan"),
            "{shell}"
        );
    }
}

#[test]
fn the_help_has_exit_codes() {
    let help = done(&["--help"]);
    assert!(help.text().contains("Exit codes:"), "{}", help.text());
    for code in ["0", "1", "2", "74"] {
        assert!(
            help.text()
                .lines()
                .any(|line| line.split_whitespace().next() == Some(code)),
            "no {code}"
        );
    }
    assert!(done(&["--version"]).text().starts_with("urlspool "));
}
