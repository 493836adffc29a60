"""Computes the counts of an audit's report with DuckDB, from the records and the seeded plan alone.
Library of audit_check.py.

Links, their citations, years, lists and exclusions come from the records, states and captures from
the plan. Only the sample and the times of the checks come from the database.
"""

import collections, csv, datetime, ipaddress, pathlib, re, sqlite3, urllib.parse

from world import equal

# Links by `key`, from the rows of a file of records. Each row counts once.
LINKS = """
CREATE TABLE records AS SELECT row_number() OVER () AS row, * FROM read_json('{records}',
    format='newline_delimited', maximum_object_size=67108864, union_by_name=true, columns={{
    type: 'VARCHAR', id: 'VARCHAR', key: 'VARCHAR', href: 'VARCHAR', url: 'VARCHAR',
    scheme: 'VARCHAR', host: 'VARCHAR', domain: 'VARCHAR', confidence: 'DOUBLE', region: 'VARCHAR',
    repairs: 'VARCHAR[]', source: 'STRUCT(path VARCHAR, member VARCHAR[])',
    message: 'STRUCT(digest VARCHAR, date VARCHAR, newsgroups VARCHAR[], list_id VARCHAR)'}})
  WHERE type = 'url' AND key IS NOT NULL;
DELETE FROM records WHERE row NOT IN (SELECT min(row) FROM records GROUP BY id, source);
CREATE VIEW rows AS SELECT *, message.date AS date, NOT starts_with(region, 'header:') AS in_body,
  NOT starts_with(region, 'header:') AND 0.8 <= confidence AS confident,
  CASE WHEN length(date) = 20 AND left(date, 10) <= '{today}' AND left(date, 10) >=
    CASE WHEN scheme IN ('http', 'https') THEN '1991-01-01' ELSE '1970-01-02' END
    THEN date END AS cited, round(confidence, 3) = 0.7 AND len(repairs) = 0 AS cut,
  coalesce(trim(message.list_id, '<>'), message.newsgroups[1], source.path) AS list FROM records;
CREATE TABLE links AS SELECT key, any_value(scheme) AS scheme, any_value(host) AS host,
  any_value(domain) AS domain, count(*) AS citations, count(DISTINCT message.digest) AS messages,
  min(cited) AS first_cited, max(cited) AS last_cited, bool_or(in_body) AS in_body,
  bool_or(confident) AS confident, coalesce(left(min(cited), 4),
    CASE WHEN count(date) > 0 THEN 'implausible' ELSE 'undated' END) AS year FROM rows GROUP BY key;
CREATE TABLE firsts AS SELECT key, coalesce(regexp_replace(href, '#.*', ''), url) AS url,
  href IS NOT NULL AS has_href, list, cut FROM rows
  QUALIFY row_number() OVER (PARTITION BY key ORDER BY confident DESC, cited NULLS LAST, row) = 1;
"""

RESERVED = re.compile(
    r"(^|\.)(example|example\.(com|net|org)|test|invalid|localhost|localdomain|local|internal"
    r"|intranet|private|corp|home|lan|mail|alt|onion|i2p|home\.arpa|in-addr\.arpa|ip6\.arpa)\.?$")
SPECIAL = [ipaddress.ip_network(text) for text in (
    "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "224.0.0.0/4",
    "100.64.0.0/10", "192.0.0.0/24", "2001::/23")]


def action_words():
    """The program's two lists of words, used here unchanged."""
    source = (pathlib.Path(__file__).parents[2] / "crates/audit/src/plan/exclusion.rs").read_text()
    lists = re.findall(r"const ACTION_\w+: \[&str; \d+\] = \[(.*?)\];", source, re.S)
    return [re.findall(r'"([^"]+)"', words) for words in lists]


WORDS, TEXTS = action_words()


def asks_for_action(text):
    runs = re.findall(r"[A-Za-z]+", text)
    tokens = {token.lower() for run in runs
              for token in [run, *re.sub(r"([a-z])([A-Z])", r"\1 \2", run).split()]}
    return (any(word in text.lower() for word in TEXTS) or not tokens.isdisjoint(WORDS)
            or any(token.startswith("unsub") for token in tokens))


def is_public(host):
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return "." in host.rstrip(".") and not RESERVED.search(host)
    if address.version == 6 and address.ipv4_mapped:
        address = address.ipv4_mapped
    elif address.version == 6 and int(address) >> 32 == 0:
        address = ipaddress.ip_address(int(address) & 0xFFFFFFFF)
    elif address.version == 6 and address not in ipaddress.ip_network("2000::/3"):
        return False
    return address.is_global and not any(address in network for network in SPECIAL)


def exclusion(scheme, url, has_href, in_body, confident, cut):
    """The reason for excluding a link, as defined in docs/audit.md."""
    if scheme not in ("http", "https"):
        return "scheme"
    if not has_href:
        return "no-href"
    parts = urllib.parse.urlsplit(url)
    text = urllib.parse.unquote(parts.path + ("?" + parts.query if "?" in url else ""))
    reasons = [
        ("header-only", not in_body),
        ("credentials", bool(parts.username or parts.password)),
        ("action", asks_for_action(text)),
        ("shortened", cut or text.endswith("..") or "..." in text or "\u2026" in text),
        ("confidence", not confident and not cut),
        ("private-host", not is_public(parts.hostname)),
    ]
    return next((reason for reason, applies in reasons if applies), None)


def tld(host, has_href):
    last = (host or "").rsplit(".", 1)[-1]
    if (not host or "." not in host or not last or host.startswith("[")
        or re.fullmatch(r"[\d.]+", host) and has_href):
        return None
    return last


def nearest(captures, cited):
    """The day of the 2xx capture nearest to the citation, or of the earliest without a date."""
    days = sorted(day for day, status in captures if status == 200)
    if cited is None:
        return days[0] if days else None
    at = datetime.datetime.fromisoformat(cited.replace("Z", "+00:00"))
    apart = {day: abs(datetime.datetime.strptime(day + "+0000", "%Y%m%d%z") - at) for day in days}
    return min(days, key=lambda day: (apart[day], day), default=None)


def fill(db, audit):
    """Fills the tables `expected` of links from the records and the plan."""
    today = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    db.execute(LINKS.format(records=audit.records.replace("'", "''"), today=today))
    for table in ("audit_links", "audit_checks", "audit_strata"):
        copy_table(db, audit, table)
    rows = db.execute("SELECT key, scheme, host, url, has_href, in_body, confident, cut FROM links "
                      "JOIN firsts USING(key)").fetchall()
    facts = f"{audit.folder}/facts.csv"
    archived = archive_keys(audit)
    cited = dict(db.execute("SELECT url, min(first_cited) FROM links JOIN firsts USING(key) "
                            "GROUP BY url").fetchall())
    planned = set(audit.urls)
    with open(facts, "w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(["key", "reason", "tld", "state", "result", "capture", "outcome"])
        for key, scheme, host, url, has_href, in_body, confident, cut in rows:
            state, status, error = "unknown", None, None
            if url in planned:
                state, status, error = audit.plan.expected(url)
            capture, outcome = None, "unknown"
            if url in archived:
                capture = nearest(audit.plan.captures(archived[url]), cited[url])
                outcome = "captured" if capture else "none"
            writer.writerow([key, exclusion(scheme, url, has_href, in_body, confident, cut) or "",
                             tld(host, has_href) or "", state,
                             status or error or "", capture or "", outcome])
    db.execute(f"""
        CREATE TABLE expected AS SELECT links.*, firsts.url, firsts.list,
          nullif(f.reason, '') AS reason, f.tld, f.state, f.result, f.capture, f.outcome,
          f.state IN ('dead_page', 'dead_host') AS dead
        FROM links JOIN firsts USING(key) JOIN {read_csv(facts)} AS f USING(key);
        CREATE TABLE planned AS SELECT expected.*, chosen.stratum FROM expected
          JOIN audit_links AS chosen USING(key) WHERE chosen.planned = 1""")


def read_csv(path):
    options = """header=true, all_varchar=true, nullstr='\\N', allow_quoted_nulls=true"""
    return f"""read_csv('{path}', {options}, quote='"', escape='"')"""


def copy_table(db, audit, table):
    """Copies a table through a file: DuckDB needs an extension from the network for SQLite."""
    path = f"{audit.folder}/{table}.csv"
    database = sqlite3.connect(f"file:{audit.database}?mode=ro", uri=True)
    with database as source, open(path, "w", newline="", encoding="utf-8") as out:
        rows = source.execute(f"SELECT * FROM {table}")
        writer = csv.writer(out, quoting=csv.QUOTE_ALL)
        writer.writerow([column[0] for column in rows.description])
        writer.writerows(["\\N" if cell is None else cell for cell in row] for row in rows)
    numbers = {"audit_links": ("citations", "messages", "planned"),
               "audit_strata": ("population", "sampled")}.get(table, ())
    casts = ", ".join(f"{name}::BIGINT AS {name}" for name in numbers)
    replace = f"REPLACE ({casts})" if numbers else ""
    db.execute(f"CREATE TABLE {table} AS SELECT * {replace} FROM {read_csv(path)}")


def archive_keys(audit):
    from audit_check import canonical_keys

    if not audit.has_archive:
        return {}
    return {url: key for key, urls in canonical_keys(audit.urls).items() for url in urls}


COLUMNS = "links,alive,redirected,dead_page,dead_host,unknown,archived"
STATES = ", ".join(["count(*)", *(f"count_if(state = '{state}')"
                                  for state in COLUMNS.split(",")[1:-1]),
                    "count_if(outcome = 'captured')"])

AGE_SECONDS = "date_diff('second', first_cited::TIMESTAMP, checked_at::TIMESTAMP)"

# The compared columns of each CSV file, and the SQL that computes them.
TABLES = {
    "cohorts-by-year.csv": (f"year,{COLUMNS}", f"SELECT year, {STATES} FROM planned GROUP BY 1"),
    **{f"by-{name}.csv": (
           f"{name},{COLUMNS}", f"SELECT coalesce({name}, ''), {STATES} FROM planned GROUP BY 1")
       for name in ("scheme", "tld", "domain", "host", "list")},
    "by-age.csv": (f"age_years,{COLUMNS}", f"""
        SELECT {AGE_SECONDS} // 31557600, {STATES} FROM planned JOIN audit_checks USING(key, state)
        WHERE first_cited <= checked_at AND state <> 'unknown' GROUP BY 1"""),
    "shares-by-year.csv": ("year,population,known,dead,dead_archived,lost,not_asked", """
        SELECT year, count(*), count_if(p AND state <> 'unknown'), count_if(p AND dead),
          count_if(p AND dead AND outcome = 'captured'), count_if(p AND dead AND outcome = 'none'),
          count_if(p AND dead AND outcome = 'unknown')
        FROM (SELECT *, key IN (SELECT key FROM planned) AS p FROM expected WHERE reason IS NULL)
        GROUP BY 1"""),
    "exclusions.csv": ("reason,links",
                       "SELECT reason, count(*) FROM expected WHERE reason IS NOT NULL GROUP BY 1"),
    "dead-protocols.csv": ("year,gopher,wais,prospero,telnet", """
        SELECT year, count_if(scheme = 'gopher'), count_if(scheme = 'wais'),
          count_if(scheme = 'prospero'), count_if(scheme = 'telnet') FROM expected
        WHERE scheme IN ('gopher', 'wais', 'prospero', 'telnet') GROUP BY 1"""),
    "dead-links.csv": (
        "url,state,result,citations,messages,first_cited,last_cited,list,archive", """
        SELECT url, state, result, citations, messages, coalesce(first_cited, ''),
          coalesce(last_cited, ''), list, outcome FROM planned WHERE dead"""),
}


def plain(cell):
    """Returns a cell without the apostrophe with which the report guards formulas."""
    text = "" if cell is None else str(cell)
    return text[1:] if re.match(r"'[=+\-@\t\r]", text) else text


def rows_of(folder, name):
    with open(f"{folder}/{name}", newline="", encoding="utf-8") as file:
        yield from csv.DictReader(file)


def compare_table(folder, name, db):
    columns, sql = TABLES[name]
    found = sorted([plain(row[column]) for column in columns.split(",")]
                   for row in rows_of(folder, name))
    expected = sorted([plain(cell) for cell in row] for row in db.execute(sql).fetchall())
    if found != expected:
        for row in [row for row in expected if row not in found][:3]:
            print("     expected", row)
        for row in [row for row in found if row not in expected][:3]:
            print("     found   ", row)
    equal(f"{name}: {len(expected)} rows", found == expected and len(found) > 0, len(expected) > 0)


def compare(audit, folder):
    import duckdb

    db = duckdb.connect()
    db.execute("SET threads=1")
    fill(db, audit)
    differ = db.execute("""
        SELECT key, reason, l.excluded FROM expected AS e FULL JOIN audit_links AS l USING(key)
        WHERE e.url IS DISTINCT FROM l.url OR e.citations <> l.citations
          OR e.messages <> l.messages OR e.first_cited IS DISTINCT FROM l.first_cited
          OR e.last_cited IS DISTINCT FROM l.last_cited OR e.year <> l.year OR e.list <> l.list
          OR reason IS DISTINCT FROM l.excluded""").fetchall()
    for row in differ[:10]:
        print("    ", *row)
    links = db.execute("SELECT count(*) FROM expected").fetchone()[0]
    equal(f"planned otherwise than the records say, of {links} links", len(differ), 0)
    for name in TABLES:
        compare_table(folder, name, db)
    compare_snapshots(folder, db)
    compare_lifetimes(folder, db)
    compare_citations(folder, db)


def compare_snapshots(folder, db):
    """The snapshot of a captured link is the nearest capture."""
    found = sorted((plain(row["url"]), re.search(r"/(\d{8})\d{6}[a-z_]*/", row["snapshot"])[1])
                   for row in rows_of(folder, "dead-links.csv") if row["archive"] == "captured")
    captured = "SELECT url, capture FROM planned WHERE dead AND outcome = 'captured'"
    expected = sorted(db.execute(captured).fetchall())
    equal(f"snapshots of {len(expected)} dead links", found == expected, True)


def compare_lifetimes(folder, db):
    """After one check, a link either ended before it or has not ended yet. Ages are rounded to
    months of a twelfth of 365.25 days."""
    found = sorted((row["end"], int(row["after_months"]), int(row["until_months"] or -1),
                    float(row["weight"])) for row in rows_of(folder, "lifetimes.csv"))
    expected = sorted(db.execute(f"""WITH ages AS (SELECT state,
          s.population / s.sampled AS weight, ({AGE_SECONDS} + 1314900) // 2629800 AS months
        FROM planned JOIN audit_checks USING(key, state) JOIN audit_strata AS s USING(stratum)
        WHERE state <> 'unknown' AND first_cited <= checked_at),
      ends AS (SELECT 'dead' AS name, ['dead_page', 'dead_host'] AS states
        UNION ALL SELECT 'dead_or_redirected', ['dead_page', 'dead_host', 'redirected'])
      SELECT name, CASE WHEN list_contains(states, state) THEN 0 ELSE months END,
        CASE WHEN list_contains(states, state) THEN greatest(months, 1) ELSE -1 END, sum(weight)
      FROM ages, ends GROUP BY ALL""").fetchall())
    same = len(found) == len(expected) and all(
        one[:3] == other[:3] and abs(one[3] - other[3]) < 1e-5 * other[3]
        for one, other in zip(found, expected))
    equal(f"lifetimes.csv: {len(expected)} rows", same, True)


def compare_citations(folder, db):
    """For each of the most cited dead links, at most five citations are shown, one per message."""
    found = collections.Counter(plain(row["url"]) for row in rows_of(folder, "citations.csv"))
    # Among equally often cited links, the first keys are shown.
    expected = dict(db.execute("""
        SELECT url, sum(least(5, messages)) FROM (SELECT * FROM planned WHERE dead
        ORDER BY citations DESC, key LIMIT 100) GROUP BY 1""").fetchall())
    equal(f"citations.csv: {len(found)} links", found == expected, True)
