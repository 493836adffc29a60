#!/usr/bin/env python3
"""Kills `urlspool load --prune` at random moments, and checks that each run was completed or had no
effect.

    python3 tests/tools/prune_kills.py BINARY [--kills N] [--seed N] [--target sqlite|postgresql]

A SQLite database has the records of forty copies of the corpus, and the tables of an audit. Half of
the copies are removed. Each run starts with a copy of the database and is killed (SIGKILL) after a
random time, at most the duration of a run. Then the rows must be those before or after the run, the
indexes must match the rows, and the audit's results must still exist. A repetition must complete
the work.

With --target postgresql, a server is started in a temporary folder, and its tables are restored for
each run. The tool waits until the server has ended the transaction of the killed program. The rows
of all tables must be those before or after the run.
"""

import argparse
import glob
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

CHECKS = {
    "links with other numbers than their rows": """SELECT count(*) FROM links WHERE (citations, messages, first, last) IS NOT
        (SELECT count(*), count(DISTINCT digest), min(cited), max(cited)
         FROM urls JOIN messages ON messages.id = urls.message WHERE urls.link = links.id)""",
    "links without rows": "SELECT count(*) FROM links WHERE id NOT IN (SELECT link FROM urls WHERE link IS NOT NULL)",
    "messages without rows": "SELECT count(*) FROM messages WHERE id NOT IN (SELECT message FROM urls)",
    "sources without rows": "SELECT count(*) FROM sources WHERE id NOT IN (SELECT source FROM urls)",
}


def state(path):
    """Checks a database, and returns its number of rows and the audit's."""
    db = sqlite3.connect(path, timeout=60)
    number = lambda sql: db.execute(sql).fetchone()[0]
    for name, sql in CHECKS.items():
        if found := number(sql):
            sys.exit(f"{found} {name}")
    db.execute("INSERT INTO search(search, rank) VALUES('integrity-check', 1)")
    if (damage := number("PRAGMA integrity_check")) != "ok":
        sys.exit(damage)
    found = (number("SELECT count(*) FROM urls"), number("SELECT count(*) FROM audit_checks"))
    db.close()
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--target", choices=["sqlite", "postgresql"], default="sqlite")
    options = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="urlspool-prune")
    run = run_postgresql if options.target == "postgresql" else run_sqlite
    try:
        run(os.path.realpath(options.binary), options, folder)
    finally:
        shutil.rmtree(folder)


def copies(folder):
    for copy in range(40):
        shutil.copytree("corpus/mail", f"{folder}/mail/{copy}")


def run_sqlite(binary, options, folder):
    generator = random.Random(options.seed)
    copies(folder)
    whole, work = (f"{folder}/{name}.db" for name in ("whole", "work"))
    subprocess.run([binary, "scan", "-q", "--context", "100", "--into", whole, f"{folder}/mail"], check=False, capture_output=True)
    subprocess.run([binary, "audit", "plan", whole], check=True, capture_output=True)
    with sqlite3.connect(whole) as db:
        db.execute(
            """INSERT INTO audit_checks(key, checked_at, state, status, checker)
               SELECT key, '2026-01-01T00:00:00Z', 'alive', 200, 'x 1' FROM audit_links"""
        )
    db.close()
    for copy in range(20):
        shutil.rmtree(f"{folder}/mail/{copy}")
    kill("--prune", [binary, "load", "--into", work, "--prune", f"{folder}/mail"], whole, work, options.kills, generator)


def fresh(base, work):
    for path in glob.glob(work + "*"):
        os.remove(path)
    shutil.copy(base, work)


def kill(name, command, base, work, kills, generator):
    fresh(base, work)
    before = state(work)
    began = time.monotonic()
    subprocess.run(command, check=True, capture_output=True)
    longest = time.monotonic() - began
    after = state(work)
    if before == after or before[1] != after[1]:
        sys.exit(f"{name}: {before} became {after}")
    seen, killed = {before: 0, after: 0}, 0
    for _ in range(kills):
        fresh(base, work)
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(generator.random() * longest)
        process.send_signal(signal.SIGKILL)
        killed += process.wait() == -signal.SIGKILL
        found = state(work)
        if found not in seen:
            sys.exit(f"{name}: half a run: {before} became {found}, not {after}")
        seen[found] += 1
        subprocess.run(command, check=True, capture_output=True)
        if state(work) != after:
            sys.exit(f"{name}: the repetition does not complete the work")
    print(f"{name}: {kills} runs, {killed} of them killed within {longest:.2f} s: {seen[before]} times {before}, {seen[after]} times {after}")


SERVER_STATE = """
SELECT (SELECT count(*) FROM urls),
  (SELECT md5(string_agg(md5(records::text), '' ORDER BY id, source_path, source_start)) FROM records),
  (SELECT md5(string_agg(md5(sources::text), '' ORDER BY id)) FROM sources),
  (SELECT md5(string_agg(md5(messages::text), '' ORDER BY id)) FROM messages),
  (SELECT md5(string_agg(md5(links::text), '' ORDER BY id)) FROM links)
"""

SERVER_CHECKS = {
    **CHECKS,
    "links with other numbers than their rows": """SELECT count(*) FROM links WHERE (citations, messages, first, last) IS DISTINCT FROM
        (SELECT ROW(count(*), count(DISTINCT digest), min(cited), max(cited))
         FROM urls JOIN messages ON messages.id = urls.message WHERE urls.link = links.id)""",
}

# The tables, referenced ones first.
TABLES = ["sources", "messages", "links", "urls"]


def server_state(server):
    """Checks the tables of a server. Returns its number of rows and the hashes of its tables."""
    for name, sql in SERVER_CHECKS.items():
        if (found := server.rows(sql)) != [("0",)]:
            sys.exit(f"{found} {name}")
    return server.rows(SERVER_STATE)[0]


def server_fresh(server):
    fill = [f"INSERT INTO {table} OVERRIDING SYSTEM VALUE SELECT * FROM whole.{table};" for table in TABLES]
    server.psql(f"BEGIN; TRUNCATE {', '.join(TABLES)}; {' '.join(fill)} COMMIT")


def run_postgresql(binary, options, folder):
    generator = random.Random(options.seed)
    copies(folder)
    server = Postgresql("prune")
    try:
        subprocess.run([binary, "scan", "-q", "--context", "100", "--into", server.target, f"{folder}/mail"], check=False, capture_output=True)
        server.psql("CREATE SCHEMA whole; " + " ".join(f"CREATE TABLE whole.{table} AS TABLE {table};" for table in TABLES))
        for copy in range(20):
            shutil.rmtree(f"{folder}/mail/{copy}")
        kill_postgresql([binary, "load", "--into", server.target, "--prune", f"{folder}/mail"], server, options.kills, generator)
    finally:
        server.stop()


def kill_postgresql(command, server, kills, generator):
    server_fresh(server)
    before = server_state(server)
    began = time.monotonic()
    subprocess.run(command, check=True, capture_output=True)
    longest = time.monotonic() - began
    after = server_state(server)
    if not 0 < int(after[0]) < int(before[0]):
        sys.exit(f"--prune: {before} became {after}")
    seen, killed = {before: 0, after: 0}, 0
    for _ in range(kills):
        server_fresh(server)
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(generator.random() * longest)
        process.send_signal(signal.SIGKILL)
        killed += process.wait() == -signal.SIGKILL
        others = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid != pg_backend_pid()"
        until = time.monotonic() + 60
        while server.rows(others) != [("0",)]:
            if until < time.monotonic():
                sys.exit("--prune: the server keeps the connection of a killed program")
            time.sleep(0.01)
        found = server_state(server)
        if found not in seen:
            sys.exit(f"--prune: half a run: {before} became {found}, not {after}")
        seen[found] += 1
        subprocess.run(command, check=True, capture_output=True)
        if server_state(server) != after:
            sys.exit("--prune: the repetition does not complete the work")
    print(f"--prune in PostgreSQL: {kills} runs, {killed} of them killed within {longest:.2f} s: {seen[before]} times the {before[0]} rows "
          f"before, {seen[after]} times the {after[0]} after")


if __name__ == "__main__":
    main()
