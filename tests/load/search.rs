//! `urlspool search`.

use super::{LIST_MAIL, MAIL, check_database, loaded, records, value};
use crate::scene::{Ended, Folder, assert_contains, done, ended, urlspool};

#[track_caller]
fn search(folder: &Folder, args: &[&str]) -> Ended {
    let database = folder.path("urls.db");
    ended(urlspool(["search"]).arg(database).args(args), b"")
}

/// Returns the URLs of the matches.
#[track_caller]
fn found(folder: &Folder, args: &[&str]) -> Vec<String> {
    let ended = search(folder, &[args, &["--format", "jsonl"]].concat());
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    ended.urls()
}

fn loaded_folder() -> Folder {
    let folder = Folder::new();
    loaded(&folder, &[], &records(&folder, "a.mbox", MAIL));
    folder
}

#[test]
fn words_are_found_in_urls_subjects_and_senders() {
    let folder = loaded_folder();
    assert_eq!(found(&folder, &["other"]), ["http://m.example/lamp"]);
    assert_eq!(found(&folder, &["OTHER", "john"]).len(), 1);
    assert_eq!(found(&folder, &["other", "jane"]).len(), 0);
    assert_eq!(found(&folder, &["f.example/x"]), ["ftp://f.example/x"]);
    assert_eq!(found(&folder, &["x.example/f"]).len(), 0);
    assert_eq!(found(&folder, &["lam"]).len(), 0);
    assert_eq!(found(&folder, &["lam*"]).len(), 4);
    assert_eq!(found(&folder, &["the oth*"]).len(), 1);
}

#[test]
fn a_url_is_found_as_it_is_printed() {
    let folder = Folder::new();
    let mail = MAIL.replace("http://m.example/lamp", "http://m.example/lamp#Wick-end");
    let lines = records(&folder, "a.mbox", &mail);
    loaded(&folder, &[], &lines);
    let url = "http://m.example/lamp#Wick-end";
    let all = vec![url.to_owned(); 3];
    for arguments in [&["--key", url][..], &["--key", "http://m.example/lamp"]] {
        assert_eq!(found(&folder, arguments), all, "{arguments:?}");
    }
    for words in [url, "wick", "lamp wick end"] {
        assert_eq!(found(&folder, &[words]), all, "{words}");
    }
    assert_eq!(found(&folder, &["wick lamp"]).len(), 0);
    let database = folder.path("urls.db");
    let cited = ended(urlspool(["cited"]).arg(&database).arg(url), b"");
    assert_eq!(
        cited.text().matches(url).count(),
        all.len(),
        "{}",
        cited.text()
    );
    check_database(&database);
}

#[test]
fn a_hazard_is_a_condition() {
    let folder = Folder::new();
    let mail = MAIL.replace(
        "ftp://f.example/x",
        "ftp://f.example:80/x http://1.2.3.4:81/",
    );
    loaded(&folder, &[], &records(&folder, "a.mbox", &mail));
    let odd = ["http://1.2.3.4:81/", "ftp://f.example:80/x"];
    let mut urls = found(&folder, &["--hazard", "odd-port,mismatch"]);
    urls.sort_unstable_by(|one, other| other.cmp(one));
    assert_eq!(urls, odd);
    assert_eq!(found(&folder, &["--hazard", "numeric-host"]), odd[..1]);
    assert_eq!(found(&folder, &["--hazard", "mismatch"]).len(), 0);
    let unknown = search(&folder, &["--hazard", "odd"]);
    unknown.check(2, "userinfo-like-host");
}

/// Creates a folder with a database of records that have the words around their URLs.
pub(super) fn folder_with_contexts() -> Folder {
    let folder = Folder::new();
    let mail = MAIL.replace("\nsee ", "\nThe quick brown fox\njumps \u{1b}[2J over ");
    let path = folder.file("a.mbox", &mail);
    let lines = done(&["scan", "--context", "24", &path]).stdout;
    loaded(&folder, &[], &lines);
    folder
}

#[test]
fn words_around_a_url_are_found_and_shown() {
    let folder = folder_with_contexts();
    assert_eq!(found(&folder, &["FOX"]).len(), 2);
    assert_eq!(found(&folder, &["fox jumps"]).len(), 2);
    assert_eq!(found(&folder, &["fox", "other"]).len(), 1);
    // The limit removes words, and cut words. A phrase does not extend across the URL.
    assert_eq!(found(&folder, &["quick"]).len(), 0);
    assert_eq!(found(&folder, &["own"]).len(), 0);
    assert_eq!(found(&folder, &["over and"]).len(), 0);
    assert_eq!(found(&folder, &["lamp and"]).len(), 0);
    let text = search(&folder, &["fox", "--format", "text", "--sort", "oldest"]);
    let lines: Vec<_> = text.text().lines().collect();
    assert_eq!(
        lines[2],
        "  *fox* jumps \\u{1b}[2J over http://m.example/lamp and"
    );
    let shown = ended(&mut urlspool(["show"]), &text.stdout);
    assert_eq!(shown.text().lines().count(), 2, "{}", shown.stderr);
    let line = search(&folder, &["fox", "--format", "jsonl", "--limit", "1"]);
    assert_eq!(
        line.records()[0]["context"]["before"],
        "fox\njumps \u{1b}[2J over "
    );
    check_database(&folder.path("urls.db"));
    // The index keeps its words when rows are moved or removed.
    let gone = r#"{"type":"gone","mailbox":"MAILBOX","digests":["DIGEST"]}"#;
    let digest: String = value(
        &folder,
        "SELECT digest FROM messages WHERE message_id='<2@m.example>'",
    );
    let mailbox = folder.path("a.mbox").display().to_string();
    let gone = gone.replace("MAILBOX", &mailbox).replace("DIGEST", &digest);
    assert!(loaded(&folder, &[], gone.as_bytes()).contains("1 row removed"));
    check_database(&folder.path("urls.db"));
    assert_eq!(found(&folder, &["fox"]).len(), 1);
}

#[test]
fn phrases_prefixes_and_exclusions_are_the_only_syntax() {
    let folder = folder_with_contexts();
    for (words, count) in [
        (&["fox jumps"][..], 2),
        (&["\"fox jumps\""], 2),
        (&["\"jumps fox\""], 0),
        (&["\"fox ju\"*"], 2),
        (&["\"fox ju*\""], 2),
        (&["jumps \"brown fox\""], 0),
        (&["lamp", "-jane"], 1),
        (&["-jane"], 1),
        (&["-ja*"], 1),
        (&["-\"the other\""], 3),
        (&["lamp", "-\"other lamp\"", "-oil"], 3),
        (&["lamp", "-lamp"], 0),
        (&["lamp AND other"], 0),
        (&["NEAR(lamp other)"], 0),
        (&["url:lamp", "{url}:lamp", "^lamp"], 0),
        (&["lamp OR"], 0),
    ] {
        let args = [&["--format", "urls", "--"], words].concat();
        let ended = search(&folder, &args);
        assert_eq!(ended.text().lines().count(), count, "{words:?}");
    }
    search(&folder, &["lamp", "--hots", "x"]).check(2, "--host");
    search(&folder, &["-oil"]).check(2, "'-- -o'");
    search(&folder, &["--", "lamp", "--limit"]).check(0, "--limit after `--` excludes a word");
    let long = "a".repeat(3_000);
    assert_eq!(search(&folder, &[&long]).status, Some(2));
}

#[test]
fn facets_count_the_matches() {
    let folder = Folder::new();
    let news = MAIL.replacen(
        "Subject: A lamp",
        "List-Id: Lamps <lamps.m.example>\nNewsgroups: alt.lamps,lamps.m.example,alt.lamps\n\
         Subject: A lamp",
        1,
    );
    loaded(&folder, &[], &records(&folder, "a.mbox", &news));
    let printed = |args: &[&str]| {
        let ended = search(&folder, args);
        assert_eq!(ended.status, Some(0), "{}", ended.stderr);
        ended.text().to_owned()
    };
    let facets = "domain,host,year,list,scheme";
    let csv = printed(&["--facets", facets, "--format", "csv"]);
    assert_eq!(
        csv,
        "facet,value,count\ndomain,m.example,3\ndomain,f.example,1\nhost,m.example,3\n\
         host,f.example,1\n\
         year,1996,4\nlist,alt.lamps,3\nlist,lamps.m.example,3\nscheme,http,3\nscheme,ftp,1\n"
    );
    assert_eq!(
        printed(&["other", "--facets", "year,scheme"]),
        "year\n            1  1996\n\nscheme\n            1  http\n"
    );
    for format in ["text", "csv", "jsonl"] {
        let args = ["--facets", "host,scheme", "--limit=1", "--format", format];
        let stderr = search(&folder, &args).stderr;
        assert_contains(&stderr, "host: 1 of 2 values printed (--limit)");
        assert_contains(&stderr, "scheme: 1 of 2 values printed (--limit)");
    }
    let json = printed(&["--facets", "host", "--limit", "1", "--format", "jsonl"]);
    assert_eq!(
        json,
        "{\"count\":3,\"facet\":\"host\",\"value\":\"m.example\"}\n"
    );
    search(&folder, &["none", "--facets", "host"]).check(0, "no match");
    assert!(!folder.path("urls.db-wal").exists() && !folder.path("urls.db-shm").exists());
    // Unicode calls this sign alphabetic, but it is not a word, so there is nothing to search for.
    assert_eq!(search(&folder, &["\u{24B6}"]).status, Some(2));
    let wrong = search(&folder, &["lamp", "--facets", "host", "--format", "urls"]);
    assert_eq!(wrong.status, Some(2), "{}", wrong.stderr);
}

#[test]
fn schemes_domains_urls_senders_and_lists_choose() {
    let folder = Folder::new();
    let news = MAIL.replacen(
        "Subject: A lamp",
        "List-Id: Lamps <lamps.m.example>\nNewsgroups: Alt.Lamps\nSubject: A lamp",
        1,
    );
    // A public suffix, below which each customer has a domain.
    let suffix = "From a\nSubject: x\n\nhttp://a.appspot.com/ http://b.c.appspot.com/\n";
    loaded(&folder, &[], &records(&folder, "a.mbox", &(news + suffix)));
    for (args, count) in [
        (&["--schemes", "FTP"][..], 1),
        (&["--domain", "m.example"], 3),
        (&["--domain", "AppSpot.com"], 2),
        (&["--domain", "c.appspot.com"], 1),
        (&["--key", "HTTP://M.example:80/%6Camp"], 3),
        (&["--key", "http://m.example/"], 0),
        (&["--sender", "JANE"], 3),
        (&["--sender", "john@m"], 1),
        (&["--sender", "%"], 0),
        (&["--list", "lamps.m.example"], 3),
        (&["--list", "Lamps.M.example"], 3),
        (&["--list", "alt.LAMPS"], 3),
        (&["--schemes", "http", "--sender", "jane", "lamp"], 2),
    ] {
        assert_eq!(found(&folder, args).len(), count, "{args:?}");
    }
}

#[test]
fn each_format_has_the_matches_in_their_order() {
    let folder = loaded_folder();
    let printed = |args: &[&str]| {
        let ended = search(&folder, &[&["--schemes", "http"], args].concat());
        assert_eq!(ended.status, Some(0), "{}", ended.stderr);
        ended.text().to_owned()
    };
    let place = folder.path("a.mbox").display().to_string();
    let text = printed(&["--format", "text"]);
    let first = text.lines().take(2).collect::<Vec<_>>();
    assert_eq!(
        first[0],
        "1996-01-02  John <john@m.example>  The other lamp"
    );
    assert!(
        first[1].starts_with(&place) && first[1].ends_with(": http://m.example/lamp"),
        "{text}"
    );
    assert!(printed(&["--format", "text", "--sort", "oldest"]).starts_with("1996-01-01  Jane"));
    assert_eq!(
        printed(&["--format", "urls"]),
        "http://m.example/lamp\n".repeat(3)
    );
    let csv = printed(&["--format", "csv"]);
    assert_eq!(
        csv.lines().next(),
        Some(
            "message.date,message.from,message.subject,url,fragment,source.path,source.start,\
             message.id,author.date,author.from,author.by,hazards"
        )
    );
    assert_contains(
        &csv,
        "1996-01-02T10:00:00Z,John <john@m.example>,The other lamp,http://m.example/lamp,,",
    );
    assert!(!csv.contains("\"\""), "{csv}");
    assert_eq!(printed(&["--format", "tsv"]).lines().count(), 4);
    // Every printed match can be traced back to its bytes.
    for format in ["text", "grep", "jsonl"] {
        let lines = printed(&["--format", format, "--limit", "1"]);
        let shown = ended(&mut urlspool(["show"]), lines.as_bytes());
        assert!(
            shown.text().starts_with("http://m.example/lamp"),
            "{format}: {} {}",
            shown.text(),
            shown.stderr
        );
    }
    let other = ended(&mut urlspool(["show"]), b"see http://m.example/lamp\n");
    other.check(1, "line 1: it is neither a record nor");
}

#[test]
fn hosts_dates_and_limits_choose() {
    let folder = loaded_folder();
    assert_eq!(
        found(&folder, &["--host", "F.example"]),
        ["ftp://f.example/x"]
    );
    let mail = MAIL.replace("f.example", "www.m.example");
    loaded(&folder, &[], &records(&folder, "b.mbox", &mail));
    assert_eq!(found(&folder, &["--host", "m.example"]).len(), 6);
    assert_eq!(found(&folder, &["--domain", "m.example"]).len(), 7);
    let folder = loaded_folder();
    assert_eq!(found(&folder, &["--since", "1996-01-02"]).len(), 1);
    assert_eq!(found(&folder, &["--until", "1996-01-01"]).len(), 3);
    assert_eq!(found(&folder, &["--since", "1997"]).len(), 0);
    assert_eq!(found(&folder, &["lamp", "--limit", "2"]).len(), 2);
}

#[test]
fn a_period_counts_the_matches_without_a_date() {
    let folder = Folder::new();
    let mail =
        MAIL.replace("Date: Tue", "X-Date: Tue") + &LIST_MAIL.replace("\nDate:", "\nX-Date:");
    loaded(&folder, &[], &records(&folder, "a.mbox", &mail));
    for (args, undated) in [
        (&["lamp", "--since", "1995"][..], 5),
        (&["--until", "1997", "--host", "l.example"], 2),
        (
            &["--until", "1997", "--host", "l.example", "--list-fields"],
            5,
        ),
        (&["lamp", "--since", "1995", "--facets", "host"], 5),
        (&["lamp"], 0),
    ] {
        let stderr = search(&folder, args).stderr;
        let note = format!("{undated} matches without a plausible date left out");
        assert_eq!(stderr.contains(&note), 0 < undated, "{args:?}: {stderr}");
        assert_eq!(
            stderr.contains("plausible date"),
            0 < undated,
            "{args:?}: {stderr}"
        );
    }
}

#[test]
fn a_host_is_found_by_its_name_in_any_script() {
    let folder = Folder::new();
    let mail =
        "From a Mon Jan  1 00:00:00 1996\nFrom: a@b.example\n\nhttp://B\u{fc}cher.example/x\n";
    loaded(&folder, &[], &records(&folder, "a.mbox", mail));
    let cases = "b\u{fc}cher.example B\u{dc}CHER.Example. bu\u{308}cher.example \
        b\u{fc}cher\u{3002}example\u{3002} XN--BCHER-KVA.EXAMPLE xn--bcher-kva.example%2e";
    for host in cases.split(' ') {
        assert_eq!(found(&folder, &["--host", host]).len(), 1, "{host}");
    }
    assert_eq!(found(&folder, &["--host", "bucher.example"]).len(), 0);
}

#[test]
fn matches_come_in_one_order_however_they_were_loaded() {
    let (one, other) = (Folder::new(), Folder::new());
    let dated = "From a Mon Jan  1 00:00:00 1996\nDate: Mon, 1 Jan 1996 12:00:00 +0000\n\n";
    let text = format!("{dated}http://z.example/ http://a.example/\nhttp://m.example/\n");
    let lines = [
        records(&one, "a.mbox", MAIL),
        records(&one, "b.mbox", &text),
    ]
    .concat();
    let lines = String::from_utf8(lines).unwrap();
    let backwards: String = lines
        .lines()
        .rev()
        .map(|line| format!("{line}\n"))
        .collect();
    loaded(&one, &[], lines.as_bytes());
    loaded(&other, &[], backwards.as_bytes());
    for args in [
        &["--since", "1990"][..],
        &["http"],
        &["--since", "1990", "--limit", "2"],
    ] {
        assert_eq!(found(&one, args), found(&other, args), "{args:?}");
    }
    let places = [
        "http://z.example/",
        "http://a.example/",
        "http://m.example/",
    ];
    let of_file: Vec<_> = found(&other, &["example"])
        .into_iter()
        .filter(|url| places.contains(&url.as_str()))
        .collect();
    assert_eq!(of_file, places);
}

/// Creates a folder with a database of [`LIST_MAIL`].
pub(super) fn folder_of_list() -> Folder {
    let folder = Folder::new();
    loaded(&folder, &[], &records(&folder, "a.mbox", LIST_MAIL));
    folder
}

#[test]
fn links_only_in_list_fields_are_hidden_counted_and_shown_on_request() {
    let folder = folder_of_list();
    assert_eq!(value::<i64>(&folder, "SELECT count(*) FROM urls"), 8);
    check_database(&folder.path("urls.db"));
    for (args, shown, hidden) in [
        (&["lamp"][..], 4, 4),
        (&["--host", "l.example"], 2, 3),
        (&["--host", "l.example", "--limit", "1"], 1, 3),
        (&["--key", "http://l.example/off"], 0, 2),
        (&["--schemes", "mailto"], 0, 1),
        (&["--host", "m.example"], 2, 0),
    ] {
        let args = [args, &["--format", "jsonl"]].concat();
        let ended = search(&folder, &args);
        assert_eq!(ended.urls().len(), shown, "{args:?}");
        let note = format!("urlspool: {hidden} citation");
        assert_eq!(ended.stderr.contains(&note), 0 < hidden, "{}", ended.stderr);
        assert_eq!(ended.stderr.contains("--list-fields"), 0 < hidden);
        let all = search(&folder, &[&args[..], &["--list-fields"]].concat());
        let is_limited = args.contains(&"--limit");
        assert_eq!(ended.stderr.contains("1 of 2 matches"), is_limited);
        let limit = [shown + hidden, 1][usize::from(is_limited)];
        assert_eq!(all.urls().len(), limit, "{args:?}");
        assert!(!all.stderr.contains("hidden"), "{}", all.stderr);
    }
    let facets = search(&folder, &["--facets", "domain", "--format", "csv"]);
    assert_eq!(
        facets.text(),
        "facet,value,count\ndomain,l.example,2\ndomain,m.example,2\n"
    );
    assert_contains(&facets.stderr, "4 citations hidden");
}

#[test]
fn a_region_is_a_condition() {
    let folder = folder_of_list();
    for (region, count) in [
        ("body,header:List-Archive", 3),
        ("header", 6),
        ("HEADER:x-home", 1),
        ("header:List", 0),
        ("header:List-Archive", 1),
        ("html", 0),
    ] {
        let args = ["--region", region, "--list-fields"];
        assert_eq!(found(&folder, &args).len(), count, "{region}");
    }
    search(&folder, &["--region", "head"]).check(2, "header:FIELD");
}

#[test]
fn statistics_of_a_database_hide_links_only_in_list_fields() {
    let folder = folder_of_list();
    let stats = |args: &[&str]| {
        let database = folder.path("urls.db");
        ended(urlspool(["stats"]).arg(database).args(args), b"")
    };
    let page = folder.path("page.html");
    let end = stats(&["--format", "html", "-o", page.to_str().unwrap()]);
    end.check(0, "4 citations hidden");
    let page = std::fs::read_to_string(page).unwrap();
    assert_contains(
        &page,
        "4 citations of links that occur only in header fields",
    );
    assert_contains(stats(&[]).text(), "Hidden       4 citations of links");
    for (args, urls, hidden) in [(&[][..], 4, true), (&["--list-fields"], 8, false)] {
        let ended = stats(&[&["--format", "json"], args].concat());
        assert_contains(ended.text(), &format!("\"urls\":{urls},"));
        assert_eq!(ended.stderr.contains("4 citations hidden"), hidden);
        let count = if hidden { 4 } else { 0 };
        assert_contains(ended.text(), &format!("\"hidden\":{count},"));
    }
}

/// Datasette offers a search of a table if a full-text table names it as `content="TABLE"`.
#[test]
fn datasette_finds_the_full_text_table() {
    let folder = loaded_folder();
    for table in ["urls", "texts"] {
        let pattern = format!("%VIRTUAL TABLE%USING FTS%content=\"{table}\"%");
        let sql =
            format!("SELECT name FROM sqlite_master WHERE rootpage = 0 AND sql LIKE '{pattern}'");
        assert_eq!(value::<String>(&folder, &sql), "search");
        let sql = format!(
            "SELECT count(*) FROM {table} WHERE rowid IN
               (SELECT rowid FROM search WHERE search MATCH '\"other\"')"
        );
        assert_eq!(value::<i64>(&folder, &sql), 1, "{table}");
    }
}

/// Mail of people who quote, forward, attach or report a URL, with marks or in HTML, a copy of a
/// reported message, and a text that looks like a digest. `|` is a line end.
const ACCUSATIONS: &str = "\
From jane@q.example Mon May  1 08:00:00 2006|From: Jane <jane@q.example>|DATE|> http://m.example/a|\
|-----Original Message-----|http://m.example/b||From desk@r.example Mon May  1 09:00:00 2006|\
From: Desk <desk@r.example>|Subject: http://m.example/c|MIME-Version: 1.0|\
Content-Type: multipart/report; report-type=feedback-report; boundary=b|DATE|\
--b||http://m.example/d|--b|INNER/e|--b|Content-Type: message/feedback-report||\
Reported-URI: http://m.example/g|--b|INNER/f|--b--||From tim@c.example Mon May  1 10:00:00 2006|\
From: Tim <tim@c.example>|Message-ID: <2@c.example>|References: <1@c.example>|\
Content-Type: text/html|DATE|<blockquote><a href=\"http://m.example/h\">x</a></blockquote>||\
From amy@f.example Mon May  1 11:00:00 2006|From: Amy <amy@f.example>|MIME-Version: 1.0|DATE\
Content-Type: multipart/mixed; boundary=b||--b||see http://m.example/i|--b|INNER/i|--b--||\
From bob@g.example Mon May  1 12:00:00 2006|From: Bob <bob@g.example>|DATE|RULE||\
From: Victim <v@victim.example>|Subject: x|DATE|http://m.example/j|";

#[test]
fn only_the_author_of_a_url_is_reported_and_once() {
    let folder = Folder::new();
    let inner = "Content-Type: message/rfc822||From: <j@thief.example>|DATE|http://m.example";
    let mail = ACCUSATIONS.replace("INNER", inner);
    let mail = mail
        .replace("RULE", &"-".repeat(30))
        .replace("DATE", "Date: Mon, 1 May 2006 07:00:00 +0000|");
    let lines = records(&folder, "a.mbox", &mail.replace('|', "\n"));
    loaded(&folder, &[], &lines);
    let reporter = "--reporter=Lamp Desk <abuse@lamp.example>";
    let reports = search(&folder, &["--host=m.example", "--format=xarf", reporter]);
    reports.check(0, "8 matches not reported");
    assert_contains(reports.text(), "\"source_identifier\":\"thief.example\"");
    let links = "\"suspicious_links\":[\"http://m.example/e\",\"http://m.example/f\"]";
    assert_contains(reports.text(), links);
    assert_eq!(reports.text().lines().count(), 2, "{}", reports.text());
}
