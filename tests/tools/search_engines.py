#!/usr/bin/env python3
"""Loads into a real OpenSearch or Elasticsearch, which `opensearch.sh` starts, and checks that each record is a document once.

    tests/tools/search_engines.py BINARY [--records N] [--kills N] [--server-kills N] [--days N] [--file RECORDS.jsonl]
        [--engine opensearch|elasticsearch] [--seed N] [--heap 1g] [--only PART...]

BINARY has the feature `elasticsearch`. The parts: `load` (a load, its repetition, and the time of the same documents sent to `_bulk` by
curl, uncompressed), `dashboards` (the fields that they name are fields of the index), `reindex` (a copy behind the alias, killed at
random moments, and an index as version 0.1 made it), `kills` (the load is killed at random moments), `server` (the server is killed
while a load runs, which waits for it), `two` (two loads at a time), `gone`, `disk` (the flood-stage watermark is set below what the
disk has, and set back while a load waits), `versions` (an index of another program, one of another version), `days` (a daemon's segments of so many days
are followed, and the server is killed in between), `queue` (four loads at a server whose queue of writes holds one request). --file
loads these records in place of made ones.
"""

import argparse
import concurrent.futures
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
START_SECONDS, LOAD_SECONDS = 240, 1800
PARTS = ["load", "dashboards", "reindex", "kills", "server", "two", "gone", "disk", "versions", "days", "queue"]
# Exit codes of the loader.
USAGE, UNREACHABLE, OUTPUT = 2, 69, 74


class Server:
    def __init__(self, engine, folder, heap):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.engine, self.folder, self.heap = engine, folder, heap
        self.url = f"http://127.0.0.1:{self.port}"
        self.process = None

    def start(self, *settings):
        log = open(os.path.join(self.folder, "server.log"), "ab")
        self.process = subprocess.Popen(
            [os.path.join(HERE, "opensearch.sh"), self.folder, str(self.port), *settings],
            stdout=log, stderr=log, env={**os.environ, "ENGINE": self.engine, "HEAP": self.heap})
        end = time.time() + START_SECONDS
        while time.time() < end:
            if self.process.poll() is not None:
                return self.process.returncode
            try:
                self.ask("GET", "/_cluster/health?wait_for_status=yellow&timeout=60s")
                return 0
            except OSError:
                time.sleep(0.3)
        return 1

    def kill(self, number=signal.SIGKILL):
        if self.process and self.process.poll() is None:
            self.process.send_signal(number)
            self.process.wait()

    def ask(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"Content-Type": "application/json"}, method=method)
        with urllib.request.urlopen(request, timeout=120) as reply:
            return json.load(reply)

    def count(self, index):
        self.ask("POST", f"/{index}/_refresh")
        return self.ask("GET", f"/{index}/_count")["count"]


class Checks:
    def __init__(self):
        self.passed = self.failed = 0

    def equal(self, name, got, wanted):
        if got == wanted:
            self.passed += 1
            print(f"ok: {name}: {got}", flush=True)
        else:
            self.failed += 1
            print(f"FAILED: {name}: {got}, not {wanted}", flush=True)


def write_records(binary, folder, count):
    """One record a message; returns the file."""
    mail = os.path.join(folder, "a.mbox")
    with open(mail, "w") as out:
        for n in range(count):
            out.write(f"From a@b.example Thu Jan  4 10:00:00 1996\nFrom: a@b.example\nMessage-ID: <{n}@b.example>\n"
                      f"Date: Thu, 4 Jan 1996 10:00:00 +0000\nSubject: s {n}\n\nSee http://h{n % 997}.example/{n}\n\n")
    path = os.path.join(folder, "a.jsonl")
    with open(path, "wb") as out:
        subprocess.run([binary, "scan", "-q", mail], stdout=out, check=True)
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--server-kills", type=int, default=2)
    parser.add_argument("--days", type=int, default=30)
    parser.add_argument("--file")
    parser.add_argument("--heap", default="1g")
    parser.add_argument("--only", nargs="*", default=PARTS, choices=PARTS)
    parser.add_argument("--engine", default="opensearch")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="engines")
    server = Server(args.engine, folder, args.heap)
    # So that the server ends too when this is ended by `timeout`.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(2))
    try:
        code = server.start()
        if code != 0:
            with open(os.path.join(folder, "server.log"), errors="replace") as log:
                print("".join(log.readlines()[-15:]), end="")
            if code != 77:
                print("the server does not start")
            return 77 if code == 77 else 2
        checks = Checks()
        check(args, server, folder, checks)
        print(f"{checks.passed} passed, {checks.failed} failed, 0 skipped")
        return int(checks.failed > 0)
    finally:
        server.kill()
        shutil.rmtree(folder, ignore_errors=True)


class Loads:
    """Loads of one file of records into indexes of the server."""

    def __init__(self, args, server, folder):
        self.binary, self.server = args.binary, server
        self.path = args.file or write_records(args.binary, folder, args.records)
        with open(self.path, "rb") as records:
            self.wanted = sum(1 for _ in records)
        self.seconds = 1.0

    def command(self, index, *options):
        return [self.binary, "load", "-v", "--into", f"elasticsearch+http://127.0.0.1:{self.server.port}/{index}", *options]

    def load(self, index, *options, lines=None):
        return subprocess.run(self.command(index, *options), input=lines, capture_output=True, timeout=LOAD_SECONDS)

    def start(self, index, *options):
        return subprocess.Popen(self.command(index, *options), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def unlock(self, index):
        """A loader that was killed holds the lock for 90 seconds; a person who knows that it is dead removes it."""
        try:
            self.server.ask("DELETE", f"/{index}-segments/_doc/lock")
        except urllib.error.HTTPError:
            pass


def check(args, server, folder, checks):
    rng = random.Random(args.seed)
    version = server.ask("GET", "/")["version"]
    loads = Loads(args, server, folder)
    name = version.get("distribution", "elasticsearch")
    print(f"{name} {version['number']}, heap {args.heap}, {loads.wanted} records", flush=True)
    # A server that has just started is slow.
    loads.load("warm", loads.path if loads.wanted <= 100_000 else "/dev/null")
    begun = time.time()
    checks.equal("a load", loads.load("urls", loads.path).returncode, 0)
    loads.seconds = time.time() - begun
    checks.equal("documents", server.count("urls"), loads.wanted)
    for part in PARTS:
        if part in args.only:
            begun = time.time()
            globals()[f"check_{part}"](args, loads, folder, checks, rng)
            print(f"   {part}: {time.time() - begun:.0f} s", flush=True)


def check_load(args, loads, folder, checks, rng):
    server = loads.server
    begun = time.time()
    checks.equal("the same again", b", 0 of them new" in loads.load("urls", loads.path).stderr, True)
    print(f"   the same again: {time.time() - begun:.1f} s", flush=True)
    checks.equal("documents after that", server.count("urls"), loads.wanted)
    mapping = next(iter(server.ask("GET", "/urls/_mapping").values()))["mappings"]
    server.ask("PUT", "/plain", {"mappings": mapping, "settings": {"number_of_shards": 1}})
    begun = time.time()
    send_plainly(server, loads.path, folder)
    plain_seconds = time.time() - begun
    checks.equal("documents by curl", server.count("plain"), loads.wanted)
    ratio = loads.seconds / plain_seconds
    print(f"   load {loads.seconds:.1f} s, _bulk by curl {plain_seconds:.1f} s, ratio {ratio:.2f}", flush=True)
    server.ask("DELETE", "/plain")


def check_dashboards(args, loads, folder, checks, rng):
    """Each field that a dashboard counts has a mapping, and its query has an answer."""
    mapping = next(iter(loads.server.ask("GET", "/urls/_mapping").values()))["mappings"]["properties"]

    def has(field, properties):
        first, _, rest = field.partition(".")
        found = properties.get(first)
        if found is None or not rest:
            return found is not None
        return has(rest, found.get("properties") or found.get("fields") or {})

    for name in ("opensearch.ndjson", "kibana.ndjson"):
        with open(os.path.join(HERE, "../../packaging/dashboards", name), encoding="utf-8") as lines:
            objects = [json.loads(line) for line in lines]
        states = [json.loads(found["attributes"]["visState"]) for found in objects if found["type"] == "visualization"]
        sources = [json.loads(found["attributes"]["kibanaSavedObjectMeta"]["searchSourceJSON"]) for found in objects
                   if found["type"] == "visualization"]
        fields = {agg["params"]["field"] for state in states for agg in state["aggs"] if "field" in agg["params"]}
        checks.equal(f"fields of {name} without a mapping", sorted(field for field in fields if not has(field, mapping)), [])
        for state, source in zip(states, sources):
            aggregation = next(agg for agg in state["aggs"] if agg["schema"] == "segment" or agg["schema"] == "bucket")
            field, words = aggregation["params"]["field"], source["query"]["query"]
            kind = {"date_histogram": {"date_histogram": {"field": field, "calendar_interval": "day"}},
                    "terms": {"terms": {"field": field}}}[aggregation["type"]]
            query = {"query_string": {"query": words}} if words else {"match_all": {}}
            reply = loads.server.ask("POST", "/urls/_search", {"size": 0, "query": query, "aggs": {"a": kind}})
            checks.equal(f"{name}: {state['title']}", reply["_shards"]["failed"], 0)


def check_reindex(args, loads, folder, checks, rng):
    server = loads.server
    begun = time.time()
    copied = loads.load("urls", "--reindex")
    seconds = time.time() - begun
    checks.equal("a copy behind the alias", (copied.returncode, server.count("urls")), (0, loads.wanted))
    print(f"   {copied.stderr.decode().strip()} ({seconds:.1f} s)", flush=True)
    behind = set()
    for _ in range(min(args.kills, 10)):
        copying = loads.start("urls", "--reindex")
        time.sleep(rng.uniform(0.02, 1.2 * seconds))
        copying.kill()
        copying.wait()
        loads.unlock("urls")
        behind.add(server.count("urls"))
    checks.equal("documents behind the alias after kills of a copy", behind - {loads.wanted}, set())
    checks.equal("a copy after that", (loads.load("urls", "--reindex").returncode, server.count("urls")), (0, loads.wanted))
    for index in server.ask("GET", "/urls-v*"):
        if index not in server.ask("GET", "/urls"):
            server.ask("DELETE", f"/{index}")
    mapping = next(iter(server.ask("GET", "/urls/_mapping").values()))["mappings"]
    mapping["_meta"].pop("copied", None)
    server.ask("PUT", "/first", {"mappings": mapping})
    done = [loads.load("first", loads.path).returncode, loads.load("first", "--reindex").returncode]
    checks.equal("an index of version 0.1 is taken over", (done, server.count("first")), ([0, 0], loads.wanted))
    checks.equal("its alias", list(server.ask("GET", "/first")), ["first-v1"])
    checks.equal("a load into it", b", 0 of them new" in loads.load("first", loads.path).stderr, True)
    server.ask("DELETE", "/first-v1")


def check_kills(args, loads, folder, checks, rng):
    completed = 0
    for _ in range(args.kills):
        loading = loads.start("killed", loads.path)
        time.sleep(rng.uniform(0.02, 1.2 * loads.seconds))
        completed += loading.poll() == 0
        loading.kill()
        loading.wait()
        loads.unlock("killed")
    print(f"   {completed} of {args.kills} loads ended before they were killed", flush=True)
    checks.equal(f"a load after {args.kills} kills", loads.load("killed", loads.path).returncode, 0)
    checks.equal("documents after kills", loads.server.count("killed"), loads.wanted)
    loads.server.ask("DELETE", "/killed-v1")


def check_server(args, loads, folder, checks, rng):
    server, codes = loads.server, []
    for _ in range(args.server_kills):
        loading = loads.start("server", loads.path)
        time.sleep(rng.uniform(0.1, loads.seconds))
        server.kill()
        if server.start() != 0:
            checks.equal("the server starts again", False, True)
            return
        codes.append(loading.wait(timeout=LOAD_SECONDS))
        if codes[-1] != 0:
            loads.unlock("server")
    print(f"   {codes.count(0)} of {len(codes)} loads went on after the server was killed", flush=True)
    checks.equal("exit codes while the server was killed", set(codes) - {0, UNREACHABLE}, set())
    checks.equal("a load after kills of the server", loads.load("server", loads.path).returncode, 0)
    checks.equal(f"documents after {args.server_kills} kills of the server", server.count("server"), loads.wanted)
    server.ask("DELETE", "/server-v1")


def check_two(args, loads, folder, checks, rng):
    with concurrent.futures.ThreadPoolExecutor() as pool:
        both = list(pool.map(lambda _: loads.load("two", loads.path), range(2)))
    checks.equal("two loads at a time", [done.returncode for done in both], [0, 0])
    checks.equal("documents of two loads", loads.server.count("two"), loads.wanted)


def check_gone(args, loads, folder, checks, rng):
    loads.load("gone", loads.path)
    with open(loads.path, "rb") as records:
        record = json.loads(records.readline())
        mailbox, digest = record["source"]["mailbox"], record["message"]["digest"]
        records.seek(0)
        removed = sum(1 for line in records if json.loads(line)["message"]["digest"] == digest)
    gone = {"type": "gone", "mailbox": mailbox, "digests": [digest]}
    done = loads.load("gone", lines=json.dumps(gone).encode() + b"\n")
    checks.equal("a message that is gone", (done.returncode, loads.server.count("gone")), (0, loads.wanted - removed))
    loads.server.ask("DELETE", "/gone-v1")


def check_disk(args, loads, folder, checks, rng):
    server, mark = loads.server, "cluster.routing.allocation.disk.watermark"

    def watermarks(value):
        marks = {f"{mark}.{name}": value for name in ("low", "high", "flood_stage")}
        server.ask("PUT", "/_cluster/settings", {"transient": {**marks, "cluster.info.update.interval": "10s"}})

    with open(loads.path, "rb") as records:
        first, second = records.readline(), records.readline()
    loads.load("disk", lines=second)
    watermarks("1%")
    blocked = lambda: "read_only_allow_delete" in json.dumps(server.ask("GET", "/disk/_settings"))
    end = time.time() + 90
    while not blocked() and time.time() < end:
        time.sleep(1)
    checks.equal("the server is above its flood-stage watermark", blocked(), True)
    loading = subprocess.Popen(loads.command("disk", "-"), stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    loading.stdin.write(first)
    loading.stdin.close()
    said = loading.stderr.readline().decode()
    checks.equal("the load says why it waits", "a disk of the server is nearly full" in said, True)
    print(f"   {said.strip()}", flush=True)
    watermarks(None)
    checks.equal("the load after the disk has room", loading.wait(timeout=LOAD_SECONDS), 0)
    checks.equal("its documents", server.count("disk"), 2)
    # OpenSearch also refuses new indexes for a while.
    for _ in range(120):
        try:
            server.ask("PUT", "/room", {})
            break
        except urllib.error.HTTPError:
            time.sleep(1)


def check_versions(args, loads, folder, checks, rng):
    loads.server.ask("PUT", "/other", {})
    checks.equal("an index of another program", loads.load("other", loads.path).returncode, USAGE)
    loads.server.ask("PUT", "/future", {"mappings": {"_meta": {"urlspool": 999}}})
    checks.equal("an index of another version", loads.load("future", loads.path).returncode, USAGE)


def check_days(args, loads, folder, checks, rng):
    """A daemon's segments, one or more a day, are loaded as they are sealed and removed; some messages go again."""
    spool, out = os.path.join(folder, "spool"), os.path.join(folder, "out")
    os.makedirs(spool)
    os.makedirs(out)
    config = os.path.join(folder, "urlspool.toml")
    with open(config, "w") as file:
        file.write(f'[output]\ndir = "{out}"\n[state]\ndir = "{folder}/state"\n[watch]\nsettle = "0s"\n'
                   f'[[spool]]\npath = "{spool}"\n')
    following = loads.start("days", "--follow", "--delete-segments", out)
    wanted, each = 0, 200
    for day in range(args.days):
        with open(os.path.join(spool, f"day{day}.mbox"), "w") as mail:
            for n in range(each):
                mail.write(f"From a@b.example Thu Jan  4 10:00:00 1996\nFrom: a@b.example\nMessage-ID: <{day}.{n}@b.example>\n"
                           f"Subject: {day} {n}\n\nSee http://h{n}.example/{day}\n\n")
        wanted += each
        subprocess.run([args.binary, "watch", "--config", config, "--once"], check=True, capture_output=True)
        if day in (args.days // 3, 2 * args.days // 3):
            loads.server.kill()
            if loads.server.start() != 0:
                checks.equal("the server starts again", False, True)
                return
    end = time.time() + LOAD_SECONDS
    while any(not name.startswith(".") for name in os.listdir(out)) and time.time() < end and following.poll() is None:
        time.sleep(0.2)
    following.send_signal(signal.SIGTERM)
    checks.equal("a load that follows ends at a signal", following.wait(timeout=60), 0)
    left = [name for name in os.listdir(out) if not name.startswith(".")]
    checks.equal("segments that are left", left, [])
    checks.equal(f"documents of {args.days} days, two kills of the server", loads.server.count("days"), wanted)


def check_queue(args, loads, folder, checks, rng):
    """Four loads into four indexes at a time, at a server that takes one write and keeps one more."""
    server = loads.server
    server.kill()
    if server.start("thread_pool.write.size=1", "thread_pool.write.queue_size=1") != 0:
        checks.equal("the server with a small queue starts", False, True)
        return
    with concurrent.futures.ThreadPoolExecutor() as pool:
        four = list(pool.map(lambda number: loads.load(f"queue{number}", loads.path), range(4)))
    pools = next(iter(server.ask("GET", "/_nodes/stats/thread_pool")["nodes"].values()))["thread_pool"]
    print(f"   writes that the server refused: {pools['write']['rejected']}", flush=True)
    checks.equal("four loads at a busy server", [done.returncode for done in four], [0] * 4)
    checks.equal("their documents", [server.count(f"queue{number}") for number in range(4)], [loads.wanted] * 4)


def send_plainly(server, path, folder):
    """Sends the documents by curl, 5,000 a request."""
    part = os.path.join(folder, "part")

    def send(lines):
        with open(part, "wb") as out:
            out.writelines(b'{"create":{}}\n' + line for line in lines)
        subprocess.run(["curl", "-sf", "-o", os.devnull, "-H", "Content-Type: application/x-ndjson", "--data-binary", f"@{part}",
                        f"{server.url}/plain/_bulk?filter_path=errors"], check=True)

    lines = []
    with open(path, "rb") as records:
        for line in records:
            lines.append(line)
            if len(lines) == 5000:
                send(lines)
                lines = []
    if lines:
        send(lines)


if __name__ == "__main__":
    sys.exit(main())
