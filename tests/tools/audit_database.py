"""A loaded database with an audit, filled with seeded rows: a library of audit_report.py and audit_page.js.

    python3 tests/tools/audit_database.py PROGRAM FILE [--links N] [--rows N] [--checks N] [--sample] [--hostile] [--seed N]

The tables are made by the program itself; only their rows are written here.
"""

import argparse
import datetime
import pathlib
import random
import sqlite3
import subprocess
import tempfile

MAIL = """From a Mon Jan  1 00:00:00 1996
From: a@m.test
Date: Mon, 1 Jan 1996 10:00:00 +0000
Message-ID: <1@m.test>

http://info.cern.ch/

"""

STATES = [
    ("alive", 200, None), ("redirected", 200, None), ("dead_page", 404, None), ("dead_page", 410, None),
    ("dead_host", None, "dns"), ("dead_host", None, "timeout"), ("unknown", 503, None), ("unknown", None, "tls"),
]

HOSTILE = [
    "<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "' onmouseover='alert(1)", "</title></style></script><b>",
    "javascript:alert(1)", "=HYPERLINK(\"http://e.test\")", "+1+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1",
    "\u202egnp.exe\u202c", "\u2066\u2069\u200f", "\x1b]8;;http://e.test\x07x\x1b]8;;\x07", "\x1b[2J\x9b31m", "a\nb\u2028c\u2029d",
    "&lt;b&gt;&amp;", "]]><!--", "{{7*7}}${7*7}", "\u0000nul", "long" * 5000, "\U0001f4a9\ufffe", "a,\"b\",c",
]


def empty(program, path):
    """Loads one record and plans, so that all tables exist; then removes the rows."""
    with tempfile.TemporaryDirectory() as folder:
        mail = pathlib.Path(folder, "a.mbox")
        mail.write_text(MAIL)
        scan = subprocess.run([program, "scan", "-q", mail], check=True, capture_output=True)
        subprocess.run([program, "load", "-q", "--into", path], input=scan.stdout, check=True)
    subprocess.run([program, "audit", "plan", "-q", path], check=True)
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA synchronous=OFF")
    db.execute("PRAGMA journal_mode=OFF")
    for table in ["urls", "links", "messages", "sources", "audit_links", "audit_strata", "audit_checks", "audit_captures"]:
        db.execute(f"DELETE FROM {table}")
    return db


def time_of(days):
    start = datetime.datetime(1991, 6, 1, tzinfo=datetime.timezone.utc)
    return (start + datetime.timedelta(days=days)).strftime("%Y-%m-%dT%H:%M:%SZ")


class Rows:
    """The rows of a database with `links` links, cited in `rows` records."""

    def __init__(self, db, arguments):
        self.db, self.random = db, random.Random(arguments.seed)
        self.links, self.rows, self.checks = arguments.links, arguments.rows, arguments.checks
        self.hostile = arguments.hostile
        self.sample = arguments.sample
        self.first_check = 12600  # days after the start: December 2025

    def text(self, plain):
        return self.random.choice(HOSTILE) if self.hostile and self.random.random() < 0.5 else plain

    def fill(self):
        self.db.execute("BEGIN")
        per_message = 4
        messages = max(1, self.rows // per_message)
        self.db.executemany(
            "INSERT INTO sources(id,key,path,mailbox,kind) VALUES(?,?,?,?,'mbox')",
            ((n, b"%016d" % n, self.text(f"mail/{n}.mbox"), "m") for n in range(1, 101)))
        self.db.executemany(
            "INSERT INTO messages(id,digest,mailbox,message_id,date,sender,subject,newsgroups,list_id,reference_ids) "
            "VALUES(?,?,'m',?,?,?,?,'[]',?,'[]')", (self.message(n) for n in range(1, messages + 1)))
        self.urls = []
        for number in range(1, self.links + 1):
            link = self.link(number)
            self.urls.append(link[1])
            self.db.execute("INSERT INTO audit_links VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)", link)
            key, _, host, domain, scheme, _, first, last, citations, messages_of_it, *_ = link
            self.db.execute("INSERT INTO links(id,key,scheme,host,domain,citations,messages,first,last) VALUES(?,?,?,?,?,?,?,?,?)",
                            (number, key, scheme, host, domain, citations, messages_of_it, first, last))
        self.stratify()
        self.cite(messages)
        self.check()
        self.db.execute("COMMIT")

    def message(self, number):
        date = time_of(self.random.random() * 12000)
        return (number, f"{number:032x}", self.text(f"<{number}@m.test>"), date, self.text(f"Jane {number} <j{number}@m.test>"),
                self.text(f"Lamp {number}"), self.text(f"l{number % 40}.m.test"))

    def link(self, number):
        r = self.random
        host_number = int(r.paretovariate(0.6)) % max(1, self.links // 4)
        tld = r.choice(["org", "com", "edu", "de", "se", "uk"])
        domain = f"d{host_number}.{tld}"
        host = self.text(f"www.{domain}") if self.hostile else f"www.{domain}"
        scheme = r.choices(["http", "https", "gopher", "wais", "telnet", "prospero", "ftp"], [80, 12, 3, 1, 1, 1, 2])[0]
        url = f"{scheme}://{host}/{number}" + (self.text("") if self.hostile else "")
        days = r.random() ** 0.8 * 12500
        first = time_of(days)
        year = first[:4]
        if r.random() < 0.03:
            first, year = None, r.choice(["undated", "implausible"])
        last = time_of(days + r.random() * 100) if first else None
        excluded = None
        if scheme not in ("http", "https"):
            excluded = "scheme"
        elif r.random() < 0.2:
            excluded = r.choice(["header-only", "action", "private-host", "confidence"])
        citations = int(r.paretovariate(1.1)) % 100000
        return (f"{url}", url, host, domain, scheme, tld, first, last, citations, citations, year, self.text(f"l{number % 40}.m.test"),
                "", int(excluded is None), excluded)

    def stratify(self):
        if self.sample:
            self.db.execute("UPDATE audit_links SET stratum=scheme WHERE excluded IS NULL")
            self.db.execute("UPDATE audit_links SET planned=0 WHERE excluded IS NULL AND scheme='http' AND length(url)%3>0")
            for name, value in [("sample", "1000"), ("by", "scheme"), ("seed", "7")]:
                self.db.execute("INSERT OR REPLACE INTO audit_meta VALUES(?,?)", (name, value))
        self.db.execute("INSERT INTO audit_strata SELECT stratum, count(*), sum(planned) FROM audit_links "
                        "WHERE excluded IS NULL GROUP BY 1")

    def cite(self, messages):
        """Cites the links in the order of their identifiers, as a load numbers them, and earlier ones again in between."""
        columns = ("id,record_key,record_id,link,message,source,url,scheme,cited,conforms,warnings,hazards,wrapper,repairs,"
                   "confidence,truncated,region,quote_depth,anchor,start,\"end\",line,exact,href")
        marks = ",".join("?" * 24)
        r = self.random

        def row(number):
            message = (number - 1) * messages // self.rows + 1
            newest = min(self.links, number * self.links // self.rows + 1)
            is_new = number == 1 or newest > (number - 1) * self.links // self.rows + 1
            link = newest if is_new else min(newest, int(r.paretovariate(0.4)))
            url = self.urls[link - 1]
            return (number, r.randbytes(16), f"{r.getrandbits(128):032x}", link, message, message % 100 + 1, url,
                    url.split(":")[0], time_of(r.random() * 12000), "[]", "[]", "[]", "none", "[]", 1.0, 0, "body", 0,
                    self.text(None), number * 80, number * 80 + 40, 1, 1, url)

        self.db.executemany(f"INSERT INTO urls({columns}) VALUES({marks})", (row(n) for n in range(1, self.rows + 1)))

    def check(self):
        r = self.random
        for key, year in self.db.execute("SELECT key, year FROM audit_links WHERE planned").fetchall():
            age = 2026 - int(year) if year.isdigit() else 15
            death = r.expovariate(1 / 14)
            for number in range(self.checks):
                if r.random() < 0.02:
                    continue
                is_dead = death < age + number
                state = r.choices(STATES, [0, 0, 40, 10, 30, 10, 5, 5] if is_dead else [80, 10, 0, 0, 0, 0, 6, 4])[0]
                self.db.execute("INSERT INTO audit_checks(key,checked_at,state,status,error,checker) VALUES(?,?,?,?,?,'lychee 0.24.2')",
                                (key, time_of(self.first_check + 365 * number + r.random()), *state))
            if r.random() < 0.8:
                outcome = r.choices(["captured", "none", "failed"], [60, 35, 5])[0]
                stamp = "19990101000000" if outcome == "captured" else None
                self.db.execute("INSERT INTO audit_captures VALUES(?,?,?,?,?,?,?)",
                                (key, "https://web.archive.org/cdx/search/cdx", time_of(self.first_check + 1), stamp, key, 200, outcome))


def make(arguments):
    path = pathlib.Path(arguments.file)
    path.unlink(missing_ok=True)
    db = empty(arguments.program, path)
    Rows(db, arguments).fill()
    db.close()


def parser():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("file")
    parser.add_argument("--links", type=int, default=2000)
    parser.add_argument("--rows", type=int, default=10000)
    parser.add_argument("--checks", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sample", action="store_true")
    parser.add_argument("--hostile", action="store_true")
    return parser


if __name__ == "__main__":
    make(parser().parse_args())
