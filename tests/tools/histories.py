#!/usr/bin/env python3
"""Runs random histories of spools while the daemon is repeatedly killed. In the end, the database
equals the spools.

    tests/tools/histories.py [PROGRAM] [--kills N] [--seed S] [--tombstones on|off|both] [--jobs J]

Each history has four spools: mboxes (one of MMDF) and Maildirs, MH folders, newsgroups, and files
of one message. Their writers take the actions of the table TABLE. In the meantime, the daemon is
killed (SIGKILL) at random moments, sometimes stopped, and reloads configurations (SIGHUP) with
other spellings of its paths. Another scope or kind is refused.

At each checkpoint, the daemon finishes its work, `urlspool load` loads the segments, and the rows
must match the existing messages: each URL once per mailbox, or once per spool, and with tombstones
no row of a missing message. The lines alone must also be consistent: no message is written twice,
and none is gone that never left.

A message that came and went between two checkpoints may be written or not. An edited message is
written once per version. So is one that grew while its file was annotated, renamed, copied or
compressed.

In a third of the histories, writers also append without a lock, and some pause for a second within
a message, with the file open or closed. In some histories a filter excludes a URL of each message.
Without tombstones, some print their records (`--stdout`): a line may then be printed again only
after a kill.

`--history N` runs one history, by the number that a failure prints. Times differ between runs, so a
seed repeats the actions but not always the failure. Folders of failures are kept.
"""
import argparse, collections, concurrent.futures, contextlib, fcntl, glob, gzip, json
import multiprocessing, os, pathlib, random, re, shutil, signal, sqlite3, subprocess, sys, tempfile
import threading, time, traceback, types

from world import finish, output, program, report, run, skip

# Kills per history, and kills between two checkpoints.
HISTORY_KILLS, CHECKPOINT_KILLS = 40, 10

# Seconds. A closed file is read after CLOSED, others after `settle`, which is longer if writers
# pause for SLOW.
SETTLE, SLOW_SETTLE, GONE_AFTER, CLOSED, SLOW = 0.5, 2.5, 1.0, 0.4, 1.0

# Seconds that a daemon may work before a checkpoint without being killed.
PATIENCE = 40

# Fields that other programs add to a stored message, one line per program.
ANNOTATIONS = [
    "X-UIDL: {0:08x}", "Replied: Mon, 01 Jan 1996 00:00:{0:02d} +0000",
    "X-Label: label{0}", "X-Keywords: a b{0}", "Status: RO",
    "Forwarded: Mon, 01 Jan 1996 00:00:{0:02d} +0000",
]

FILLER = "some words of no interest at all, to fill the line\n"


class Message:
    """A message, and the expected output for it. Each of its URLs has a tag."""

    def __init__(self, n, spool, filler, groups=()):
        self.n, self.spool, self.filler, self.groups, self.ballast = n, spool, filler, groups, ""
        self.filtered = ""
        # Tags of its current URLs, and of all URLs that it ever had.
        self.tags, self.all_tags = ["a", "e0"], {"a", "e0"}
        # Number of versions that may have been written: edits that the daemon had time to see.
        self.versions = 1
        # Its writer was slower than promised.
        self.is_late = False
        # Another message followed it in an mbox, so it is complete for good.
        self.was_followed = False
        # Its file was annotated, or has grown, since the last checkpoint. Growth may be missed.
        self.is_annotated = self.has_grown = False
        # Its file has a new path. The daemon sees growth only in a file with an unchanged path.
        self.is_moved = False
        # How often it arrived in each mailbox and left it.
        self.arrivals, self.departures = collections.Counter(), collections.Counter()
        # Mailboxes that held it at a checkpoint, each with its tags.
        self.settled = set()

    def enlarge(self, rng):
        """Makes the message need much memory or have many records."""
        kind = rng.randrange(3)
        if kind == 2:
            self.tags += [f"m{i}" for i in range(3000)]
            self.all_tags.update(self.tags)
        else:
            self.ballast = ["\udcff" * 72 + "\n",
                            "\udce9&" * 36 + "\n"][kind] * rng.choice([3_000, 30_000])

    def text(self, annotations=()):
        n = self.n
        head = [f"From: a{n % 7}@b.example", f"Subject: number {n}",
                *annotations, f"Message-ID: <{n}@x.example>"]
        if self.groups:
            head = ["Path: a.example!b.example!not-for-mail",
                    f"Newsgroups: {','.join(self.groups)}"] + head
        first, second, *more = (f"http://h.example/{n}-{tag}.html" for tag in self.tags)
        body = (f"see {first} now\n{self.filtered}" + FILLER * self.filler + self.ballast
                + f"and {second} too\n")
        return "\n".join(head) + "\n\n" + body + "".join(f"\nmore {url}\n" for url in more)


class Box:
    """A file with one or more names: a mailbox, or one message."""

    def __init__(self, format, entries=(), hole=0):
        # Each entry is a message and its annotations.
        self.format, self.entries, self.hole, self.names = format, list(entries), hole, set()

    def bytes(self):
        texts = [entry_text(self.format, *entry) for entry in self.entries]
        return bytes(self.hole) + encoded("".join(texts))


def encoded(text):
    return text.encode(errors="surrogateescape")


def entry_text(format, message, annotations):
    text = message.text(annotations)
    if format == "mbox":
        return f"From a@b Mon Jan  1 00:00:00 1996\n{text}\n"
    return f"\1\1\1\1\n{text}\1\1\1\1\n" if format == "mmdf" else text


class Spool:
    def __init__(self, name, kinds):
        self.name, self.kinds = name, kinds
        self.dedupe, self.kind, self.path = "mailbox", kinds[0], name

    def scope(self):
        return ("spool" if self.dedupe == "spool" or self.kind == "news"
                or self.name == "news" else "mailbox")

    def table(self, base):
        kind = f'kind="{self.kind}"\n' if self.kind else ""
        return f'[[spool]]\npath="{base}/{self.path}"\ndedupe="{self.dedupe}"\n{kind}'


class Failed(Exception):
    """A broken promise."""


class NothingToDo(Exception):
    """The spools have no file for an action."""


class History:
    """The spools of one history, their model, and the daemon."""

    def __init__(self, number, tombstones):
        self.rng, self.number, self.tombstones = random.Random(number), number, tombstones
        memory = "/dev/shm" if os.path.isdir("/dev/shm") else None
        self.root = os.path.realpath(tempfile.mkdtemp(prefix="urlspool-history", dir=memory))
        # File systems on disks reuse the inodes of removed files.
        on_disk = self.rng.random() < 0.3
        self.base = os.path.realpath(tempfile.mkdtemp(prefix="urlspool-spools", dir=os.environ.get(
            "SPOOLS") or (None if on_disk else memory)))
        self.spools = {
            "sp": Spool("sp", [None]), "mh": Spool("mh", [None, "mh", "message", "news"]),
            "news": Spool("news", ["news", None]), "eml": Spool("eml", [None, "message"]),
        }
        self.places = ["sp/md/A", "sp/md/B", "sp/inbox", "sp/sub/list", "sp/live", "sp/raw"]
        for folder in ("aside", "sp/sub/keep", "mh/keep", "mh/inbox",
                       "mh/drafts", "news/comp/a", "news/comp/b", "news/alt/x",
                       "news/comp/keep", "eml/keep"):
            os.makedirs(f"{self.base}/{folder}")
        for box in "AB":
            for folder in ("new", "cur", "tmp"):
                os.makedirs(f"{self.base}/sp/md/{box}/{folder}")
        self.names, self.messages, self.present, self.writers = {}, {}, set(), {}
        # The daemon has been ready since it was last started.
        self.was_ready, self.log_at = False, 0
        self.sweep = self.rng.choice(["1s", "5m"])
        self.compress = self.rng.choice(["none", "zstd"]) if shutil.which("zstd") else "none"
        self.daemon, self.kills, self.actions, self.done = None, 0, 0, collections.Counter()
        for folder in ("out", "taken"):
            os.mkdir(f"{self.root}/{folder}")
        self.log = open(f"{self.root}/actions.log", "w")
        self.replayed, self.rows = set(), {}
        self.written, self.gone = collections.Counter(), collections.Counter()
        for spool in self.spools.values():
            spool.dedupe = self.rng.choice(["mailbox", "mailbox", "spool"])
            spool.kind = self.rng.choice(spool.kinds)
        self.is_slow, self.is_filtered = self.rng.random() < 0.35, self.rng.random() < 0.4
        self.settle = SLOW_SETTLE if self.is_slow else SETTLE
        # Files with the printed lines, those of runs that were killed, the last one with each key,
        # and the number of bytes that were read of the current one.
        self.prints = not tombstones and self.rng.random() < 0.6
        self.printed, self.killed, self.keys, self.read = [], set(), {}, 0
        # MH folders are read with the kind `message`.
        self.were_messages = self.spools["mh"].kind == "message"
        self.write_config()

    # The daemon.

    def write_config(self):
        tables = "".join(spool.table(self.base) for spool in self.spools.values())
        text = (f'[output]\ndir="{self.root}/out"\nseal_interval="200ms"\nseal_bytes="8KiB"\n'
                f'compress="{self.compress}"\n'
                f'tombstones={str(self.tombstones).lower()}\n[state]\ndir="{self.root}/state"\n'
                'commit_interval="20ms"\n'
                f'[watch]\nsettle="{int(self.settle * 1000)}ms"\nsweep="{self.sweep}"\n'
                f'gone_after="{int(GONE_AFTER * 1000)}ms"\n'
                f'[extract]\nexclude_domains={["filtered.example"] if self.is_filtered else []}\n'
                f'[metrics]\nlisten=""\n{tables}')
        with open(f"{self.root}/next.toml", "w") as file:
            file.write(text)
        os.rename(f"{self.root}/next.toml", f"{self.root}/c.toml")

    def start(self, *args):
        self.was_ready = False
        log = f"{self.root}/log"
        self.log_at = os.path.getsize(log) if os.path.exists(log) else 0
        self.note(f"start {' '.join(args)}")
        if self.prints:
            self.replay()
            self.printed.append(f"{self.root}/lines.{len(self.printed)}")
            args, self.read = [*args, "--stdout"], 0
        with open(log, "a") as log, open(self.printed[-1] if self.prints else "/dev/null",
                                         "wb") as lines:
            self.daemon = subprocess.Popen([program, "watch", "--config", f"{self.root}/c.toml",
                                            *args], stdout=lines, stderr=log)

    def stop(self, signal_number, codes):
        """Ends the daemon with a signal. If it ended earlier, its exit code must be in `codes`."""
        self.daemon.send_signal(signal_number)
        self.killed.update(self.printed[-1:] if signal_number == signal.SIGKILL else [])
        try:
            code = self.daemon.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            raise Failed(f"the daemon still runs {PATIENCE} s after {signal_number}") from None
        self.daemon = None
        self.note(f"end {code}")
        if code not in codes:
            raise Failed(f"the daemon ended with exit code {code}: {self.last_log()}")

    def last_log(self):
        return self.new_log().strip().split("\n")[-1]

    def note(self, text):
        self.log.write(f"{time.time() - self.begun:9.3f} {text}\n")
        self.log.flush()

    def run(self, kills):
        self.begun = time.time()
        try:
            while self.kills < kills:
                self.round()
                if self.kills % CHECKPOINT_KILLS == 0 or kills <= self.kills:
                    self.checkpoint()
        finally:
            if self.daemon is not None:
                self.daemon.kill()
                self.daemon.wait()

    def round(self):
        """Starts the daemon, acts until it is killed, and acts while it is down."""
        rng = self.rng
        self.start(*(["--once"] if rng.random() < 0.1 else []))
        delay = rng.choice([0.01, 0.05, 0.2, 0.6, 1.5] + [4] * self.is_slow) * rng.random()
        if rng.random() < 0.07:
            # Late enough that the state was read, early enough that signals are not handled yet.
            self.act_until(time.time() + delay + 0.3)
            self.stop(signal.SIGTERM, [0, -signal.SIGTERM, -signal.SIGHUP])
        else:
            # The daemon is also killed in the middle of an action.
            killer = threading.Timer(delay, self.daemon.kill)
            killer.start()
            self.act_until(time.time() + delay)
            killer.join()
            self.stop(signal.SIGKILL, [0, -signal.SIGKILL, -signal.SIGHUP])
        self.kills += 1
        for _ in range(rng.choice([0, 0, 1, 5])):
            self.act()
        if rng.random() < 0.1:
            self.consume()

    def act_until(self, end):
        while time.time() < end:
            self.act()
            time.sleep(min(self.rng.choice([0, 0.002, 0.02, 0.05]), max(0, end - time.time())))

    # Checkpoints.

    def checkpoint(self):
        if self.sweep == "1s" and self.rng.random() < 0.5:
            self.note("checkpoint: the daemon works")
            self.start()
            end, problems = time.time() + PATIENCE, ["no row was checked"]
            while problems and time.time() < end:
                time.sleep(0.5)
                problems = self.problems()
            if problems:
                raise Failed(f"after {PATIENCE} s of work: {summary(problems)}")
            self.stop(signal.SIGTERM, [0])
        else:
            self.note("checkpoint: --once")
            self.start("--once")
            try:
                code = self.daemon.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                raise Failed(f"--once does not end after {PATIENCE} s") from None
            self.daemon = None
            if code:
                raise Failed(f"--once ended with exit code {code}: {self.last_log()}")
        problems = self.problems()
        if problems:
            raise Failed(summary(problems))
        self.compare_database()
        for place, n in self.present:
            self.messages[n].settled.update((place, tag) for tag in self.messages[n].tags)
        for message in self.messages.values():
            message.is_annotated = message.has_grown = False
        self.note("checkpoint passed")

    def consume(self):
        self.replay()
        delete = ["--delete-segments"] if self.rng.random() < 0.7 and not self.prints else []
        done = run(program, "load", "--into", f"{self.root}/urls.db", *delete, f"{self.root}/out")
        if done.returncode:
            raise Failed(f"load: exit code {done.returncode}: {done.stderr.strip()}")

    def replay_printed(self):
        """Reads the lines that were printed since the last call. A kill may cut the last one off.
        Those that may be repeated go to the folder of segments once."""
        now = self.printed[-1]
        with open(now, "rb") as file:
            file.seek(self.read)
            whole = re.match(rb"(?s)(?:.*\n)?", file.read())[0]
        self.read += len(whole)
        for line in whole.splitlines(keepends=True):
            record = json.loads(line)
            key = record["id"], record["source"]["path"], str(record["source"].get("member"))
            before, self.keys[key] = self.keys.get(key), now
            if before in self.killed - {now}:
                self.done["line printed again"] += 1
                continue
            self.replay_line(record)
            with open(f"{self.root}/out/lines.jsonl", "ab") as file:
                file.write(line)

    def replay(self):
        if self.printed:
            return self.replay_printed()
        for path in sorted(glob.glob(f"{self.root}/out/*.jsonl*")):
            name = os.path.basename(path)
            kept = f"{self.root}/taken/{name}"
            if name in self.replayed:
                if not os.path.samefile(path, kept):
                    raise Failed(f"the number of segment {name} is used twice")
                continue
            os.link(path, kept)
            self.replayed.add(name)
            for line in segment_lines(kept):
                self.replay_line(json.loads(line))

    def replay_line(self, line):
        if line.get("type") == "gone":
            digests, mailbox = set(line["digests"]), line["mailbox"]
            gone = [key for key, (box, digest, *_) in self.rows.items()
                    if box == mailbox and digest in digests]
            if not gone:
                raise Failed(f"a line of type gone names no message that was written: {line}")
            for where in {self.rows.pop(key)[2:] for key in gone}:
                self.gone[where] += 1
            return
        mailbox, url = line["source"]["mailbox"], line["url"]
        where = (self.place_of_mailbox(mailbox), url)
        self.written[where] += 1
        key = (line["id"], line["source"]["path"], str(line["source"].get("member")))
        self.rows.setdefault(key, (mailbox, line["message"]["digest"], *where))

    def place_of_mailbox(self, mailbox):
        place = os.path.relpath(os.path.realpath(mailbox), self.base)
        if place.startswith("news"):
            return "news"
        return re.sub(r"^(mh/\w+)/\d+$", r"\1", place)

    def problems(self):
        self.replay()
        rows = collections.Counter(row[2:] for row in self.rows.values())
        found, problems = collections.defaultdict(collections.Counter), []
        for (place, url), count in rows.items():
            match = re.fullmatch(r"http://h.example/(\d+)-(\w+).html", url)
            if (match is None or int(match[1]) not in self.messages
                or match[2] not in self.messages[int(match[1])].all_tags):
                problems.append(f"{url} in {place} was never delivered")
            else:
                found[int(match[1]), match[2]][place] += count
        places = collections.defaultdict(set)
        for place, n in self.present:
            places[n].add(place)
        for n, message in self.messages.items():
            if not message.is_late:
                for tag in message.all_tags:
                    problems += [f"{n}-{tag}: {text}" for text in self.problems_of(
                        message, tag, places[n], found[n, tag])]
        return problems

    def problems_of(self, message, tag, places, rows):
        """Describes errors in the rows of one URL. `places` are the mailboxes of its message."""
        limit = 1 if self.tombstones else message.versions
        url = f"http://h.example/{message.n}-{tag}.html"
        for place in set(rows) | set(message.arrivals):
            written, gone = self.written[place, url], self.gone[place, url]
            may_write = message.versions - 1 + (message.arrivals[place] if self.tombstones else 1)
            if place not in message.arrivals:
                yield f"{rows[place]} rows in {place}, where it never was"
            elif may_write < written:
                yield f"written {written} times in {place}, expected at most {may_write}"
            elif limit < rows[place]:
                yield f"{rows[place]} rows in {place}"
            elif message.departures[place] + message.versions - 1 < gone:
                yield f"gone {gone} times from {place}, left {message.departures[place]} times"
        total = sum(rows.values())
        if self.tombstones and (not places or tag not in message.tags):
            if total:
                yield (f"{dict(rows)} rows of "
                       f"{'a message that is gone' if not places else 'a URL that was removed'}")
            return
        if tag not in message.tags:
            return
        settled = {place for place, other in message.settled if other == tag}
        must = places if self.tombstones else places | settled
        if self.spools[message.spool].scope() == "mailbox":
            for place in must:
                if not rows[place]:
                    yield f"lost in {place}; rows: {dict(rows)}"
            for place in set(rows) - places if self.tombstones else ():
                if rows[place]:
                    yield f"a row in {place}, which holds it no more"
        elif must and not total:
            yield f"lost in the spool; it is in {sorted(must)}"
        elif limit < total:
            yield f"{dict(rows)} rows in a spool in which it is written once"

    def compare_database(self):
        self.consume()
        self.replay()
        expected = collections.Counter((row[0], row[3]) for row in self.rows.values())
        with contextlib.closing(sqlite3.connect(f"{self.root}/urls.db")) as db:
            query = ("SELECT mailbox, url, count(*) FROM urls "
                     "JOIN messages ON messages.id = urls.message GROUP BY 1, 2")
            loaded = collections.Counter({(mailbox, url): count
                                          for mailbox, url, count in db.execute(query)})
            citations = db.execute("SELECT (SELECT coalesce(sum(citations), 0) FROM links), "
                                   "(SELECT count(*) FROM urls)").fetchone()
        if loaded != expected:
            raise Failed("the database is not what the lines say: "
                         f"{summary([*(loaded - expected)])}, {summary([*(expected - loaded)])}")
        if citations[0] != citations[1]:
            raise Failed(f"{citations[0]} citations of {citations[1]} rows")

    # The model.

    def act(self):
        self.actions += 1
        action = self.rng.choices(ACTIONS, WEIGHTS)[0]
        with contextlib.suppress(NothingToDo):
            if done := action(self):
                self.done[action.__name__] += 1
                self.note(f"{action.__name__}: {done}")
        self.follow()

    def follow(self):
        """Counts which messages arrived in a mailbox or left it since the last call."""
        present = {(place_of(name), message.n) for name, box in self.names.items()
                   for message, _ in box.entries}
        for place, n in present - self.present:
            self.messages[n].arrivals[place] += 1
        for place, n in self.present - present:
            self.messages[n].departures[place] += 1
        self.present = present

    def message(self, spool, groups=()):
        n = len(self.messages) + 1
        # Some are larger than the digest of a record may cover (64 KiB).
        filler = 1500 if self.rng.random() < (0.06 if spool in ("mh", "eml")
                                              else 0.01) else self.rng.randrange(30)
        self.messages[n] = Message(n, spool, filler, groups)
        if self.is_filtered:
            self.messages[n].filtered = f"not http://www.filtered.example/{n}.html\n"
        if self.rng.random() < 0.004:
            self.messages[n].enlarge(self.rng)
        return self.messages[n]

    def path(self, name):
        return f"{self.base}/{name}"

    def named(self, prefix):
        return sorted(name for name in self.names if name.startswith(prefix))

    def pick(self, names):
        if not names:
            raise NothingToDo
        return self.rng.choice(names)

    def add_name(self, name, box):
        self.names[name] = box
        box.names.add(name)

    def remove_name(self, name):
        self.names.pop(name).names.discard(name)

    def rename(self, name, to):
        os.rename(self.path(name), self.path(to))
        box = self.names[name]
        self.moved(box)
        self.remove_name(name)
        if to in self.names:
            self.remove_name(to)
        self.add_name(to, box)

    def moved(self, box):
        if box.format == "single":
            message = box.entries[0][0]
            message.versions += message.has_grown
            message.is_moved = True

    def unlink(self, name):
        os.remove(self.path(name))
        if 1 < len(self.names[name].names):
            self.moved(self.names[name])
        self.remove_name(name)

    def pause(self, messages=()):
        """A writer's pause between two writes. If it is too long, no result is promised."""
        begun = time.time()
        time.sleep(self.rng.choice([0, 0.001, 0.02]))
        if self.settle / 2 < time.time() - begun:
            for message in messages:
                message.is_late = True

    @contextlib.contextmanager
    def locked(self, name):
        lock = self.path(name) + ".lock"
        os.close(os.open(lock, os.O_CREAT | os.O_EXCL))
        with open(self.path(name), "r+b" if os.path.exists(self.path(name)) else "w+b") as file:
            fcntl.lockf(file, fcntl.LOCK_EX)
            yield file
            file.flush()
            os.remove(lock)

    def pause_for_long(self, file, message):
        """Pauses for SLOW, and perhaps closes the file before and opens it again afterwards."""
        name, begun = file.fileno(), time.time()
        at = os.lseek(name, 0, os.SEEK_CUR)
        is_closed = self.rng.random() < 0.6
        self.done["pause, file closed" if is_closed else "pause, file open"] += 1
        if is_closed:
            message.has_grown = True
            with open(f"/proc/self/fd/{name}", "rb") as reader:
                os.dup2(reader.fileno(), name)
        time.sleep(SLOW)
        if is_closed:
            with open(f"/proc/self/fd/{name}", "r+b", buffering=0) as again:
                again.seek(at)
                os.dup2(again.fileno(), name)
        message.is_late |= 0.8 * self.settle < time.time() - begun

    def write_in_pieces(self, file, data, messages=()):
        at = self.rng.randrange(len(data) + 1)
        is_long = self.is_slow and messages and self.rng.random() < 0.15
        if is_long and self.rng.random() < 0.6:
            at = data.rfind(b"\n", 0, at) + 1
        file.write(data[:at])
        file.flush()
        if is_long:
            self.pause_for_long(file, messages[0])
        else:
            self.pause(messages)
        file.write(data[at:])
        file.flush()

    def replace(self, name, box):
        """Replaces a file by a rename, with a new inode."""
        with open(self.path("aside/next"), "wb") as file:
            file.write(box.bytes())
        os.rename(self.path("aside/next"), self.path(name))
        if name in self.names:
            self.remove_name(name)
        self.add_name(name, box)

    def save(self, name, entry):
        """Saves a single-message file again: by a rename, or in place."""
        if self.rng.random() < 0.5:
            self.replace(name, Box("single", [entry]))
        else:
            box = self.names[name]
            box.entries = [entry]
            with open(self.path(name), "wb") as file:
                file.write(box.bytes())

    # Mboxes.

    def boxes(self):
        """Names of mailboxes that are written under locks and may be rewritten."""
        return [name for name in self.names if name.startswith("sp/")
                and not name.startswith("sp/md/") and place_of(name) == name
                and place_of(name) not in ("sp/live",) and not self.is_live(self.names[name])]

    def is_live(self, box):
        return any(writer.box is box for writer in self.writers.values())

    def append(self):
        name = self.pick(["sp/inbox", "sp/sub/list", "sp/raw", *self.boxes()])
        message = self.message("sp")
        return self.append_entry(name, (message, ()))

    def append_entry(self, name, entry):
        if name not in self.names:
            self.add_name(name, Box("mmdf" if name == "sp/raw" else "mbox"))
        box = self.names[name]
        is_locked = not self.is_slow or self.rng.random() < 0.5
        with self.locked(name) if is_locked else open(self.path(name), "ab") as file:
            if box.entries:
                box.entries[-1][0].was_followed = True
            file.seek(0, os.SEEK_END)
            text = encoded(entry_text(box.format, *entry))
            self.write_in_pieces(file, text, [] if is_locked else [entry[0]])
            box.entries.append(entry)
        return f"{entry[0].n} in {name}"

    def rewrite(self, name, entries):
        """Writes other messages into a mailbox: in place, or by a rename."""
        box = self.names[name]
        in_place = self.rng.random() < 0.5
        with self.locked(name) as file:
            if in_place:
                box.entries, box.hole = entries, 0
                file.truncate(0)
                if self.rng.random() < 0.1:
                    time.sleep(0.1)
                self.write_in_pieces(file, box.bytes())
            else:
                self.replace(name, Box(box.format, entries))
        return "in place" if in_place else "by rename"

    def expunge(self):
        name = self.pick(self.boxes())
        if not self.names[name].entries:
            return None
        entries = list(self.names[name].entries)
        some = self.rng.sample(range(len(entries)), min(len(entries), 1 + len(entries) // 10))
        numbers = [entries[at][0].n for at in some]
        how = self.rewrite(name, [entry for at, entry in enumerate(entries) if at not in some])
        return f"{numbers} of {name} {how}"

    def annotate_mbox(self):
        name = self.pick(self.boxes())
        if not self.names[name].entries:
            return None
        entries = list(self.names[name].entries)
        at = self.rng.randrange(len(entries))
        entries[at] = self.annotated(entries[at])
        how = self.rewrite(name, entries)
        return f"{entries[at][0].n} of {name} {how}: {entries[at][1]}"

    def annotated(self, entry):
        field = self.rng.choice(ANNOTATIONS).format(self.rng.randrange(60))
        name = field.split(":")[0]
        kept = [other for other in entry[1] if not other.startswith(name + ":")]
        return entry[0], (*kept, field)

    def grow_mbox(self):
        name = self.pick([name for name in self.boxes()
                          if self.names[name].format == "mbox" and self.names[name].entries])
        message = self.names[name].entries[-1][0]
        if message.was_followed or not self.may_change(message):
            return None
        message.has_grown = True
        tag = self.grown(message)
        with self.locked(name) as file:
            file.seek(0, os.SEEK_END)
            self.write_in_pieces(file, f"more http://h.example/{message.n}-{tag}.html\n\n".encode())
        return f"{message.n} in {name}: {tag}"

    def may_change(self, message):
        """Returns true if a message is in exactly one file with one name."""
        holders = [name for name, box in self.names.items()
                   if any(message is other for other, _ in box.entries)]
        return len(holders) == 1 and len(message.tags) < 6

    def grown(self, message):
        # A mailbox that it left may know an earlier version.
        message.versions += len(message.arrivals) > 1
        tag = f"g{len(message.all_tags)}"
        message.tags.append(tag)
        message.all_tags.add(tag)
        return tag

    def rotated(self, place):
        names = [name for name in self.named(place + ".") if place_of(name) == place]
        return sorted(names, key=lambda name: int(re.search(r"\.(\d+)", name)[1]))

    def make_room(self, place):
        """Renames the rotated files of a mailbox to free the number 1, and keeps at most three."""
        names = self.rotated(place)
        while 3 < len(names):
            self.unlink(names.pop())
        for name in reversed(names):
            number = int(re.search(r"\.(\d+)", name)[1])
            self.rename(name, name.replace(f".{number}", f".{number + 1}"))

    def rotate(self):
        """Rotates by renaming. The writer of a live mailbox continues in its open file."""
        name = self.pick([name for name in ("sp/inbox", "sp/sub/list", "sp/live", "sp/raw")
                          if name in self.names])
        if len(self.names[name].entries) < 4:
            return None
        self.make_room(name)
        if name == "sp/live":
            self.rename(name, name + ".1")
        else:
            with self.locked(name):
                self.rename(name, name + ".1")
        return name

    def copytruncate(self):
        """Rotates by copying and truncating. A writer that keeps its offset leaves a hole."""
        name = self.pick([name for name in ("sp/inbox", "sp/live", "sp/live", "sp/raw")
                          if name in self.names])
        if len(self.names[name].entries) < 4:
            return None
        self.make_room(name)
        box = self.names[name]
        with open(self.path(name), "r+b") if name == "sp/live" else self.locked(name) as file:
            copy = Box(box.format, box.entries, box.hole)
            with open(self.path(name + ".1"), "wb") as other:
                data = copy.bytes()
                if self.rng.random() < 0.5:
                    # Like `cp --sparse=always`.
                    other.seek(copy.hole)
                    data = data[copy.hole:]
                other.write(data)
            self.add_name(name + ".1", copy)
            file.truncate(0)
            box.entries, box.hole = [], 0
        return name

    def append_live(self):
        name = "sp/live"
        writer = self.writers.get(name)
        if writer is None or self.rng.random() < 0.02:
            # The writer opens the mailbox, perhaps again.
            if writer is not None:
                writer.file.close()
            if name not in self.names:
                self.add_name(name, Box("mbox"))
            file = open(self.path(name), "ab")
            file.close()
            file = open(self.path(name), "r+b", buffering=0)
            # A program that appends at its own offset and never looks at the file.
            writer = self.writers[name] = types.SimpleNamespace(
                box=self.names[name], file=file, offset=file.seek(0, os.SEEK_END))
        message = self.message("sp")
        data = encoded(entry_text("mbox", message, ()))
        box = writer.box
        if not box.entries:
            box.hole = writer.offset
            self.done["first message after a hole"] += bool(box.hole)
        writer.file.seek(writer.offset)
        self.write_in_pieces(writer.file, data, [message])
        writer.offset += len(data)
        box.entries.append((message, ()))
        return f"{message.n} in {sorted(box.names)} after a hole of {box.hole} bytes"

    def reopen(self):
        writer = self.writers.pop("sp/live", None)
        if writer is None:
            return None
        writer.file.close()
        return "sp/live"

    def compress_rotated(self):
        """Compresses a rotated file like gzip, which removes the old file last."""
        names = [name for place in self.places for name in self.rotated(place)
                 if not name.endswith(".gz")]
        names = [name for name in names if len(self.names[name].names) == 1
                 and not self.is_live(self.names[name])]
        name = self.pick(names)
        box = self.names[name]
        for message, _ in box.entries:
            # Growth in a compressed file goes unnoticed.
            message.versions += message.has_grown
        status = os.stat(self.path(name))
        with open(self.path(name + ".gz"), "wb") as file:
            self.write_in_pieces(file, gzip.compress(box.bytes()))
        os.utime(self.path(name + ".gz"), ns=(status.st_atime_ns, status.st_mtime_ns))
        self.add_name(name + ".gz", Box(box.format, box.entries, box.hole))
        self.unlink(name)
        return f"{name} with a hole of {box.hole} bytes"

    def remove_rotated(self):
        place = self.pick(self.places)
        names = self.rotated(place)
        if not names or self.is_live(self.names[names[-1]]):
            return None
        self.unlink(names[-1])
        return names[-1]

    def hard_link(self):
        name = self.pick([name for name in ("sp/inbox", "sp/sub/list") if name in self.names])
        to = self.rng.choice(["sp/link", "sp/sub/link"])
        if to in self.names:
            return None
        os.link(self.path(name), self.path(to))
        self.add_name(to, self.names[name])
        return f"{name} as {to}"

    def remove_mbox_name(self):
        name = self.pick([name for name in ("sp/link", "sp/sub/link") if name in self.names])
        self.unlink(name)
        return name

    # Maildirs.

    def maildir_deliver(self, entry=None, box=None):
        message, annotations = entry or (self.message("sp"), ())
        name = f"sp/md/{box or self.rng.choice('AB')}/new/{message.n}.M{self.actions}.host"
        temporary = self.path(re.sub("/new/", "/tmp/", name))
        with open(temporary, "wb") as file:
            self.write_in_pieces(file, encoded(message.text(annotations)))
        os.rename(temporary, self.path(name))
        self.add_name(name, Box("single", [(message, annotations)]))
        return name

    def maildir_rename(self):
        name = self.pick(self.named("sp/md/"))
        base = re.sub(r":.*", "", os.path.basename(name))
        to = f"{place_of(name)}/cur/{base}:2,{self.rng.choice(['', 'S', 'RS', 'FS'])}"
        self.rename(name, to)
        return to

    def maildir_move(self):
        name = self.pick(self.named("sp/md/"))
        to = f"sp/md/{self.rng.choice('AB')}/cur/{os.path.basename(name)}"
        if to in self.names or any(self.is_in(message, place_of(to)) and place_of(to)
                                   != place_of(name) for message, _ in self.names[name].entries):
            return None
        self.rename(name, to)
        return f"{name} to {to}"

    def maildir_annotate(self):
        name = self.pick(self.named("sp/md/"))
        entry = self.annotated(self.names[name].entries[0])
        self.replace(name, Box("single", [entry]))
        return f"{name}: {entry[1]}"

    def is_in(self, message, place):
        return (place, message.n) in self.present

    def copy_message(self):
        name = self.pick([name for name in self.named("sp/") if self.names[name].entries
                          and not name.endswith(".gz")])
        entry = self.rng.choice(self.names[name].entries)
        target = self.pick(["sp/md/A", "sp/md/B", "sp/inbox", "sp/sub/list", "sp/raw"])
        if self.is_in(entry[0], target) or place_of(name) == target:
            return None
        if target.startswith("sp/md/"):
            self.maildir_deliver(entry, target[-1])
        else:
            self.append_entry(target, entry)
        entry[0].versions += entry[0].has_grown
        self.follow()
        if self.rng.random() < 0.5:
            return f"{entry[0].n} of {name} to {target}"
        if name.startswith("sp/md/"):
            self.unlink(name)
        elif name in self.boxes():
            self.rewrite(name, [e for e in self.names[name].entries if e[0] is not entry[0]])
        return f"{entry[0].n} of {name} to {target}, and removed"

    def delete_maildir(self):
        return self.delete_one("sp/md/", 12)

    def delete_one(self, prefix, enough):
        names = self.named(prefix)
        for name in self.rng.sample(names, min(len(names), 1 + max(0, len(names) - enough) // 4)):
            self.unlink(name)
        return f"{len(names)} files before" if names else None

    # MH folders.

    def mh_name(self, folder):
        numbers = [int(os.path.basename(name)) for name in self.named(folder + "/")]
        return f"{folder}/{max(numbers, default=0) + 1}"

    def mh_deliver(self):
        name = self.mh_name("mh/inbox")
        message = self.message("mh")
        with open(self.path(name), "wb") as file:
            self.write_in_pieces(file, encoded(message.text()), [message])
        self.add_name(name, Box("single", [(message, ())]))
        return f"{message.n} in {name}"

    def draft(self):
        """Saves a draft, and a changed version 2 to 300 ms later."""
        name = self.mh_name("mh/drafts")
        message = self.message("mh")
        message.filler = min(message.filler, 30)
        begun = time.time()
        self.add_name(name, Box("single", [(message, ())]))
        with open(self.path(name), "wb") as file:
            file.write(encoded(message.text()))
        pause = self.rng.choice([0.002, 0.01, 0.05, 0.1, 0.3])
        time.sleep(pause)
        self.changed(message)
        self.save(name, (message, ()))
        message.versions += 0.8 * CLOSED < time.time() - begun
        return f"{message.n} as {name}, again after {pause} s"

    def changed(self, message):
        tag = f"e{len(message.all_tags)}"
        message.tags[1] = tag
        message.all_tags.add(tag)

    def numbered_or_eml(self):
        return self.pick(self.named("mh/inbox/") + self.named("mh/drafts/") + self.named("eml/"))

    def edit(self):
        name = self.numbered_or_eml()
        if not self.may_change(self.names[name].entries[0][0]):
            return None
        message, annotations = self.names[name].entries[0]
        self.changed(message)
        message.versions += 1
        self.save(name, (message, annotations))
        return f"{message.n} in {name}: {message.tags}"

    def grow_file(self):
        names = self.named("mh/inbox/") + self.named("eml/") + self.named("news/")
        name = self.pick(names)
        if not self.may_change(self.names[name].entries[0][0]):
            return None
        message, annotations = self.names[name].entries[0]
        before = len(self.names[name].bytes())
        message.versions += message.is_annotated or message.is_moved
        message.has_grown = True
        tag = self.grown(message)
        if self.rng.random() < 0.7:
            with open(self.path(name), "ab") as file:
                self.write_in_pieces(file, self.names[name].bytes()[before:])
        else:
            self.replace(name, Box("single", [(message, annotations)]))
        return f"{message.n} in {name}: {tag}"

    def annotate_file(self):
        name = self.numbered_or_eml()
        entry = self.annotated(self.names[name].entries[0])
        entry[0].versions += entry[0].has_grown
        entry[0].is_annotated = True
        self.save(name, entry)
        return f"{entry[0].n} in {name}: {entry[1]}"

    def pack(self):
        """Renumbers the messages of a folder from 1, as `folder -pack`."""
        folder = self.rng.choice(["mh/inbox", "mh/drafts"])
        if self.were_messages:
            # With the kind `message`, each file is a mailbox, and a new name is a new mailbox.
            return None
        names = sorted(self.named(folder + "/"), key=lambda name: int(os.path.basename(name)))
        for number, name in enumerate(names, 1):
            if name != f"{folder}/{number}":
                self.rename(name, f"{folder}/{number}")
        return folder

    def refile(self):
        name = self.pick(self.named("mh/"))
        to = self.mh_name("mh/inbox" if name.startswith("mh/drafts") else "mh/drafts")
        # With the kind `message`, a new name is a new mailbox.
        self.names[name].entries[0][0].versions += self.were_messages
        self.rename(name, to)
        return f"{name} to {to}"

    def delete_mh(self):
        return self.delete_one("mh/", 20)

    # News.

    def post(self):
        groups = self.rng.sample(["comp.a", "comp.b", "alt.x"], self.rng.choice([1, 1, 2, 3]))
        message = self.message("news", groups)
        box = Box("single", [(message, ())])
        for group in groups:
            name = self.mh_name("news/" + group.replace(".", "/"))
            if box.names:
                # Growth in a file with another name is not noticed.
                message.versions += message.has_grown
                os.link(self.path(next(iter(box.names))), self.path(name))
            else:
                with open(self.path(name), "wb") as file:
                    self.write_in_pieces(file, box.bytes(), [message])
            self.add_name(name, box)
        return f"{message.n} as {sorted(box.names)}"

    def expire(self):
        names = self.named("news/")
        if not names:
            return None
        box = self.names[self.rng.choice(names)]
        gone = sorted(box.names)[: self.rng.choice([1, 9])]
        for name in gone:
            self.unlink(name)
        return f"{box.entries[0][0].n}: {gone}"

    # Files of one message.

    def eml_deliver(self):
        message = self.message("eml")
        name = f"eml/m{message.n}.eml"
        box = Box("single", [(message, ())])
        if self.rng.random() < 0.5:
            self.replace(name, box)
        else:
            with open(self.path(name), "wb") as file:
                self.write_in_pieces(file, box.bytes(), [message])
            self.add_name(name, box)
        return name

    def eml_rename(self):
        name = self.pick(self.named("eml/"))
        to = f"eml/r{self.actions}.eml"
        self.rename(name, to)
        return f"{name} to {to}"

    def delete_eml(self):
        return self.delete_one("eml/", 15)

    # Configurations.

    def new_log(self):
        log = pathlib.Path(f"{self.root}/log").read_bytes()
        return log[self.log_at :].decode(errors="replace")

    def refuse_scope(self):
        """Requests another dedupe or kind for a known spool, by SIGHUP or a start."""
        self.was_ready |= " watching" in self.new_log()
        if not self.was_ready:
            return None
        spool = self.rng.choice(list(self.spools.values()))
        before = spool.dedupe, spool.kind
        if self.rng.random() < 0.5:
            spool.dedupe = "spool" if spool.dedupe == "mailbox" else "mailbox"
        else:
            spool.kind = self.rng.choice([kind for kind in (None, "message", "news")
                                          if kind != spool.kind])
        what = f"{spool.name}: {before} -> {(spool.dedupe, spool.kind)}"
        self.write_config()
        spool.dedupe, spool.kind = before
        if self.daemon is None:
            done = run(program, "watch", "--config", f"{self.root}/c.toml", "--once")
            if done.returncode != 2:
                raise Failed(f"another scope, {what}, ended with exit code {done.returncode}: "
                             f"{done.stderr[-300:]}")
        else:
            refusals = self.new_log().count("the old configuration stays in force: spool ")
            self.daemon.send_signal(signal.SIGHUP)
            end = time.time() + PATIENCE
            while self.daemon.poll() is None and self.new_log().count("the old configuration stays "
                "in force: spool ") == refusals:
                if end < time.time():
                    raise Failed(f"another scope, {what}, was not refused")
                time.sleep(0.005)
        self.write_config()
        return what + ("" if self.daemon is None else " (SIGHUP)")

    def spell_path(self):
        spool = self.rng.choice(list(self.spools.values()))
        path = spool.name
        spool.path = self.rng.choice([path, f"{path}/../{path}", f"./{path}", f"{path}/"])
        self.write_config()
        now = self.daemon is not None and self.rng.random() < 0.8
        if now:
            self.done["SIGHUP"] += 1
            # Until the daemon handles this signal, it also kills.
            self.daemon.send_signal(signal.SIGHUP)
        return f"path of {spool.name}: {spool.path}" + (" (SIGHUP)" if now else "")


# The actions, with their weights.
TABLE = [
    (History.append, 12), (History.expunge, 4), (History.annotate_mbox, 3), (History.grow_mbox, 2),
    (History.rotate, 1), (History.copytruncate, 1.5), (History.append_live, 6),
    (History.reopen, 0.3), (History.compress_rotated, 0.7), (History.remove_rotated, 0.5),
    (History.hard_link, 0.6), (History.remove_mbox_name, 0.4), (History.maildir_deliver, 4),
    (History.maildir_rename, 3), (History.maildir_move, 1), (History.maildir_annotate, 1),
    (History.delete_maildir, 2), (History.copy_message, 3), (History.mh_deliver, 3),
    (History.draft, 1), (History.edit, 1), (History.grow_file, 2), (History.annotate_file, 2),
    (History.pack, 0.5), (History.refile, 1), (History.delete_mh, 2), (History.post, 3),
    (History.expire, 2.5), (History.eml_deliver, 3), (History.eml_rename, 0.7),
    (History.delete_eml, 1.5), (History.refuse_scope, 0.8), (History.spell_path, 0.8),
]
ACTIONS, WEIGHTS = zip(*TABLE)


def place_of(name):
    """The mailbox of a file. For news it is the spool, in which an article is one message."""
    if name.startswith("news/"):
        return "news"
    if name.startswith("sp/md/"):
        return name[:len("sp/md/A")]
    if name.startswith("mh/"):
        return os.path.dirname(name)
    return re.sub(r"\.\d+(\.gz)?$", "", name)


def segment_lines(path):
    if path.endswith(".zst"):
        return output("zstd", "-dcq", path).splitlines()
    with open(path, "rb") as file:
        return file.read().splitlines()


def summary(problems):
    return f"{len(problems)}: " + "; ".join(map(str, problems[:6])) if problems else "none"


def run_history(number, tombstones, kills):
    """Runs one history. Returns its name, whether it passed, a note, and its actions by count."""
    history = History(number, tombstones)
    name = f"history {number}, tombstones {'on' if tombstones else 'off'}"
    begun = time.time()
    try:
        history.run(kills)
    except Exception as error:
        failed = error if isinstance(error, Failed) else "".join(traceback.format_exception(error))
        history.note(f"FAILED: {failed}")
        with open(f"{history.root}/actions.log") as log:
            last = "".join(log.readlines()[-25:])
        note = (f"{history.kills} kills, {history.actions} actions: {failed}; "
                f"see {history.root} and {history.base}\n{last}")
        return name, False, note, history.done
    written, gone = sum(history.written.values()), sum(history.gone.values())
    note = (f"{history.kills} kills, {history.actions} actions, {len(history.messages)} messages, "
            f"{written} records, {gone} gone, {time.time() - begun:.0f} s")
    if "KEEP" not in os.environ:
        shutil.rmtree(history.root)
        shutil.rmtree(history.base)
    return name, True, note, history.done


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", nargs="?", default="target/release/urlspool")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tombstones", choices=["on", "off", "both"], default="both")
    parser.add_argument("--jobs", type=int, default=2 * (os.cpu_count() or 1))
    parser.add_argument("--history", type=int)
    args = parser.parse_args()
    if not os.access(program, os.X_OK):
        print(f"{program} is no program", file=sys.stderr)
        return 2
    settings = {"on": [True], "off": [False], "both": [True, False]}[args.tombstones]
    kills = [min(HISTORY_KILLS, args.kills - done) for done in range(0, args.kills, HISTORY_KILLS)]
    numbered = ([(args.history, args.kills)] if args.history
                else list(enumerate(kills, args.seed * 1000)))
    histories = [(number, settings[number % len(settings)], kills) for number, kills in numbered]
    if not shutil.which("zstd"):
        skip("compressed segments", "zstd is not installed")
    print(f"seed {args.seed}: {args.kills} kills in {len(histories)} histories", flush=True)
    context = multiprocessing.get_context("fork")
    with concurrent.futures.ProcessPoolExecutor(args.jobs, mp_context=context) as pool:
        runs = [pool.submit(run_history, *history) for history in histories]
        done = collections.Counter()
        for run in concurrent.futures.as_completed(runs):
            *result, actions = run.result()
            report(*result)
            done += actions
    print("actions: " + ", ".join(f"{count} {name.replace('_', ' ')}"
                                  for name, count in done.most_common()))
    if 1000 <= args.kills:
        never = [action.__name__ for action in ACTIONS if not done[action.__name__]]
        report("each action was taken", not never, ", ".join(never) or f"{len(TABLE)} kinds")
    return finish()


if __name__ == "__main__":
    sys.exit(main())
