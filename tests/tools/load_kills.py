#!/usr/bin/env python3
"""Kills `urlspool load --follow` and `urlspool watch` at random moments, and checks that each record is loaded once.

    python3 tests/tools/load_kills.py BINARY [--kills N] [--target sqlite|postgresql] [--seed N] [--restart-server]

Mail is appended to an mbox all the time. The daemon writes segments, which the loader loads and removes (`--delete-segments`). Both
are killed (SIGKILL) after a random time and started again. At the end both are let run, and the rows must be those of a scan of the
mbox: none twice, none lost, and `links` must have the numbers of its rows. With `--restart-server` the server is stopped and
started meanwhile. PostgreSQL needs a binary with the feature `postgres`, and a server, which is started in a folder of its own.
"""

import argparse
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

from postgresql import Postgresql

CONFIG = """[output]
dir = "{0}/out"
seal_interval = "1s"
seal_bytes = "16KiB"
compress = "{1}"
[state]
dir = "{0}/state"
commit_interval = "20ms"
[watch]
settle = "0s"
sweep = "1s"
[[spool]]
path = "{0}/spool"
"""

CHECKS = {
    "links with other numbers than their rows": """SELECT count(*) FROM links JOIN (
        SELECT urls.link, count(*) AS citations, count(DISTINCT messages.digest) AS messages, min(cited) AS first, max(cited) AS last
        FROM urls JOIN messages ON messages.id = urls.message GROUP BY urls.link) AS n ON n.link = links.id
        WHERE n.citations <> links.citations OR n.messages <> links.messages
          OR coalesce(n.first, '') <> coalesce(links.first, '') OR coalesce(n.last, '') <> coalesce(links.last, '')""",
    "links without rows": "SELECT count(*) FROM links WHERE id NOT IN (SELECT link FROM urls WHERE link IS NOT NULL)",
    "messages without rows": "SELECT count(*) FROM messages WHERE id NOT IN (SELECT message FROM urls)",
    "rows with one key": "SELECT count(*) - count(DISTINCT record_key) FROM urls",
}


class Sqlite:
    def __init__(self, folder):
        self.path = self.target = os.path.join(folder, "urls.db")

    def rows(self, query):
        with sqlite3.connect(self.path, timeout=60) as db:
            return db.execute(query).fetchall()

    def stop(self):
        pass


class Process:
    """A program that is killed and started again."""

    def __init__(self, log, *command):
        self.command, self.log, self.process, self.codes = command, log, None, {}

    def start(self):
        if self.process is not None and self.process.poll() is not None:
            code = self.process.returncode
            if code != -signal.SIGKILL:
                self.codes[code] = self.codes.get(code, 0) + 1
            self.process = None
        if self.process is None:
            self.process = subprocess.Popen(self.command, stdout=self.log, stderr=self.log)

    def kill(self):
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()


def message(random, number):
    """A message with one to four URLs; some links are cited again and again."""
    urls = [f"http://h{random.randrange(40)}.example/{random.randrange(200)}" for _ in range(random.randrange(4))]
    urls.append(f"ftp://f.example/{number}")
    day, hour = 1 + number % 28, number % 24
    return (
        f"From a@b.example Mon Jan  1 00:00:00 1996\nFrom: a{number % 7}@b.example\nSubject: letter {number}\n"
        f"Date: {day} Jul 1996 {hour:02}:00:00 +0000\nMessage-ID: <{number}@b.example>\n\n" + "\n".join(urls) + "\n\n"
    )


def expected(binary, folder):
    scan = subprocess.run([binary, "scan", "-q", f"{folder}/spool"], check=True, capture_output=True)
    return sorted(json.loads(line)["id"] for line in scan.stdout.splitlines())


def check(database, wanted):
    loaded = sorted(row[0] for row in database.rows("SELECT record_id FROM urls"))
    problems = []
    if loaded != wanted:
        twice = len(loaded) - len(set(loaded))
        problems.append(f"{len(wanted)} records, {len(loaded)} rows: {twice} twice, {len(set(wanted) - set(loaded))} lost")
    for name, query in CHECKS.items():
        count = int(database.rows(query)[0][0])
        if count:
            problems.append(f"{count} {name}")
    return problems


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--target", choices=["sqlite", "postgresql"], default="sqlite")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--restart-server", action="store_true")
    args = parser.parse_args()
    random.seed(args.seed)
    binary = os.path.abspath(args.binary)
    folder = tempfile.mkdtemp(prefix="urlspool-kills", dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
    for name in ["spool", "out"]:
        os.mkdir(f"{folder}/{name}")
    config = f"{folder}/urlspool.toml"
    with open(config, "w", encoding="utf-8") as file:
        file.write(CONFIG.format(folder, random.choice(["none", "zstd"])))
    database = Sqlite(folder) if args.target == "sqlite" else Postgresql("kills")
    log = open(f"{folder}/log", "wb")
    daemon = Process(log, binary, "watch", "--config", config)
    loader = Process(log, binary, "load", "--into", database.target, "--follow", "--delete-segments", f"{folder}/out")
    number, kills, begun = 0, {"daemon": 0, "loader": 0}, time.time()
    try:
        while sum(kills.values()) < args.kills:
            daemon.start()
            loader.start()
            with open(f"{folder}/spool/inbox", "a", encoding="utf-8") as inbox:
                for _ in range(random.randrange(1, 40)):
                    inbox.write(message(random, number))
                    number += 1
            # The loader looks for segments each second; kills shortly after its start meet it at work.
            time.sleep(random.choice([0.005, 0.02, 0.05, 0.1, 0.4, 1.2]) * random.random())
            if random.random() < 0.75:
                loader.kill()
                kills["loader"] += 1
            if random.random() < 0.25:
                daemon.kill()
                kills["daemon"] += 1
            if args.restart_server and random.random() < 0.02:
                database.restart()
        daemon.kill()
        subprocess.run([binary, "watch", "--config", config, "--once"], check=True, stdout=log, stderr=log)
        loader.kill()
        last = [binary, "load", "-v", "--into", database.target, "--delete-segments", f"{folder}/out"]
        subprocess.run(last, check=True, stdout=log, stderr=log)
        wanted = expected(binary, folder)
        problems = check(database, wanted)
        left = [name for name in os.listdir(f"{folder}/out") if not name.startswith(".")]
        if left:
            problems.append(f"segments that were not removed: {left}")
        seconds = time.time() - begun
        print(f"{args.target}: {kills['loader']} kills of load, {kills['daemon']} of watch, {number} messages, {len(wanted)} records, "
              f"{seconds:.0f} s; other ends of load: {loader.codes or 'none'}, of watch: {daemon.codes or 'none'}")
        for problem in problems:
            print(f"  FAILED: {problem}; see {folder}")
        if not problems:
            shutil.rmtree(folder)
        print(f"{0 if problems else 1} passed, {1 if problems else 0} failed, 0 skipped")
        return 1 if problems else 0
    finally:
        daemon.kill()
        loader.kill()
        database.stop()


if __name__ == "__main__":
    sys.exit(main())
