#!/usr/bin/env python3
"""Kills `urlspool load --follow` and `urlspool watch` at random moments, and checks that each
record is loaded once.

    python3 tests/tools/load_kills.py BINARY [--kills N] [--target sqlite|postgresql] [--seed N]
                                      [--restart-server] [--move-database]

Mail is appended to an mbox all the time. The daemon writes segments, which the loader loads and
deletes. At the end both finish, and the rows must match a scan of the mbox. `--restart-server`
stops and starts the server in the meantime.

With `--move-database` the SQLite database is renamed, removed or replaced at random moments, with
or without its logs, and sometimes moved back. A running loader must end with exit code 74, and keep
the segments sealed after the move. At the end each record must be in one of the databases that were
ever at that path. For a removed database, the rows at the time of removal count.
"""

import argparse, contextlib, glob, json, os, random, shutil, signal, sqlite3, subprocess
import tempfile, time

from postgresql import Postgresql
from world import World, finish, output, report

# Exit codes of a loader whose database was moved, and of one that finds foreign logs.
EX_IOERR, REFUSED = 74, 2

# Seconds that a loader may run after its database was moved, while segments are sealed.
LOADER_SECONDS = 15

CHECKS = {
    "links with other numbers than their rows": """SELECT count(*) FROM links JOIN (
        SELECT urls.link, count(*) AS citations, count(DISTINCT messages.digest) AS messages,
          min(cited) AS first, max(cited) AS last, count(CASE WHEN lower(region)
          LIKE 'header:list-%' OR lower(region) = 'header:archived-at' THEN 1 END) AS l
        FROM urls JOIN messages ON messages.id = urls.message GROUP BY urls.link) AS n
        ON n.link = links.id WHERE n.citations <> links.citations OR n.messages <> links.messages
          OR n.l <> links.in_list_fields OR coalesce(n.first, '') <> coalesce(links.first, '')
          OR coalesce(n.last, '') <> coalesce(links.last, '')""",
    "links without rows": "SELECT count(*) FROM links WHERE id NOT IN (SELECT link FROM urls "
                          "WHERE link IS NOT NULL)",
    "messages without rows":
        "SELECT count(*) FROM messages WHERE id NOT IN (SELECT message FROM urls)",
    "rows with one key": "SELECT count(*) - count(DISTINCT record_key) FROM urls",
}


class Sqlite:
    def __init__(self, folder, name="urls.db"):
        self.path = self.target = os.path.join(folder, name)

    def rows(self, query):
        with contextlib.closing(sqlite3.connect(self.path, timeout=60)) as db, db:
            return db.execute(query).fetchall()

    def stop(self):
        pass


class MovingSqlite(Sqlite):
    """A database that is moved away and back while its loader runs."""

    LOGS = ("-wal", "-shm", "-journal")

    def __init__(self, folder):
        super().__init__(folder)
        self.folder, self.moves = folder, 0
        # Paths of the earlier databases.
        self.others = []

    def place(self):
        self.moves += 1
        os.mkdir(f"{self.folder}/moved{self.moves}")
        return f"{self.folder}/moved{self.moves}/urls.db"

    def move(self, random, loader):
        """Moves the database away. Returns a description of the move."""
        how = random.choice(["rename", "rename with logs", "remove", "replace"])
        other = self.place()
        if how == "replace":
            # An older copy, without the logs of a running loader.
            older = other + ".older"
            loader.send(signal.SIGSTOP)
            for end in ("", *self.LOGS[:1]):
                if os.path.exists(self.path + end):
                    shutil.copy(self.path + end, older + end)
            loader.send(signal.SIGCONT)
            with contextlib.closing(sqlite3.connect(older)) as copy:
                copy.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            time.sleep(1.5 * random.random())
            os.rename(self.path, other)
            self.move_logs(other)
            os.rename(older, self.path)
            self.others.append(other)
        elif how == "remove":
            # The rows at this moment.
            loader.send(signal.SIGSTOP)
            for end in ("", *self.LOGS[:1]):
                if os.path.exists(self.path + end):
                    shutil.copy(self.path + end, other + end)
                    os.remove(self.path + end)
            self.move_logs(other + ".rest")
            loader.send(signal.SIGCONT)
            self.others.append(other)
        else:
            os.rename(self.path, other)
            if how == "rename with logs":
                self.move_logs(other)
            self.others.append(other)
        return how

    def move_logs(self, other):
        for end in self.LOGS:
            if os.path.exists(self.path + end):
                os.rename(self.path + end, other + end)

    def settle(self, random, how):
        """Moves the database back, or its remains away. No loader runs."""
        other = self.others[-1]
        if how.startswith("rename") and random.random() < 0.6:
            logs = f"{os.path.dirname(other)}/logs"
            if os.path.exists(self.path):
                # A loader has created another one.
                new = self.place()
                os.rename(self.path, new)
                self.move_logs(new)
                self.others.insert(0, new)
            os.rename(other, self.path)
            for end in self.LOGS:
                if os.path.exists(other + end):
                    os.rename(other + end, self.path + end)
            self.others.pop()
            return "moved back"
        if how == "rename" and not os.path.exists(self.path):
            self.move_logs(other)
        return "left"

    def all(self):
        return [Sqlite(self.folder, path) for path in [self.path, *self.others]]


class Process:
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

    def send(self, number):
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(number)

    def ends_within(self, seconds):
        """Waits for the end of the program. Returns its exit code, or None if it still runs."""
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def opens_within(self, seconds, path):
        """Waits until the program has opened a file. Returns false if it does not."""
        end = time.time() + seconds
        while time.time() < end and self.process.poll() is None:
            for link in glob.glob(f"/proc/{self.process.pid}/fd/*"):
                with contextlib.suppress(OSError):
                    if os.readlink(link) == path + "-wal":
                        return True
            time.sleep(0.02)
        return False

    def kill(self):
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()


def message(random, number):
    """A message with one to four URLs. Some links are cited repeatedly."""
    urls = [f"http://h{random.randrange(40)}.example/{random.randrange(200)}"
            for _ in range(random.randrange(4))]
    urls.append(f"ftp://f.example/{number}")
    day, hour = 1 + number % 28, number % 24
    return (
        f"From a@b.example Mon Jan  1 00:00:00 1996\nFrom: a{number % 7}@b.example\n"
        f"Subject: letter {number}\n"
        f"Date: {day} Jul 1996 {hour:02}:00:00 +0000\nMessage-ID: <{number}@b.example>\n\n"
        + "\n".join(urls) + "\n\n"
    )


def expected(binary, folder):
    scan = output(binary, "scan", "-q", f"{folder}/spool")
    return sorted(json.loads(line)["id"] for line in scan.splitlines())


def check(databases, wanted):
    """Checks that each record is in exactly one of the databases."""
    loaded, twice, problems = set(), 0, []
    for database in databases:
        if 1 < len(databases) and not database.rows("SELECT 1 FROM sqlite_master "
                                                    "WHERE name = 'urls'"):
            # It was moved before its tables were created.
            continue
        ids = [row[0] for row in database.rows("SELECT record_id FROM urls")]
        twice += len(ids) - len(set(ids))
        loaded.update(ids)
        for name, query in CHECKS.items():
            count = int(database.rows(query)[0][0])
            if count:
                problems.append(f"{count} {name}")
    if twice or loaded != set(wanted):
        problems.append(f"{len(wanted)} records, {len(loaded)} loaded: {twice} twice, "
                        f"{len(set(wanted) - loaded)} lost")
    return problems


def segments(folder):
    return {name for name in os.listdir(f"{folder}/out") if name[0].isdigit()
            and not name.endswith(".meta")}


def move_database(database, loader, deliver):
    """Moves the database away and perhaps back. Describes the moves, and errors."""
    loader.start()
    if not loader.opens_within(5, database.path):
        return "the database is not open", []
    how = database.move(random, loader)
    before, kept, problems = segments(database.folder), set(), []
    if random.random() < 0.7:
        end, code = time.time() + LOADER_SECONDS, None
        while code is None and time.time() < end:
            kept |= segments(database.folder) - before
            deliver()
            code = loader.ends_within(0.2)
        if code != EX_IOERR:
            problems.append(f"{how}: " + (f"exit code {code}" if code else "the loader still runs "
                f"after {LOADER_SECONDS} s"))
        if removed := kept - segments(database.folder):
            problems.append(f"{how}: {len(removed)} segments that were sealed later were removed")
    # The loader may be started while the database is missing.
    for _ in range(random.choice([0, 0, 1, 2])):
        loader.start()
        deliver()
        time.sleep(1.5 * random.random())
        loader.kill()
    loader.kill()
    return f"{how}, {database.settle(random, how)}", problems


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--target", choices=["sqlite", "postgresql"], default="sqlite")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--restart-server", action="store_true")
    parser.add_argument("--move-database", action="store_true")
    args = parser.parse_args()
    if args.move_database and args.target != "sqlite":
        parser.error("--move-database is for SQLite")
    random.seed(args.seed)
    binary = os.path.abspath(args.binary)
    tempfile.tempdir = "/dev/shm" if os.path.isdir("/dev/shm") else None
    compress = random.choice(["none", "zstd"])
    folder = World(sweep="1s", settle="0s", state='commit_interval="20ms"\n',
                   output=f'seal_bytes="16KiB"\ncompress="{compress}"\n').root
    os.mkdir(f"{folder}/out")
    config = f"{folder}/c.toml"
    if args.target == "postgresql":
        database = Postgresql("kills")
    else:
        database = MovingSqlite(folder) if args.move_database else Sqlite(folder)
    log = open(f"{folder}/log", "wb")
    daemon = Process(log, binary, "watch", "--config", config)
    loader = Process(log, binary, "load", "--into", database.target,
                     "--follow", "--delete-segments", f"{folder}/out")
    number, kills, begun, problems, moves = 0, {"daemon": 0, "loader": 0}, time.time(), [], []

    def deliver():
        nonlocal number
        with open(f"{folder}/spool/inbox", "a", encoding="utf-8") as inbox:
            for _ in range(random.randrange(1, 40)):
                inbox.write(message(random, number))
                number += 1

    try:
        while sum(kills.values()) < args.kills:
            daemon.start()
            loader.start()
            deliver()
            # The loader looks for segments each second, so kills after its start hit it at work.
            time.sleep(random.choice([0.005, 0.02, 0.05, 0.1, 0.4, 1.2]) * random.random())
            if random.random() < 0.75:
                loader.kill()
                kills["loader"] += 1
            if random.random() < 0.25:
                daemon.kill()
                kills["daemon"] += 1
            if args.restart_server and random.random() < 0.02:
                database.restart()
            if args.move_database and random.random() < 0.12:
                daemon.start()
                done, found = move_database(database, loader, deliver)
                moves.append(done)
                problems += found
        daemon.kill()
        subprocess.run([binary, "watch", "--config", config, "--once"],
                       check=True, stdout=log, stderr=log)
        loader.kill()
        last = [binary, "load", "-v", "--into", database.target,
                "--delete-segments", f"{folder}/out"]
        subprocess.run(last, check=True, stdout=log, stderr=log)
        wanted = expected(binary, folder)
        problems += check(database.all() if args.move_database else [database], wanted)
        allowed = {EX_IOERR, REFUSED} if args.move_database else set()
        if args.target == "sqlite" and (codes := set(loader.codes) - allowed):
            problems.append(f"exit codes of load: {sorted(codes)}")
        left = [name for name in os.listdir(f"{folder}/out") if not name.startswith(".")]
        if left:
            problems.append(f"segments that were not removed: {left}")
        seconds = time.time() - begun
        print(f"{args.target}: {kills['loader']} kills of load, {kills['daemon']} of watch, "
              f"{number} messages, {len(wanted)} records, "
              f"{seconds:.0f} s; other ends of load: {loader.codes or 'none'}, of watch: "
              f"{daemon.codes or 'none'}")
        if moves:
            print(f"  {len(moves)} moves: " + ", ".join(f"{moves.count(move)} {move}"
                                                        for move in sorted(set(moves))))
        report("each record is loaded once", not problems, "; ".join([*problems, folder]))
        if not problems:
            shutil.rmtree(folder)
        finish()
    finally:
        daemon.kill()
        loader.kill()
        database.stop()


if __name__ == "__main__":
    main()
