#!/usr/bin/env python3
"""Runs a whole audit with pywb, in a private network where a seeded plan answers for every host.

usage: audit_check.py [URLSPOOL] [--links N] [--seed N] [--records FILE] [--sample N] [--kills N]
[--keep FOLDER]

Creates an mbox that cites N links (or takes existing records), loads and plans it, checks the
links, asks a local pywb for captures, and writes the report. Then DuckDB computes the counts of
each CSV file again, from the records and the seeded plan alone (audit_counts.py). The plan has all
kinds of hosts and pages (audit_world.py). No private address is ever contacted.

With --kills, `check`, `archive`, `import`, `report --format bag` and `save` are each killed N times
at random moments. The final state must be the same (audit_steps.py).
"""

import argparse, importlib.util, io, os, random, signal, socket, sqlite3, subprocess, sys, tempfile
import time

import audit_steps
import audit_world
from audit_world import SLOW_SECONDS, TIMEOUT_SECONDS, Page, Plan, Trap, World, rows
from world import equal, finish, free_port, output, run, skip, start_quietly


NOT_CHECKED = """
gopher://h.cern.ch/1 telnet://h.cern.ch/ wais://h.cern.ch/db http://h.cern.ch/unsubscribe?x=
http://u:p@h.cern.ch/ http://10.0.0.1/ http://www.example.com/ http://h.cern.ch/a/...""".split()


def mbox(path, links):
    """Cites each link once, each tenth again a year later, and some links that are not checked."""
    with open(path, "w") as out:
        for number in range(links + links // 10):
            link = number if number < links else (number - links) * 10
            year = 1994 + link % 25 + (links <= number)
            out.write(f"From a Mon Jan  1 00:00:00 1996\nMessage-ID: <{number}@m.test>\n")
            if link % 50:
                out.write(f"Date: 2 Jan {year} 10:{link // 60 % 60:02}:{link % 60:02} +0000\n")
            out.write(f"List-Id: <l{link % 7}.m.test>\n\n")
            scheme = "https" if link % 3 == 0 else "http"
            out.write(f"{scheme}://h{link % (links // 3 + 1)}.cern.ch/page{link}?x={link}&y=%7E\n")
            out.write(f"{NOT_CHECKED[number % len(NOT_CHECKED)]}\n\n")


def succeed(command, name):
    ended = run(*command)
    if ended.returncode != 0:
        print(ended.stderr, end="")
    equal(f"{name} ends", ended.returncode, 0)


LONGEST_RUN_SECONDS = 8


def killed_runs(command, kills, rng, restart):
    """Runs a command, and kills its process group at random moments until `kills` have hit it.

    Each run continues where the previous one was killed. After a run that ended, `restart` deletes
    its results; the results of the last kill stay. Returns the number of kills that hit.
    """
    begun, hits = time.monotonic(), 0
    run(*command)
    longest = min(time.monotonic() - begun, LONGEST_RUN_SECONDS)
    restart()
    for _ in range(12 * kills):
        process = start_quietly(command, start_new_session=True)
        try:
            process.wait(rng.random() * longest)
            restart()
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            hits += process.wait() == -signal.SIGKILL
        if hits == kills:
            break
    return hits


def deletion(database, table, condition="true"):
    def delete():
        with sqlite3.connect(database) as db:
            db.execute(f"DELETE FROM {table} WHERE {condition}")
    return delete


class Audit:
    def __init__(self, args, folder):
        self.args, self.folder = args, folder
        self.rng, self.has_archive = random.Random(args.seed), False
        self.program, self.database = os.path.abspath(args.program), f"{folder}/urls.db"
        self.records = os.path.abspath(args.records) if args.records else f"{folder}/records.jsonl"
        if not args.records:
            mbox(f"{folder}/a.mbox", args.links)
            with open(self.records, "wb") as out:
                out.write(output(self.program, "scan", "-q", f"{folder}/a.mbox"))
        output(self.program, "load", "-q", "--into", self.database, self.records)
        sample = ["--sample", str(args.sample), "--by", "year",
                  "--seed", str(args.seed)] if args.sample else []
        succeed([self.program, "audit", "plan", self.database, "-q",
                 "--contact", "me@m.test", *sample], "plan")
        self.urls = [url for (url,) in rows(self.database, "SELECT DISTINCT url FROM audit_links "
                                                           "WHERE planned ORDER BY url")]
        self.plan = Plan(args.seed, self.urls)
        print(f"{len(self.urls)} URLs are planned, of {len(self.plan.hosts)} hosts")
        self.world = World(self.plan, self.urls, folder)

    def kill(self, name, command, restart):
        if self.args.kills:
            hits = killed_runs(command, self.args.kills, self.rng, restart)
            equal(f"kills that hit `{name}`", hits, self.args.kills)

    def check(self):
        assert TIMEOUT_SECONDS < SLOW_SECONDS
        command = [self.program, "audit", "check", self.database,
                   "--timeout", str(TIMEOUT_SECONDS), "--retries",
                   "0" if self.args.kills else "1"]
        self.kill("check", command, deletion(self.database, "audit_checks"))
        started, Page.requests = time.monotonic(), 0
        succeed(command, "check")
        print(f"checked in {time.monotonic() - started:.1f} s, {Page.requests} requests")
        succeed(command, "check again")
        wrong = []
        for url, *found in rows(self.database, "SELECT url, state, status, error FROM audit_links "
                                               "JOIN audit_checks USING(key)"):
            expected = self.plan.expected(url)
            if tuple(found) != expected:
                wrong.append((url, found, expected,
                              self.plan.host(audit_world.urllib.parse.urlsplit(url).hostname)))
        for line in wrong[:20]:
            print("    ", *line)
        equal("links with another state, code or error than planned", len(wrong), 0)
        equal("URLs with a result", rows(self.database, "SELECT count(DISTINCT url) "
            "FROM audit_checks JOIN audit_links USING(key)")[0][0], len(self.urls))
        most = rows(self.database, "SELECT count(*) FROM (SELECT key FROM audit_checks "
                                   "GROUP BY key HAVING count(*) > 1)")[0][0]
        equal("links with more than one result", most, 0)
        equal("contacts of private servers", Trap.contacts, 0)

    def archive(self):
        if importlib.util.find_spec("pywb") is None or importlib.util.find_spec("warcio") is None:
            skip("archive", "pywb or warcio is not installed")
            return
        self.has_archive = True
        pywb, port = start_pywb(self.folder, self.plan, self.urls)
        try:
            ask = [self.program, "audit", "archive", self.database,
                   "--cdx", f"http://127.0.0.1:{port}/c/cdx",
                   "--rate", "60000", "-q"]
            self.kill("archive", ask, audit_steps.forget_captures(self.database))
            started = time.monotonic()
            succeed(ask, "archive")
            print(f"asked in {time.monotonic() - started:.1f} s")
        finally:
            pywb.terminate()
            pywb.wait()

    def report(self):
        csv = f"{self.folder}/csv"
        succeed([self.program, "audit", "report", self.database,
                 "--format", "csv", "-o", csv], "report")
        if importlib.util.find_spec("duckdb") is None:
            skip("counts", "duckdb is not installed")
            return
        import audit_counts
        audit_counts.compare(self, csv)

    def import_results(self):
        """Imports results for all links, twice. This comes after the report, because the imported
        results are older and the newest result counts."""
        results = f"{self.folder}/results.csv"
        with open(results, "w") as out:
            out.write("url,status,checked_at\n")
            out.writelines(f"\"{url}\",404,2020-01-01\n" for url in self.urls)
        command = [self.program, "audit", "import", self.database, results, "-q"]
        self.kill("import", command,
                  deletion(self.database, "audit_checks", "checker = 'imported'"))
        for name in ("import", "import again"):
            succeed(command, name)
        found = rows(self.database, "SELECT count(*) FROM audit_checks WHERE checker = 'imported'")
        equal("imported results", found,
              rows(self.database, "SELECT count(*) FROM audit_links WHERE planned"))
        equal("integrity", rows(self.database, "SELECT * FROM pragma_integrity_check"), [("ok",)])


def canonical_keys(urls):
    """The planned URLs by pywb's key, which ignores schemes, `www.` and case."""
    from pywb.utils.canonicalize import canonicalize

    keys = {}
    for url in urls:
        keys.setdefault(canonicalize(url), []).append(url)
    return keys


def start_pywb(folder, plan, urls):
    from warcio.statusandheaders import StatusAndHeaders
    from warcio.warcwriter import WARCWriter

    with open(f"{folder}/t.warc.gz", "wb") as out:
        writer = WARCWriter(out, gzip=True)
        for key, same in canonical_keys(urls).items():
            for day, status in plan.captures(key):
                head = StatusAndHeaders(f"{status} X", [("Content-Type", "text/html")],
                                        protocol="HTTP/1.1")
                writer.write_record(writer.create_warc_record(
                    same[0], "response", payload=io.BytesIO(b"page"), http_headers=head,
                    warc_headers_dict={"WARC-Date": f"{day[:4]}-{day[4:6]}-{day[6:]}T00:00:00Z"}))
    tools = os.path.dirname(sys.executable)
    for command in (["init", "c"], ["add", "c", "t.warc.gz"]):
        output(f"{tools}/wb-manager", *command, cwd=folder)
    port = free_port()
    server = start_quietly([f"{tools}/wayback", "-p", str(port), "-b", "127.0.0.1"], cwd=folder)
    for _ in range(200):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return server, port
        time.sleep(0.1)
    raise SystemExit("pywb did not start")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", nargs="?", default="target/release/urlspool")
    parser.add_argument("--links", type=int, default=1_200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--records", help="a file of records instead of a generated mbox")
    parser.add_argument("--sample", type=int, help="plan a sample of so many links")
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--keep", help="a folder that keeps database, report and CSV files")
    args = parser.parse_args()
    if not os.path.exists(args.program):
        print(f"{args.program} does not exist")
        sys.exit(2)
    audit_world.enter_network()
    sys.stdout.reconfigure(line_buffering=True)
    with tempfile.TemporaryDirectory() as folder:
        if args.keep:
            os.makedirs(args.keep, exist_ok=True)
            folder = os.path.abspath(args.keep)
        audit = Audit(args, folder)
        audit.check()
        audit_steps.dead_hosts(audit)
        audit_steps.rebinding_hosts(audit)
        audit.archive()
        audit.report()
        audit_steps.bag(audit)
        if audit.has_archive:
            audit_steps.save(audit)
        audit.import_results()
    finish()


if __name__ == "__main__":
    main()
