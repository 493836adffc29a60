#!/usr/bin/env python3
"""Kills `urlspool load --prune` at random moments, and checks that each run was completed or had no
effect.

    python3 tests/tools/prune_kills.py BINARY [--kills N] [--seed N] [--target sqlite|postgresql]

A database has the records of forty copies of the corpus, and half of the copies are removed. Each
run starts with the same rows. After the kill, the rows must be the rows before or after a complete
run, and a repetition must complete the work.
"""

import argparse, os, random, shutil, signal, sys, tempfile, time

from load_kills import CHECKS, Sqlite
from postgresql import Postgresql
from world import output, run, start_quietly

SOURCES = "SELECT count(*) FROM sources WHERE id NOT IN (SELECT source FROM urls)"


class SqliteRuns(Sqlite):
    """A SQLite database that also has the tables of an audit."""

    def save(self, binary):
        """Plans an audit, adds its results, and keeps a copy of the database."""
        output(binary, "audit", "plan", self.path)
        self.rows("""INSERT INTO audit_checks(key, checked_at, state, status, checker)
                     SELECT key, '2026-01-01T00:00:00Z', 'alive', 200, 'x 1' FROM audit_links""")
        self.checks = self.rows("SELECT count(*) FROM audit_checks")
        shutil.move(self.path, self.path + ".whole")

    def restore(self):
        for end in ("", "-wal", "-shm", "-journal"):
            if os.path.exists(self.path + end):
                os.remove(self.path + end)
        shutil.copy(self.path + ".whole", self.path)

    def state(self):
        """The number of rows. The indexes must match them, and the audit's results must exist."""
        self.rows("INSERT INTO search(search, rank) VALUES('integrity-check', 1)")
        if (damage := self.rows("PRAGMA integrity_check")) != [("ok",)]:
            sys.exit(str(damage))
        if self.rows("SELECT count(*) FROM audit_checks") != self.checks:
            sys.exit("results of the audit are missing")
        return self.rows("SELECT count(*) FROM urls")[0]


class ServerRuns(Postgresql):
    # The tables, referenced ones first.
    TABLES = ["sources", "messages", "links", "urls"]
    STATE = """
        SELECT (SELECT count(*) FROM urls),
          (SELECT md5(string_agg(md5(records::text), '' ORDER BY id, source_path, source_start))
            FROM records),
          (SELECT md5(string_agg(md5(sources::text), '' ORDER BY id)) FROM sources),
          (SELECT md5(string_agg(md5(messages::text), '' ORDER BY id)) FROM messages),
          (SELECT md5(string_agg(md5(links::text), '' ORDER BY id)) FROM links)"""
    CLIENTS = """SELECT count(*) FROM pg_stat_activity
        WHERE backend_type = 'client backend' AND pid != pg_backend_pid()"""

    def save(self, _):
        tables = (f"CREATE TABLE whole.{table} AS TABLE {table};" for table in self.TABLES)
        self.psql("CREATE SCHEMA whole; " + " ".join(tables))

    def restore(self):
        fill = (f"INSERT INTO {table} OVERRIDING SYSTEM VALUE SELECT * FROM whole.{table};"
                for table in self.TABLES)
        self.psql(f"BEGIN; TRUNCATE {', '.join(self.TABLES)}; {' '.join(fill)} COMMIT")

    def state(self):
        """The number of rows, and hashes of all tables."""
        until = time.monotonic() + 60
        while self.rows(self.CLIENTS) != [("0",)]:
            if until < time.monotonic():
                sys.exit("the server keeps the connection of a killed program")
            time.sleep(0.01)
        return self.rows(self.STATE)[0]


def state(database):
    """Checks a database. Returns a tuple that describes its rows."""
    for name, query in {**CHECKS, "sources without rows": SOURCES}.items():
        if found := int(database.rows(query)[0][0]):
            sys.exit(f"{found} {name}")
    return database.state()


def kill(database, command, kills, generator):
    database.restore()
    before = state(database)
    begun = time.monotonic()
    output(*command)
    longest = time.monotonic() - begun
    after = state(database)
    if not 0 < int(after[0]) < int(before[0]):
        sys.exit(f"--prune: {before} became {after}")
    seen, killed = {before: 0, after: 0}, 0
    for _ in range(kills):
        database.restore()
        process = start_quietly(command)
        time.sleep(generator.random() * longest)
        process.send_signal(signal.SIGKILL)
        killed += process.wait() == -signal.SIGKILL
        found = state(database)
        if found not in seen:
            sys.exit(f"--prune: half a run: {before} became {found}, not {after}")
        seen[found] += 1
        output(*command)
        if state(database) != after:
            sys.exit("--prune: the repetition does not complete the work")
    print(f"--prune: {kills} runs, {killed} of them killed within {longest:.2f} s: "
          f"{seen[before]} times the {before[0]} rows before, {seen[after]} times {after[0]} after")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("binary")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--target", choices=["sqlite", "postgresql"], default="sqlite")
    options = parser.parse_args()
    binary, folder = os.path.realpath(options.binary), tempfile.mkdtemp(prefix="urlspool-prune")
    database = ServerRuns("prune") if options.target == "postgresql" else SqliteRuns(folder)
    try:
        mail = f"{folder}/mail"
        for copy in range(40):
            shutil.copytree("corpus/mail", f"{mail}/{copy}")
        run(binary, "scan", "-q", "--context", "100", "--into", database.target, mail)
        database.save(binary)
        for copy in range(20):
            shutil.rmtree(f"{mail}/{copy}")
        command = [binary, "load", "--into", database.target, "--prune", mail]
        kill(database, command, options.kills, random.Random(options.seed))
    finally:
        database.stop()
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
