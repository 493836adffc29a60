"""Steps of an audit other than the check, with kills. Library of audit_check.py.

A bag has the same bytes after kills, and bagit accepts it. `save` sends each link to a stub of a
save service: once, or at most twice after a kill. No link is published.
"""

import collections, filecmp, glob, http.server, json, os, shutil, sqlite3, subprocess, sys
import threading, urllib.parse

from audit_world import EXCLUDED, Trap, rows
from world import equal, output, run, skip, start_quietly

SAVED_LINKS = 25


def checked(audit, hosts):
    """Checks a link per host in a new database. Returns exit code and (URL, state, code, error)."""
    folder = f"{audit.folder}/some-hosts"
    os.makedirs(folder)
    with open(f"{folder}/a.mbox", "w") as out:
        out.write("From a Mon Jan  1 00:00:00 1996\nMessage-ID: <1@m.test>\n\n"
                  + "".join(f"http://{host}/\n" for host in hosts))
    database = f"{folder}/urls.db"
    records = output(audit.program, "scan", "-q", f"{folder}/a.mbox")
    output(audit.program, "load", "-q", "--into", database, input=records)
    output(audit.program, "audit", "plan", "-q", database)
    ended = run(audit.program, "audit", "check", "-q", database, "--retries", "0")
    results = rows(database, "SELECT url, state, status, error "
                             "FROM audit_links JOIN audit_checks USING(key)")
    shutil.rmtree(folder)
    return ended.returncode, results


def dead_hosts(audit):
    """A first check with only dead hosts is stored only if the name service works."""
    for name, refused, expected in (("the name service works", 1, (0, 13)),
                                    ("no name is found", 0, (69, 0))):
        hosts = [f"gone{number}.cern.ch" for number in range(12)] + [
            f"refused{number}.cern.ch" for number in range(refused)]
        audit.plan.hosts.update({host: "refused" for host in hosts if host.startswith("refused")})
        code, results = checked(audit, hosts)
        dead = [state for _, state, _, _ in results if state == "dead_host"]
        equal(f"a check of dead hosts, {name}: exit code, results", (code, len(dead)), expected)


def rebinding_hosts(audit):
    """Each link of a host with alternating addresses is as planned or was not contacted."""
    hosts = [f"rebinding{number}.cern.ch" for number in range(40)]
    audit.plan.hosts.update({host: "rebinding" for host in hosts})
    code, results = checked(audit, hosts)
    wrong = [row for row in results if row[1:] not in (EXCLUDED, audit.plan.expected(row[0]))]
    excluded = sum(row[1:] == EXCLUDED for row in results)
    equal("hosts that change their address: exit code, results, wrong ones",
          (code, len(results), wrong), (0, 40, []))
    equal("some of them were not contacted", 0 < excluded < 40, True)
    equal("contacts of private servers", Trap.contacts, 0)


def forget_captures(database):
    def forget():
        with sqlite3.connect(database) as db:
            db.execute("DELETE FROM audit_captures")
            db.execute("DELETE FROM audit_asked")
    return forget


def same_files(one, other):
    compared = filecmp.dircmp(one, other)
    names = compared.left_list == compared.right_list
    differ = filecmp.cmpfiles(one, other, compared.common_files, shallow=False)[1]
    return names and not differ and all(same_files(f"{one}/{name}", f"{other}/{name}")
                                        for name in compared.common_dirs)


def bag(audit):
    one, other = f"{audit.folder}/evidence", f"{audit.folder}/evidence-again"
    command = [audit.program, "audit", "report", audit.database,
               "-q", "--format", "bag", "-o", one]
    audit.kill("report --format bag", command, lambda: shutil.rmtree(one, ignore_errors=True))
    shutil.rmtree(one, ignore_errors=True)
    for folder in (one, other):
        ended = run(*command[:-1], folder)
        equal("bag ends", (ended.returncode, ended.stderr), (0, ""))
    equal("two bags are the same bytes", same_files(one, other), True)
    equal("what the kills left", glob.glob(f"{one}*-partial"), [])
    bagit = f"{os.path.dirname(sys.executable)}/bagit.py"
    if not os.path.exists(bagit):
        skip("bag", "bagit is not installed")
        return
    validate = [bagit, "--validate", one]
    equal("bagit finds the bag valid", run(*validate).returncode, 0)
    with open(f"{one}/data/tables/by-host.csv", "a") as file:
        file.write("x\n")
    equal("bagit finds a row that was added", run(*validate).returncode, 1)


class StubSaveService(http.server.BaseHTTPRequestHandler):
    """A stub that answers as Save Page Now is documented to, and publishes no link."""

    sent = collections.Counter()
    polls = collections.Counter()

    def log_message(self, *args):
        pass

    def reply(self, fields):
        body = json.dumps(fields).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        url = urllib.parse.parse_qs(body)["url"][0]
        self.sent[url] += 1
        self.reply({"url": url, "job_id": f"job-{len(self.sent)}-{self.sent[url]}"})

    def do_GET(self):
        self.polls[self.path] += 1
        is_done = 1 < self.polls[self.path]
        self.reply({"status": "success", "timestamp": "20261127100000"}
                   if is_done else {"status": "pending"})


def save(audit):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), StubSaveService)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with sqlite3.connect(audit.database) as db:
        db.execute("DELETE FROM audit_saves")
    listed = run(audit.program, "audit", "save", audit.database, "--format", "seeds")
    living = {url for (url,) in rows(audit.database, """
        SELECT url FROM audit_links JOIN audit_checks USING(key) JOIN audit_captures USING(key)
        WHERE state = 'alive' AND outcome = 'none'""")}
    equal("links to save that do not live, or are archived",
          set(listed.stdout.splitlines()) - living, set())
    os.environ.update(IA_ACCESS_KEY_ID="access", IA_SECRET_ACCESS_KEY="secret")
    service = f"http://127.0.0.1:{server.server_port}/save"
    command = [audit.program, "audit", "save", audit.database,
               "-q", "--send", "--service", service]
    kills = audit.args.kills
    hits = 0
    for _ in range(kills):
        process = start_quietly([*command, "--limit", "2"])
        try:
            process.wait(audit.rng.random() * 0.5)
        except subprocess.TimeoutExpired:
            process.kill()
            hits += process.wait() != 0
    equal("kills that hit `save`", hits, kills)
    known = rows(audit.database, "SELECT count(*) FROM audit_saves")[0][0]
    limit = str(max(1, min(3, SAVED_LINKS - known)))
    ended = run(*command, "--limit", limit)
    equal("save ends", (ended.returncode, ended.stderr), (0, ""))
    outcomes = rows(audit.database, "SELECT outcome, count(*) FROM audit_saves GROUP BY 1")
    stored = {url for (url,) in rows(audit.database, "SELECT url FROM audit_saves")}
    equal("URLs sent, and not saved", [name for name, _ in outcomes if name != "saved"], [])
    sent = StubSaveService.sent
    print(f"{sum(sent.values())} requests to save {len(sent)} URLs; {outcomes}")
    equal("URLs that the stub was sent and the table lacks", set(sent) - stored, set())
    equal("URLs sent again without a kill", max(0, sum(sent.values()) - len(sent) - hits), 0)
    equal("URLs that were sent and not due", set(sent) - set(listed.stdout.splitlines()), set())
    server.shutdown()
