#!/usr/bin/env python3
"""Loads while the disk fills up, and while connections are cut in the middle of a COPY.

    python3 tests/tools/load_faults.py BINARY RECORDS.jsonl [--rounds N] [--seed N]

SQLite: the database is on a small tmpfs, which fills up and is enlarged; the load must end with exit code 74 and be complete when it
is repeated. PostgreSQL: the server ends the connection at random moments, most of them within a COPY; the load must end with exit code
69 and be complete when it is repeated, and with --follow go on by itself. Each time the rows must be those of an undisturbed load: none
twice, none lost, and `links` must have the numbers of its rows. The first part needs root, the second initdb and a binary with the
feature `postgres`; what cannot run is named.
"""

import argparse
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

from load_kills import CHECKS
from postgresql import Postgresql, initdb

# The disk is full at half the size of the database and 2 MiB: a smaller database would fit.
MIN_DATABASE_MIB = 8

passed = failed = skipped = 0


def expect(name, found, wanted):
    global passed, failed
    if found == wanted:
        passed += 1
    else:
        failed += 1
        print(f"FAILED: {name}: {found!r} instead of {wanted!r}")


def contents(rows):
    """The names of the records, and the results of the checks."""
    ids = sorted(row[0] for row in rows("SELECT record_id FROM urls"))
    return ids, [int(rows(query)[0][0]) for query in CHECKS.values()]


def load(binary, target, records):
    return subprocess.run([binary, "load", "--into", target, records], capture_output=True, text=True)


def full_disk(binary, records, wanted, whole_mib):
    folder = tempfile.mkdtemp(prefix="urlspool-faults")
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", folder], capture_output=True)
    if mounted.returncode:
        return "a tmpfs cannot be mounted"
    database = os.path.join(folder, "urls.db")
    try:
        for size in [1, whole_mib // 4 + 2, whole_mib // 2 + 2]:
            subprocess.run(["mount", "-o", f"remount,size={size}m", folder], check=True)
            ended = load(binary, database, records)
            expect(f"exit code on {size} MiB", ended.returncode, 74)
            expect(f"message on {size} MiB names the file", database in ended.stderr, True)
        subprocess.run(["mount", "-o", "remount,size=2g", folder], check=True)
        expect("exit code when there is space", load(binary, database, records).returncode, 0)
        with sqlite3.connect(database) as db:
            expect("rows after a full disk", contents(lambda query: db.execute(query).fetchall()) == wanted, True)
            expect("integrity", db.execute("PRAGMA integrity_check").fetchone()[0], "ok")
            db.execute("INSERT INTO search(search, rank) VALUES('integrity-check', 1)")
    finally:
        subprocess.run(["umount", "-l", folder], check=False)
        os.rmdir(folder)
    return None


class Cutter(threading.Thread):
    """Ends the connections of loads at random moments, mostly those that copy."""

    def __init__(self, server):
        super().__init__(daemon=True)
        self.server, self.is_ended, self.cuts, self.copies = server, False, 0, 0

    def run(self):
        while not self.is_ended:
            time.sleep(random.random() * 0.7)
            copying = "AND query LIKE 'COPY%'" if random.random() < 0.7 else ""
            cut = self.server.rows(
                f"""SELECT query LIKE 'COPY%' AND state = 'active', pg_terminate_backend(pid) FROM pg_stat_activity
                    WHERE application_name = 'urlspool' {copying}"""
            )
            self.cuts += len(cut)
            self.copies += sum(row[0] == "t" for row in cut)


def cut_connections(binary, records, wanted, rounds):
    if initdb() is None:
        return "initdb is not installed"
    server = Postgresql("faults")
    cuts = copies = 0
    try:
        for _ in range(rounds):
            server.psql("DROP SCHEMA public CASCADE; CREATE SCHEMA public;")
            cutter = Cutter(server)
            cutter.start()
            codes = [load(binary, server.target, records).returncode for _ in range(8)]
            cutter.is_ended = True
            cutter.join()
            expect("other exit codes than 0 and 69", [code for code in codes if code not in (0, 69)], [])
            expect("exit code of an undisturbed load", load(binary, server.target, records).returncode, 0)
            expect("rows after cut connections", contents(server.rows) == wanted, True)
            cuts, copies = cuts + cutter.cuts, copies + cutter.copies
        expect("connections were cut in the middle of a COPY", 0 < copies, True)
    finally:
        server.stop()
    print(f"PostgreSQL: {cuts} connections cut, {copies} of them in the middle of a COPY")
    return None


def main():
    global skipped
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("records")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    random.seed(args.seed)
    binary, records = os.path.abspath(args.binary), os.path.abspath(args.records)
    folder = tempfile.mkdtemp(prefix="urlspool-faults")
    undisturbed = os.path.join(folder, "urls.db")
    expect("exit code of an undisturbed load", load(binary, undisturbed, records).returncode, 0)
    whole_mib = os.path.getsize(undisturbed) >> 20
    if whole_mib < MIN_DATABASE_MIB:
        shutil.rmtree(folder)
        parser.error(f"{records} makes a database of {whole_mib} MiB, which a full disk would hold; give records that make one of "
                     f"{MIN_DATABASE_MIB} MiB (20,000 are enough)")
    with sqlite3.connect(undisturbed) as db:
        wanted = contents(lambda query: db.execute(query).fetchall())
    expect("checks of an undisturbed load", wanted[1], [0] * len(CHECKS))
    for part in [
        lambda: full_disk(binary, records, wanted, whole_mib),
        lambda: cut_connections(binary, records, wanted, args.rounds),
    ]:
        reason = part()
        if reason:
            skipped += 1
            print(f"SKIPPED: {reason}", file=sys.stderr)
    shutil.rmtree(folder)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 77 if skipped == 2 else 0


if __name__ == "__main__":
    sys.exit(main())
