#!/usr/bin/env python3
"""A whole audit with lychee and pywb, against a server that answers by a seeded plan.

usage: audit_check.py [URLSPOOL] [--links N] [--kills N] [--seed N] [--records FILE...]

Makes an mbox that cites N links (or takes records that were scanned already), loads and plans it, checks the links with lychee
against a local server, and asks a local pywb for captures of a known share. lychee's --remap leads the planned hosts to the server,
which --allow-private permits. Then every count is computed again by SQL from the seeded plan alone, and compared.

The server answers: alive, 301 within and across hosts, a redirect to the front page, to a private address, 404, 410, 403, 429 with
Retry-After, 500, slow, closed without an answer, and no server at all.

With --kills, `check`, `archive` and `import` are killed N times in turn at random moments; the end must be the same.

Needs lychee on PATH, and a Python with pywb and warcio (pip install pywb warcio): without pywb that part is skipped.
"""

import argparse
import http.server
import importlib.util
import io
import os
import random
import re
import shlex
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import zlib

KINDS = ["alive", "within", "across", "front", "private", "404", "410", "403", "429", "500", "slow", "closed", "refused"]
STATES = {
    "alive": "alive", "within": "alive", "across": "redirected", "front": "redirected", "private": "unknown",
    "404": "dead_page", "410": "dead_page", "403": "unknown", "429": "unknown", "500": "unknown", "slow": "dead_host",
    "closed": "unknown", "refused": "dead_host",
}
WEIGHTS = [40, 10, 5, 5, 3, 15, 5, 3, 1, 3, 1, 3, 6]
SEED = 1


def kind_of(text):
    """The kind of a link, by its host and path alone."""
    return random.Random(f"{SEED}/{text}").choices(KINDS, WEIGHTS)[0]


class Server(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    requests = 0
    private = 0

    def log_message(self, *args):
        pass

    def do_GET(self):
        Server.requests += 1
        text = self.path[1:]
        kind = kind_of(text) if not text.startswith(("ok/", "index/")) and text else "alive"
        port = self.server.server_address[1]
        places = {
            "within": f"http://127.0.0.1:{port}/ok/{text}",
            "across": f"http://localhost:{port}/ok/{text}",
            "front": f"http://127.0.0.1:{port}/",
            "private": f"http://127.0.0.3:{PRIVATE_PORT}/",
        }
        if kind == "closed":
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        if kind == "slow":
            time.sleep(6)
        code = {"404": 404, "410": 410, "403": 403, "429": 429, "500": 500}.get(kind, 301 if kind in places else 200)
        self.send_response(code)
        if kind in places:
            self.send_header("Location", places[kind])
        if kind == "429":
            self.send_header("Retry-After", "1")
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")


class Private(http.server.BaseHTTPRequestHandler):
    """A server that nobody may contact."""

    def log_message(self, *args):
        pass

    def do_GET(self):
        Server.private += 1
        self.send_error(404)


class QuietServer(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """A checker that waits no longer closes its connection."""


def serve(handler, address):
    server = QuietServer((address, 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def mbox(path, links):
    with open(path, "w") as out:
        for number in range(links):
            year = 1994 + number % 25
            out.write(f"From a Mon Jan  1 00:00:00 1996\nFrom: a@m.test\nMessage-ID: <{number}@m.test>\n")
            out.write(f"Date: 2 Jan {year} 10:{number // 60 % 60:02}:{number % 60:02} +0000\n\n")
            out.write(f"http://h{number % (links // 3 + 1)}.cern.ch/page{number}?x={number}&y=%7E\n\n")


class Checks:
    passed = failed = skipped = 0

    def equal(self, name, found, expected):
        if found == expected:
            self.passed += 1
            print(f"ok   {name}: {found}")
        else:
            self.failed += 1
            print(f"FAIL {name}: found {found}, expected {expected}")


def rows(database, sql):
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as db:
        return db.execute(sql).fetchall()


def due_texts(database):
    """The planned URLs, without their scheme: the server sees these as paths."""
    return [url.split("://", 1)[1] for (url,) in rows(database, "SELECT DISTINCT url FROM audit_links WHERE planned")]


def check_command(program, database, refused_port, refused):
    """The command that checks. URLs without a server are led to a port where nobody listens, all others to the server."""
    options = ["--timeout", "3", "--max-retries", "1", "--retry-wait-time", "1", "--host-concurrency", "64",
               "--host-request-interval", "1ms"]
    if refused:
        texts = "|".join(re.escape(text) for text in refused)
        options += ["--remap", f"^https?://({texts})$ http://127.0.0.1:{refused_port}/$1"]
    # Not what a redirect names: 127.0.0.1 and localhost.
    options += ["--remap", f"^https?://((?:[^1l]|1[^2]|12[^7]|l[^o]|lo[^c]).*)$ http://127.0.0.1:{PORT}/$1"]
    return [program, "audit", "check", database, "--allow-private", "127.0.0.1", "--allow-private", "localhost",
            "--checker-args", shlex.join(options)]


def run(command, checks, name):
    ended = subprocess.run(command, capture_output=True, text=True)
    if ended.returncode != 0:
        print(ended.stderr, end="")
    checks.equal(f"{name} ends", ended.returncode, 0)


def killed_runs(command, kills, rng, longest):
    """Runs a command, and kills it at random moments, with its process group. Returns how many kills hit it."""
    hits = 0
    for _ in range(kills):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        time.sleep(rng.random() * longest)
        hits += process.poll() is None
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
    return hits


def compare_states(database, checks, texts):
    expected = {}
    for text in texts:
        state = STATES[kind_of(text)]
        expected[state] = expected.get(state, 0) + 1
    newest = """SELECT state, count(DISTINCT url) FROM audit_links JOIN audit_checks USING(key)
      WHERE planned AND id = (SELECT id FROM audit_checks c WHERE c.key = audit_links.key ORDER BY checked_at DESC, id DESC LIMIT 1)
      GROUP BY 1"""
    checks.equal("states", dict(rows(database, newest)), expected)
    wrong = [
        (text, kind_of(text), state, status, error)
        for url, state, status, error in rows(database, "SELECT url, state, status, error FROM audit_links JOIN audit_checks USING(key)")
        for text in [url.split("://", 1)[1]] if state != STATES[kind_of(text)]
    ]
    for line in wrong[:10]:
        print("    ", *line)
    checks.equal("links in a wrong state", len(wrong), 0)
    checks.equal("contacts of the private server", Server.private, 0)


def is_archived(text):
    return zlib.crc32(text.encode()) % 100 < 40


def start_pywb(folder, urls):
    from warcio.statusandheaders import StatusAndHeaders
    from warcio.warcwriter import WARCWriter

    with open(f"{folder}/t.warc.gz", "wb") as out:
        writer = WARCWriter(out, gzip=True)
        for url in urls:
            text = url.split("://", 1)[1]
            # A page that is not archived has a capture of an error.
            captures = [("1993-01-01", "200 OK"), ("2022-01-01", "200 OK")] if is_archived(text) else [("2000-01-01", "404 Not Found")]
            for day, status in captures:
                head = StatusAndHeaders(status, [("Content-Type", "text/html")], protocol="HTTP/1.1")
                writer.write_record(writer.create_warc_record(
                    url, "response", payload=io.BytesIO(b"page"), http_headers=head, warc_headers_dict={"WARC-Date": day + "T00:00:00Z"}))
    tools = os.path.dirname(sys.executable)
    for command in (["init", "c"], ["add", "c", "t.warc.gz"]):
        subprocess.run([f"{tools}/wb-manager", *command], cwd=folder, check=True, capture_output=True)
    port = free_port()
    server = subprocess.Popen([f"{tools}/wayback", "-p", str(port), "-b", "127.0.0.1"], cwd=folder,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(200):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return server, port
        time.sleep(0.1)
    raise SystemExit("pywb did not start")


def compare_captures(database, checks, texts):
    expected = {"captured": sum(map(is_archived, texts)), "none": sum(not is_archived(text) for text in texts)}
    expected = {name: count for name, count in expected.items() if count}
    found = dict(rows(database, "SELECT outcome, count(DISTINCT url) FROM audit_captures JOIN audit_links USING(key) GROUP BY 1"))
    checks.equal("captures", found, expected)
    # 1993 and 2022: the middle lies in July 2007.
    far = """SELECT count(*) FROM audit_captures JOIN audit_links USING(key) WHERE outcome = 'captured'
      AND substr(timestamp, 1, 4) <> iif(first_cited IS NULL OR first_cited < '2007-07-03', '1993', '2022')"""
    checks.equal("captures that are not the nearest", rows(database, far)[0][0], 0)


def main():
    global PORT, PRIVATE_PORT, SEED
    parser = argparse.ArgumentParser()
    parser.add_argument("program", nargs="?", default="target/release/urlspool")
    parser.add_argument("--links", type=int, default=1_200)
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--records", nargs="*", help="files of records instead of a generated mbox")
    args = parser.parse_args()
    SEED = args.seed
    program = os.path.abspath(args.program)
    if not os.path.exists(program):
        print(f"{program} does not exist")
        sys.exit(2)
    if shutil.which("lychee") is None:
        print("SKIPPED: lychee is not installed")
        sys.exit(77)
    checks, rng = Checks(), random.Random(args.seed)
    PORT, PRIVATE_PORT = serve(Server, "0.0.0.0"), serve(Private, "127.0.0.3")
    with tempfile.TemporaryDirectory() as folder:
        database = f"{folder}/urls.db"
        if args.records:
            subprocess.run([program, "load", "-q", "--into", database, *args.records], check=True)
        else:
            mbox(f"{folder}/a.mbox", args.links)
            records = subprocess.run([program, "scan", "-q", f"{folder}/a.mbox"], check=True, capture_output=True).stdout
            subprocess.run([program, "load", "-q", "--into", database], input=records, check=True)
        plan = [program, "audit", "plan", database, "-q"]
        if args.records:
            plan += ["--sample", str(args.links), "--by", "scheme"]
        run(plan, checks, "plan")
        texts = due_texts(database)
        print(f"{len(texts)} URLs are planned")
        refused = [text for text in texts if kind_of(text) == "refused"]
        command = check_command(program, database, free_port(), refused)
        started = time.monotonic()
        if args.kills:
            hits = killed_runs(command, args.kills, rng, 12)
            print(f"{hits} of {args.kills} kills hit `check`")
        run(command, checks, "check")
        print(f"checked in {time.monotonic() - started:.1f} s, {Server.requests} requests")
        run(command, checks, "check again")
        compare_states(database, checks, texts)
        most = rows(database, "SELECT count(*) FROM (SELECT key FROM audit_checks GROUP BY key HAVING count(*) > 1)")[0][0]
        checks.equal("links with more than one result", most, 0)

        results = f"{folder}/results.csv"
        with open(results, "w") as out:
            out.write("url,status,checked_at\n")
            for text in texts:
                out.write(f"\"http://{text}\",404,2020-01-01\n")
        imported = [program, "audit", "import", database, results, "-q"]
        if args.kills:
            hits = killed_runs(imported, args.kills, rng, 0.1)
            print(f"{hits} of {args.kills} kills hit `import`")
        for name in ("import", "import again"):
            run(imported, checks, name)
        count = rows(database, "SELECT count(*) FROM audit_checks WHERE checker = 'imported'")[0][0]
        http = rows(database, "SELECT count(*) FROM audit_links WHERE planned AND url LIKE 'http://%'")[0][0]
        checks.equal("imported results", count, http)
        checks.equal("integrity", rows(database, "SELECT * FROM pragma_integrity_check"), [("ok",)])

        if importlib.util.find_spec("pywb") is None:
            checks.skipped += 1
            print("SKIPPED: archive: pywb is not installed")
        else:
            urls = [url for (url,) in rows(database, "SELECT DISTINCT url FROM audit_links WHERE planned")]
            pywb, port = start_pywb(folder, urls)
            try:
                ask = [program, "audit", "archive", database, "--cdx", f"http://127.0.0.1:{port}/c/cdx", "--contact", "me@m.test",
                       "--rate", "60000", "-q"]
                if args.kills:
                    hits = killed_runs(ask, args.kills, rng, 1)
                    print(f"{hits} of {args.kills} kills hit `archive`")
                run(ask, checks, "archive")
                compare_captures(database, checks, texts)
            finally:
                pywb.terminate()
                pywb.wait()
    print(f"{checks.passed} passed, {checks.failed} failed, {checks.skipped} skipped")
    sys.exit(1 if checks.failed else 0)


if __name__ == "__main__":
    main()
