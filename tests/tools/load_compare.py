#!/usr/bin/env python3
"""Loads one file of records into SQLite and PostgreSQL, and compares both.

    python3 tests/tools/load_compare.py BINARY RECORDS.jsonl [--words N] [--rows N]

Both must return the same answers to the same queries, and to full-text queries of N words of the
records and of pairs of them. Prints rates, memory and sizes of one run: of the loads, of `.import`
of SQLite's shell and of `\\copy` of psql. These two write the rows of `urls` from CSV without links
and messages, without indexes and with the indexes of `urls` (in PostgreSQL the words are one of
these, in SQLite a separate table). --rows repeats the records as other messages in other files
until there are so many rows, and times searches on them.
"""

import argparse, contextlib, os, random, re, shutil, sqlite3, subprocess, sys, tempfile, time

from load_kills import CHECKS
from postgresql import Postgresql
from world import output

QUERIES = {
    "records": "SELECT count(*) FROM urls",
    "schemes": "SELECT scheme, count(*) FROM urls GROUP BY scheme ORDER BY 2 DESC, 1",
    "hosts": "SELECT host, count(*) FROM urls WHERE host IS NOT NULL GROUP BY host "
             "ORDER BY 2 DESC, 1 LIMIT 50",
    "messages": "SELECT count(*), count(DISTINCT digest) FROM messages",
    "senders": "SELECT sender, count(*) FROM messages GROUP BY sender ORDER BY 2 DESC, 1 LIMIT 50",
    "links": "SELECT count(*), sum(citations), sum(messages), min(first), max(last) FROM links",
    "cited most": "SELECT key, citations, messages, first, last FROM links "
                  "ORDER BY citations DESC, key LIMIT 200",
    "hosts by decade": """
        SELECT substr(first, 1, 3) AS decade, host, count(*) FROM links WHERE first IS NOT NULL
        AND host IS NOT NULL GROUP BY substr(first, 1, 3), host ORDER BY 1, 3 DESC, 2 LIMIT 200""",
    "first cited in 1996": """
        SELECT key, citations, first FROM links WHERE first >= '1996' AND first < '1997'
        ORDER BY citations DESC, key LIMIT 100""",
    "regions": "SELECT region, count(*), round(avg(confidence) * 1000) FROM urls GROUP BY region "
               "ORDER BY 2 DESC, 1",
    "places": 'SELECT path, count(*), sum(start), sum("end") FROM urls '
              'JOIN sources ON sources.id = urls.source GROUP BY path ORDER BY path',
}


def shown(rows):
    """Rows as texts, in which the numbers of three programs are equal."""
    def cell(value):
        if value is None or value == "":
            return ""
        try:
            number = float(value)
            return str(int(number)) if number.is_integer() else f"{number:.3f}"
        except (TypeError, ValueError):
            return str(value)
    return [tuple(cell(value) for value in row) for row in rows]


class Timed:
    def __init__(self, *command, **more):
        begun = time.time()
        process = subprocess.Popen(command, **more)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, command)
        self.seconds, self.mib = time.time() - begun, usage.ru_maxrss >> 10
        self.processor = usage.ru_utime + usage.ru_stime

    def show(self, name, rows, database_mib=None):
        size = f", database {database_mib} MiB" if database_mib is not None else ""
        rate = f"{self.seconds:.1f} s, {rows / self.seconds:.0f} rows/s"
        print(f"{name}: {rate}, processor {self.processor:.1f} s, memory {self.mib} MiB{size}")


def repeated(path, rows, folder):
    """A file with this number of records. Copies are other messages with the same links."""
    out = os.path.join(folder, "repeated.jsonl")
    with open(path, encoding="utf-8") as lines:
        records = [line for line in lines if line.startswith('{"schema":1,"type":"url"')]
    with open(out, "w", encoding="utf-8") as file:
        for number in range(rows):
            copy, index = divmod(number, len(records))
            file.write(of_other_message(records[index], copy) if copy else records[index])
    return out


def of_other_message(line, copy):
    """A record with another identifier, digest, path and mailbox."""
    line = re.sub('"(id|digest)":"[0-9a-f]{4}', lambda start: f'{start[0][:-4]}{copy:04x}', line)
    line = line.replace('"source":{"path":"', f'"source":{{"path":"copy{copy}', 1)
    return line.replace('"mailbox":"', f'"mailbox":"copy{copy}', 1)


def import_csv(database, folder, rows, into_sqlite):
    csv = os.path.join(folder, "urls.csv")
    with contextlib.closing(sqlite3.connect(database)) as db:
        columns = [row[1] for row in db.execute("PRAGMA table_info(urls)")]
        create, *indexes = [row[0] for row in db.execute(
            "SELECT sql FROM sqlite_master WHERE tbl_name = 'urls' AND sql IS NOT NULL "
            "ORDER BY type = 'index'")]
    # CSV cannot hold NUL bytes.
    fields = ", ".join(f'hex("{name}")' if name == "record_key" else f'"{name}"'
                       for name in columns)
    with open(csv, "wb") as file:
        file.write(output("sqlite3", "-csv", database, f"SELECT {fields} FROM urls"))
    plain = create.replace(" UNIQUE", "").replace(" PRIMARY KEY", "")
    for name, statements in [("no index", [plain]), ("its indexes", [create, *indexes])]:
        copy = os.path.join(folder, f"{name}.db")
        commands = [part for statement in [*statements, ".mode csv"]
                    for part in ("-cmd", statement)]
        imported = Timed("sqlite3", *commands, copy, f".import {csv} urls")
        imported.show(f".import of the rows of urls, {name}", rows, os.path.getsize(copy) >> 20)
        times = into_sqlite.processor / imported.processor
        print(f"  the load takes {times:.1f} times the processor time")


def copy_csv(server, folder, rows, load_seconds):
    """Copies the rows of `urls` with psql. `load_seconds` is processor time of the server."""
    csv = os.path.join(folder, "copy.csv")
    with open(csv, "w", encoding="utf-8") as file:
        file.write(server.psql("", "-c", "COPY urls TO STDOUT (FORMAT csv)"))
    for name, like in [("no index", "urls"), ("its indexes", "urls INCLUDING ALL")]:
        server.psql(f"CREATE TABLE copied (LIKE {like})")
        begun, processor = time.time(), server.processor_seconds()
        with open(csv, encoding="utf-8") as file:
            server.psql(file, "-q", "-c", "COPY copied FROM STDIN (FORMAT csv)")
        seconds, processor = time.time() - begun, server.processor_seconds() - processor
        print(f"\\copy of the rows of urls, {name}: {seconds:.1f} s, {rows / seconds:.0f} rows/s, "
              f"processor of the server {processor:.1f} s")
        print(f"  the load takes {load_seconds / processor:.1f} times the server's processor time")
        server.psql("DROP TABLE copied")


def percentiles(times):
    p50, p99 = (sorted(times)[int((len(times) - 1) * share)] * 1000 for share in (0.5, 0.99))
    return f"p50 {p50:.1f} ms, p99 {p99:.1f} ms"


def compare_words(sqlite, server, count):
    texts = sqlite.execute("SELECT url, subject, sender FROM texts WHERE id IN (SELECT id "
                           "FROM urls ORDER BY random() LIMIT 3000)")
    words = sorted({word for row in texts for text in row if text
                    for word in re.findall(r"[^\W_]+", text.lower())})
    random.seed(1)
    chosen = random.sample(words, min(count, len(words)))
    pairs = [[one] for one in chosen] + [[one, other] for one, other in zip(chosen, chosen[1:])]
    differences, times = 0, {"SQLite": [], "PostgreSQL": []}
    for pair in pairs:
        begun = time.time()
        match = " ".join(f'"{word}"' for word in pair)
        found = "SELECT count(*) FROM search WHERE search MATCH ?"
        in_sqlite = sqlite.execute(found, [match]).fetchone()[0]
        times["SQLite"].append(time.time() - begun)
        begun = time.time()
        query = " & ".join("''" + word + "''" for word in pair)
        found = f"SELECT count(*) FROM urls WHERE search @@ '{query}'::tsquery"
        in_server = int(server.rows(found)[0][0])
        times["PostgreSQL"].append(time.time() - begun)
        if in_sqlite != in_server:
            differences += 1
            print(f"  DIFFERENT: {pair}: SQLite {in_sqlite}, PostgreSQL {in_server}")
    print(f"{len(pairs)} full-text queries, {differences} different")
    for name, measured in times.items():
        note = " (psql's start included)" if name == "PostgreSQL" else ""
        print(f"  {name}: {percentiles(measured)}{note}")
    return differences


def searches(binary, database, sqlite, count=100):
    """Times of `urlspool search --limit 20`, for words of random rows."""
    texts = sqlite.execute("SELECT url FROM urls ORDER BY random() LIMIT ?", [count]).fetchall()
    words = [random.choice(re.findall(r"[^\W_]+", text) or ["http"]) for (text,) in texts]
    search = [binary, "search", database, "--limit", "20"]
    times = [Timed(*search, word, stdout=subprocess.DEVNULL).seconds for word in words]
    print(f"urlspool search --limit 20: {percentiles(times)}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("records")
    parser.add_argument("--words", type=int, default=200)
    parser.add_argument("--rows", type=int)
    args = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="urlspool-compare")
    database = os.path.join(folder, "urls.db")
    if args.rows:
        args.records = repeated(args.records, args.rows, folder)
    load = [args.binary, "load", "--into"]
    into_sqlite = Timed(*load, database, args.records)
    sqlite = sqlite3.connect(database)
    rows = sqlite.execute("SELECT count(*) FROM urls").fetchone()[0]
    print(f"{rows} rows, {os.path.getsize(args.records) >> 20} MiB of lines")
    into_sqlite.show("SQLite", rows, os.path.getsize(database) >> 20)
    import_csv(database, folder, rows, into_sqlite)
    server = Postgresql("compare")
    failed = 0
    try:
        before = server.processor_seconds()
        into_server = Timed(*load, server.target, args.records)
        load_seconds = server.processor_seconds() - before
        into_server.show("PostgreSQL", rows,
                         int(server.rows("SELECT pg_database_size('postgres')")[0][0]) >> 20)
        print(f"  processor of the server {load_seconds:.1f} s")
        Timed(*load, server.target, args.records).show("PostgreSQL again", rows)
        copy_csv(server, folder, rows, load_seconds)
        for name, query in QUERIES.items():
            answers = {"SQLite": shown(sqlite.execute(query)),
                       "PostgreSQL": shown(server.rows(query))}
            if len({tuple(answer) for answer in answers.values()}) > 1:
                failed += 1
                print(f"  DIFFERENT: {name}")
                for program, answer in answers.items():
                    others = {row for other, rows in answers.items() if other != program
                              for row in rows}
                    print(f"    {program}: {len(answer)} rows; only here: "
                          f"{[row for row in answer if row not in others][:3]}")
        for name, query in CHECKS.items():
            for program, count in [("SQLite", sqlite.execute(query).fetchone()[0]),
                                   ("PostgreSQL", server.rows(query)[0][0])]:
                if int(count):
                    failed += 1
                    print(f"  FAILED: {program}: {count} {name}")
        print(f"{len(QUERIES)} queries, {failed} different")
        failed += compare_words(sqlite, server, args.words)
        searches(args.binary, database, sqlite)
    finally:
        server.stop()
        shutil.rmtree(folder)
    print(f"{0 if failed else 1} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
