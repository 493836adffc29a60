//! The program's own reference: schema, configuration, completions, manual page, help.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Map, Value};

use crate::scene::{Folder, done, lines};

fn schema() -> Value {
    serde_json::from_slice(&done(&["generate", "schema"]).stdout).expect("the schema is JSON")
}

/// Returns the schema of one type of line.
fn of_type<'s>(schema: &'s Value, name: &str) -> &'s Value {
    let all = schema["oneOf"].as_array().unwrap();
    all.iter()
        .find(|one| one["properties"]["type"]["const"] == name)
        .unwrap_or_else(|| panic!("no {name}"))
}

/// Collects the places where a value does not match its schema: unknown keys, missing keys, values
/// of another type, names outside a closed set.
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
    folder.write("in/binary", [0, 1, 2, 3, 0]);
    let input = folder.path("in").display().to_string();
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
        &input,
    ];
    let records = done(&args).records();
    assert!(records.iter().any(|record| record["truncated"] == true) && records.len() > 200);
    check_type("url", &records);
    check_type("reject", &lines(&fs::read(rejects).unwrap()));
    check_type("event", &lines(&fs::read(events).unwrap()));
}

#[test]
fn the_reference_of_the_record_is_made_from_its_table() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/record.md");
    let text = fs::read_to_string(&path).unwrap();
    let (head, rest) = text.split_once("<!-- made by `urlspool` -->\n").unwrap();
    let (table, tail) = rest.split_once("<!-- end -->\n").unwrap();
    let made = format!("\n{}\n", urlspool_record::record::record_reference());
    if std::env::var_os("URLSPOOL_BLESS").is_some_and(|value| value == "1") {
        let whole = format!("{head}<!-- made by `urlspool` -->\n{made}<!-- end -->\n{tail}");
        return fs::write(&path, whole).unwrap();
    }
    assert_eq!(
        table, made,
        "URLSPOOL_BLESS=1 cargo test reference writes it again"
    );
}

/// Returns the names of the commands in a help text, before the options.
pub(crate) fn commands_in(help: &str) -> Vec<&str> {
    let block = help.split("\nOptions:\n").next().unwrap_or_default();
    let is_name = |line: &&str| {
        line.strip_prefix("  ")
            .is_some_and(|name| name.starts_with(|first: char| first.is_ascii_lowercase()))
    };
    let names = block
        .lines()
        .filter(is_name)
        .filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "help").collect()
}

/// The page of commands shows each help as a program with all packaged features prints it.
#[cfg(all(feature = "elasticsearch", feature = "postgres"))]
#[test]
fn the_reference_of_the_commands_is_made_from_the_help() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/commands.md");
    let mut made = "# Commands\n\nThe help of each command, as a program with all features prints \
                    it; `urlspool generate man COMMAND` \
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
    // The first page leaves out `splits`, which only programs need.
    for command in commands.into_iter().chain(["splits"]) {
        section("##", &[command]);
        for step in commands_in(done(&[command, "--help"]).text()) {
            section("###", &[command, step]);
        }
    }
    if std::env::var_os("URLSPOOL_BLESS").is_some_and(|value| value == "1") {
        return fs::write(&path, made).unwrap();
    }
    // `URLSPOOL_BLESS=1 cargo test --all-features reference` rewrites docs/commands.md.
    assert!(fs::read_to_string(&path).is_ok_and(|page| page == made));
}

#[test]
fn the_names_in_a_summary_match_the_schema() {
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
fn a_configuration_is_printed_with_every_key() {
    let folder = Folder::new();
    let written = folder.file(
        "a.toml",
        "[extract]\ncontext = 7\n[limits]\nurl_bytes = \"4KiB\"\n",
    );
    let resolved = done(&["config", "check", &written]).text().to_owned();
    for key in [
        "context = 7",
        "rules = \"wide\"",
        "schemeless = \"on\"",
        "message_bytes = ",
        "url_bytes = ",
    ] {
        assert!(resolved.contains(key), "{key}: {resolved}");
    }
    let again = done(&["config", "check", &folder.file("b.toml", &resolved)]);
    // The printed configuration is read back unchanged.
    assert_eq!(again.text(), resolved);
}
