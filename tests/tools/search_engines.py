#!/usr/bin/env python3
"""Loads into a real OpenSearch or Elasticsearch, which `opensearch.sh` starts, and checks that each record is a document once.

    tests/tools/search_engines.py BINARY [--records N] [--kills N] [--server-kills N] [--engine opensearch|elasticsearch] [--seed N]

BINARY has the feature `elasticsearch`. Checked: a load and its repetition; the load is killed (SIGKILL) at random moments, and so
is the server, while a load is repeated; two loads at a time; messages that are gone; an index that is read-only, as after the
flood-stage watermark; an index of another program and one of another version. The time of a load is compared with that of the same
documents sent to `_bulk` by curl, uncompressed.
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
START_SECONDS, LOAD_SECONDS = 240, 900
# Exit codes of the loader.
USAGE, UNREACHABLE, OUTPUT = 2, 69, 74


class Server:
    def __init__(self, engine, folder):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.engine, self.folder = engine, folder
        self.url = f"http://127.0.0.1:{self.port}"
        self.process = None

    def start(self, *settings):
        log = open(os.path.join(self.folder, "server.log"), "ab")
        self.process = subprocess.Popen(
            [os.path.join(HERE, "opensearch.sh"), self.folder, str(self.port), *settings],
            stdout=log, stderr=log, env={**os.environ, "ENGINE": self.engine})
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
    parser.add_argument("--engine", default="opensearch")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="engines")
    server = Server(args.engine, folder)
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


def check(args, server, folder, checks):
    rng = random.Random(args.seed)
    version = server.ask("GET", "/")["version"]
    print(f"{version.get('distribution', 'elasticsearch')} {version['number']}, {args.records} records", flush=True)
    path = write_records(args.binary, folder, args.records)
    wanted = sum(1 for _ in open(path, "rb"))

    def command(index, *options):
        return [args.binary, "load", "-v", "--into", f"elasticsearch+http://127.0.0.1:{server.port}/{index}", *options]

    def load(index, *options, lines=None):
        return subprocess.run(command(index, *options), input=lines, capture_output=True, timeout=LOAD_SECONDS)

    # A server that has just started is slow.
    load("warm", path)
    begun = time.time()
    checks.equal("a load", load("urls", path).returncode, 0)
    load_seconds = time.time() - begun
    checks.equal("documents", server.count("urls"), wanted)
    checks.equal("the same again", b", 0 of them new" in load("urls", path).stderr, True)
    checks.equal("documents after that", server.count("urls"), wanted)

    mapping = server.ask("GET", "/urls/_mapping")["urls"]["mappings"]
    server.ask("PUT", "/plain", {"mappings": mapping, "settings": {"number_of_shards": 1}})
    begun = time.time()
    send_plainly(server, path, folder)
    plain_seconds = time.time() - begun
    checks.equal("documents by curl", server.count("plain"), wanted)
    print(f"load {load_seconds:.1f} s, _bulk by curl {plain_seconds:.1f} s, ratio {load_seconds / plain_seconds:.2f}", flush=True)

    # A loader that was killed holds the lock, which lapses after 90 seconds; a person who knows that it is dead removes it.
    for number in range(args.kills):
        loading = subprocess.Popen(command("killed", path), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(rng.uniform(0.02, 1.2 * load_seconds))
        loading.kill()
        loading.wait()
        try:
            server.ask("DELETE", "/killed-segments/_doc/lock")
        except urllib.error.HTTPError:
            pass
    checks.equal(f"a load after {args.kills} kills", load("killed", path).returncode, 0)
    checks.equal("documents after kills", server.count("killed"), wanted)

    codes = set()
    for number in range(args.server_kills):
        loading = subprocess.Popen(command("server", path), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(rng.uniform(0.1, load_seconds))
        server.kill()
        codes.add(loading.wait(timeout=LOAD_SECONDS))
        if server.start() != 0:
            checks.equal("the server starts again", False, True)
            return
        try:
            server.ask("DELETE", "/server-segments/_doc/lock")
        except urllib.error.HTTPError:
            pass
    checks.equal("exit codes while the server was killed", codes - {0, UNREACHABLE}, set())
    checks.equal(f"a load after {args.server_kills} kills of the server", load("server", path).returncode, 0)
    checks.equal("documents after kills of the server", server.count("server"), wanted)

    with concurrent.futures.ThreadPoolExecutor() as pool:
        both = list(pool.map(lambda _: load("two", path), range(2)))
    checks.equal("two loads at a time", [done.returncode for done in both], [0, 0])
    checks.equal("documents of two loads", server.count("two"), wanted)

    with open(path, "rb") as records:
        first = records.readline()
    record = json.loads(first)
    gone = {"type": "gone", "mailbox": record["source"]["mailbox"], "digests": [record["message"]["digest"]]}
    done = load("two", lines=json.dumps(gone).encode() + b"\n")
    checks.equal("a message that is gone", (done.returncode, server.count("two")), (0, wanted - 1))

    server.ask("PUT", "/two/_settings", {"index.blocks.read_only_allow_delete": True})
    done = load("two", lines=first)
    checks.equal("a read-only index", done.returncode in (UNREACHABLE, OUTPUT, USAGE) and b"block" in done.stderr, True)
    print(f"  it ends with {done.returncode}: {done.stderr.decode().strip().splitlines()[-1]}", flush=True)
    server.ask("PUT", "/two/_settings", {"index.blocks.read_only_allow_delete": None})
    try:
        server.ask("DELETE", "/two-segments/_doc/lock")
    except urllib.error.HTTPError:
        pass
    checks.equal("the index after the block", (load("two", lines=first).returncode, server.count("two")), (0, wanted))

    server.ask("PUT", "/other", {})
    checks.equal("an index of another program", load("other", path).returncode, USAGE)
    server.ask("PUT", "/future", {"mappings": {"_meta": {"urlspool": 999}}})
    checks.equal("an index of another version", load("future", path).returncode, USAGE)


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
