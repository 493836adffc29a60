#!/usr/bin/env python3
"""Loads into a real OpenSearch or Elasticsearch, started by `opensearch.sh`, and checks that each
record is a document once.

    tests/tools/search_engines.py BINARY [--records N] [--kills N] [--server-kills N] [--minutes N]
        [--days N] [--file RECORDS.jsonl] [--engine opensearch|elasticsearch] [--seed N] [--heap 1g]
        [--only PART...]

  load        a load, its repetition, and the same documents sent to `_bulk` by curl, uncompressed:
              times and sizes
  search      the queries of docs/recipes.md find the same records as `search` in SQLite
  kills       two loads share the segments of a daemon; one of them is killed and started again
  server      the same, but the server is killed
  two         two loads of one file at a time
  gone        a message that is gone
  disk        the watermarks are set below the disk's free space, and set back while loads wait
  blocked     new indexes are refused, and allowed again while a load waits (OpenSearch)
  versions    an index of another program, one of another version
  days        a daemon's segments of N days are followed, while the load and the server are killed
  queue       four loads at a server whose queue of writes holds one request
  login       OpenSearch with TLS: users, their permissions, and client certificates

Kills come after a random number of documents, such that they end before the records do. After
--minutes, a part makes no more kills, and fails if there were too few. --file loads these records
instead of generated ones, except in `kills`, `server` and `days`.
"""

import argparse, base64, concurrent.futures, json, os, random, re, shutil, signal, ssl
import subprocess, sys, tempfile, time, urllib.request

from world import equal, finish, free_port, output, results, run, skip, start_quietly

HERE = os.path.dirname(os.path.abspath(__file__))
START_SECONDS, LOAD_SECONDS = 400, 1800
PARTS = ["load", "search", "kills", "server", "two", "gone",
         "disk", "blocked", "versions", "days", "queue", "login"]
# Exit codes of the loader.
USAGE, UNREACHABLE, OUTPUT = 2, 69, 74


class Server:
    def __init__(self, engine, folder, heap, is_secure=False):
        self.port = free_port()
        self.engine, self.folder, self.heap, self.is_secure = engine, folder, heap, is_secure
        self.url = (f"https://localhost:{self.port}"
                    if is_secure else f"http://127.0.0.1:{self.port}")
        self.process = None

    def start(self, *settings):
        log = open(os.path.join(self.folder, "server.log"), "ab")
        self.process = subprocess.Popen(
            [os.path.join(HERE, "opensearch.sh"), self.folder, str(self.port), *settings],
            stdout=log, stderr=log, env={**os.environ, "ENGINE": self.engine,
                                         "HEAP": self.heap, "SECURE": "01"[self.is_secure]})
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

    def restart(self, *settings):
        self.kill()
        if self.start(*settings) != 0:
            raise SystemExit(f"the server does not start; see {self.folder}/server.log")

    def ask(self, method, path, body=None, timeout=120):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data,
                                         {"Content-Type": "application/json"}, method=method)
        context = None
        if self.is_secure:
            context = ssl.create_default_context(cafile=self.file("ca.crt"))
            login = base64.b64encode(f"admin:{self.secret('admin-password')}".encode()).decode()
            request.add_header("Authorization", f"Basic {login}")
        with urllib.request.urlopen(request, timeout=timeout, context=context) as reply:
            return json.load(reply)

    def file(self, name):
        return os.path.join(self.folder, name)

    def secret(self, name):
        with open(self.file(name), encoding="utf-8") as file:
            return file.read().strip()

    def count(self, index):
        self.ask("POST", f"/{index}/_refresh")
        return self.ask("GET", f"/{index}/_count")["count"]

    def size(self, index):
        """The bytes of an index on disk, merged into one segment."""
        self.ask("POST", f"/{index}/_forcemerge?max_num_segments=1", timeout=LOAD_SECONDS)
        self.ask("POST", f"/{index}/_flush?wait_if_ongoing=true", timeout=LOAD_SECONDS)
        return self.ask("GET",
                        f"/{index}/_stats/store")["_all"]["primaries"]["store"]["size_in_bytes"]

    def distinct(self, index):
        """The number of distinct records: places in the spool with a separate document each."""
        places, after = set(), None
        query = {"size": 10_000, "_source": False,
                 "docvalue_fields": ["source.path", "source.start"], "sort": ["_doc"]}
        while True:
            if after is None:
                reply = self.ask("POST", f"/{index}/_search?scroll=2m", query)
            else:
                reply = self.ask("POST", "/_search/scroll", {"scroll": "2m", "scroll_id": after})
            if not reply["hits"]["hits"]:
                return len(places)
            places.update(json.dumps(hit["fields"], sort_keys=True)
                          for hit in reply["hits"]["hits"])
            after = reply["_scroll_id"]


def write_mail(path, name, count):
    with open(path, "w") as out:
        for n in range(count):
            out.write("From a@b.example Thu Jan  4 10:00:00 1996\nFrom: a@b.example\n"
                      f"Message-ID: <{name}.{n}@b.example>\n"
                      f"Date: Thu, 4 Jan 1996 10:00:00 +0000\nSubject: {name} {n}\n\n"
                      f"See http://h{n % 997}.example/{name}/{n}\n\n")


def write_records(binary, folder, count):
    """Writes one record per message. Returns the file."""
    mail = os.path.join(folder, "a.mbox")
    write_mail(mail, "a", count)
    path = os.path.join(folder, "a.jsonl")
    with open(path, "wb") as out:
        out.write(output(binary, "scan", "-q", mail))
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--server-kills", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=40)
    parser.add_argument("--days", type=int, default=30)
    parser.add_argument("--file")
    parser.add_argument("--heap", default="1g")
    parser.add_argument("--only", nargs="*", default=PARTS, choices=PARTS)
    parser.add_argument("--engine", default="opensearch")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="engines")
    server = Server(args.engine, folder, args.heap)
    try:
        code = server.start()
        if code != 0:
            with open(os.path.join(folder, "server.log"), errors="replace") as log:
                print("".join(log.readlines()[-15:]), end="")
            if code != 77:
                print("the server does not start")
            return 77 if code == 77 else 2
        check(args, server, folder)
        finish()
    finally:
        server.kill()
        shutil.rmtree(folder, ignore_errors=True)


class Loads:
    """Loads of one file of records into indexes of the server."""

    def __init__(self, args, server, folder):
        self.binary, self.server = args.binary, server
        version = server.ask("GET", "/")["version"]
        distribution = version.get("distribution", "elasticsearch")
        self.name = (
            f"{ {'opensearch': 'OpenSearch'}.get(distribution, distribution.capitalize()) } "
            f"{version['number']}")
        self.path = args.file or write_records(args.binary, folder, args.records)
        with open(self.path, "rb") as records:
            self.wanted = sum(1 for _ in records)
        self.seconds = 0.0
        self.started = []

    def command(self, index, *options):
        return [self.binary, "load", "-v",
                "--into", f"elasticsearch+http://127.0.0.1:{self.server.port}/{index}", *options]

    def load(self, index, *options, lines=None):
        return subprocess.run(self.command(index, *options),
                              input=lines, capture_output=True, timeout=LOAD_SECONDS)

    def start(self, index, *options):
        command = self.command(index, *options)
        self.started.append(start_quietly(command))
        return self.started[-1]

    def stop(self):
        for load in self.started:
            load.kill()
            load.wait()


def check(args, server, folder):
    rng = random.Random(args.seed)
    loads = Loads(args, server, folder)
    print(f"{loads.name}, heap {args.heap}, {loads.wanted} records", flush=True)
    if "load" in args.only:
        # A newly started server is slow.
        loads.load("warm", loads.path if loads.wanted <= 100_000 else "/dev/null")
        begun = time.time()
        equal("a load", loads.load("urls", loads.path).returncode, 0)
        loads.seconds = time.time() - begun
        print(f"   {loads.seconds:.1f} s", flush=True)
        equal("documents", server.count("urls"), loads.wanted)
    try:
        for part in PARTS:
            if part in args.only:
                begun = time.time()
                globals()[f"check_{part}"](args, loads, folder, rng)
                print(f"   {part}: {time.time() - begun:.0f} s", flush=True)
    finally:
        loads.stop()


def check_load(args, loads, folder, rng):
    server = loads.server
    begun = time.time()
    equal("the same again", b", 0 of them new" in loads.load("urls", loads.path).stderr, True)
    print(f"   the same again: {time.time() - begun:.1f} s", flush=True)
    equal("documents after that", server.count("urls"), loads.wanted)
    mapping = next(iter(server.ask("GET", "/urls/_mapping").values()))["mappings"]
    server.ask("PUT", "/plain", {"mappings": mapping, "settings": {"number_of_shards": 1}})
    begun = time.time()
    send_plainly(server, loads.path, folder)
    plain_seconds = time.time() - begun
    equal("documents by curl", server.count("plain"), loads.wanted)
    ratio = loads.seconds / plain_seconds
    print(f"   load {loads.seconds:.1f} s, _bulk by curl {plain_seconds:.1f} s, ratio {ratio:.2f}")
    sizes = [server.size(index) for index in ("urls", "plain")]
    mib = [f"{size / 2**20:.1f} MiB" for size in sizes]
    print(f"   merged, load {mib[0]}, _bulk by curl {mib[1]}, ratio {sizes[0] / sizes[1]:.2f}")
    server.ask("DELETE", "/plain")


def check_search(args, loads, folder, rng):
    """The queries in docs/recipes.md find the same records as `search` in SQLite, in order."""
    root, database = os.path.join(HERE, "../.."), os.path.join(folder, "search.db")
    scan = [args.binary, "scan", "-q", "--context", "80",
            *(os.path.join(root, "corpus", part) for part in ("mail", "news", "text"))]
    lines = subprocess.run(scan, capture_output=True).stdout
    output(args.binary, "load", "--into", database, input=lines)
    equal("a load of the corpus", loads.load("search", lines=lines).returncode, 0)
    loads.server.ask("POST", "/search/_refresh")
    with open(os.path.join(root, "docs/recipes.md"), encoding="utf-8") as file:
        page = file.read().splitlines()
    body = next(line for line in page if line.startswith(
        '{"size": 20, "query": CONDITION')).replace('"size": 20', '"size": 10000')
    rows = [line[3:-3].split("` | `") for line in page if re.fullmatch(r"\| `.*` \|", line)]
    equal("ten queries or more", len(rows) >= 10, True)
    for search, _, condition in rows:
        command = f'"$0" search "$1" --list-fields --format jsonl {search}'
        found = output("sh", "-c", command, args.binary, database)
        wanted = [json.loads(line)["id"] for line in found.splitlines()]
        reply = loads.server.ask("POST", "/search/_search",
                                 json.loads(body.replace("CONDITION", condition)))
        ids = [hit["_source"]["id"] for hit in reply["hits"]["hits"]]
        equal(f"{search}: {len(wanted)} matches", bool(wanted) and ids == wanted, True)
    loads.server.ask("DELETE", "/search")


class Followers:
    """Two loads that follow the segments of a daemon, and remove them."""

    def __init__(self, args, loads, folder, index):
        self.loads, self.index, self.minutes = loads, index, args.minutes
        self.spool = Spool(args.binary, os.path.join(folder, index))
        self.spool.write("a", args.records)
        self.spool.watch()
        # The number of documents when the server was started, when its counter was zero.
        self.base = 0
        self.wanted = args.records
        self.begun = time.time()
        self.running = [self.start(), self.start()]

    def start(self):
        return self.loads.start(self.index, "--follow", "--delete-segments", self.spool.out)

    def created(self):
        """The number of created documents since the server's start, even if searches miss some."""
        try:
            indexing = self.loads.server.ask(
                "GET", f"/{self.index}/_stats/indexing")["_all"]["primaries"]["indexing"]
            return self.base + indexing["index_total"]
        except OSError:
            return self.base

    def wait_for_documents(self, rng, kills_left):
        """Waits for enough documents that kills at random moments end before the loads do."""
        created = self.created()
        until = created + rng.uniform(0, 2 * (self.wanted - created) / (kills_left + 1))
        while self.created() < until and self.may_be_killed():
            time.sleep(0.005)

    def are_alive(self):
        return all(load.poll() is None for load in self.running)

    def may_be_killed(self):
        """Segments, loads and time are left."""
        return (self.spool.segments() and self.are_alive()
                and time.time() < self.begun + 60 * self.minutes)

    def kill_one(self, rng):
        """Kills one of the loads, and starts it again. Returns `True` if it was running."""
        at = rng.randrange(len(self.running))
        if self.running[at].poll() is not None:
            return False
        self.running[at].kill()
        hit = self.running[at].wait() == -signal.SIGKILL
        self.running[at] = self.start()
        return hit

    def end(self, kills):
        """Lets both loads end, checks the records, and prints a row of docs/evidence/loading.md."""
        failed, name = results["failed"], f"{kills} while two loads followed them"
        end = time.time() + LOAD_SECONDS
        while self.spool.segments() and self.are_alive() and time.time() < end:
            time.sleep(0.1)
        for load in self.running:
            load.send_signal(signal.SIGTERM)
        equal(f"two loads that follow end at a signal after {name}",
              [load.wait(timeout=120) for load in self.running], [0, 0])
        equal(f"segments that are left after {name}", self.spool.segments(), [])
        equal(f"documents after {name}", self.loads.server.count(self.index), self.wanted)
        equal(f"distinct records after {name}", self.loads.server.distinct(self.index), self.wanted)
        if results["failed"] == failed:
            seconds = time.time() - self.begun
            print(f"| {self.loads.name} | {self.wanted:,} in segments | {name}: each once; "
                  f"{seconds:.0f} s |", flush=True)


class Spool:
    def __init__(self, binary, folder):
        self.binary, self.spool, self.out = binary, f"{folder}/spool", f"{folder}/out"
        os.makedirs(self.spool)
        os.makedirs(self.out)
        self.config = os.path.join(folder, "urlspool.toml")
        with open(self.config, "w") as file:
            file.write(f'[output]\ndir = "{self.out}"\nseal_bytes = "512KiB"\n[state]\n'
                       f'dir = "{folder}/state"\n[watch]\n'
                       f'settle = "0s"\n[[spool]]\npath = "{self.spool}"\n')

    def write(self, name, count):
        write_mail(os.path.join(self.spool, f"{name}.mbox"), name, count)

    def watch(self):
        run(self.binary, "watch", "--config", self.config, "--once", check=True)

    def segments(self):
        return [name for name in os.listdir(self.out) if not name.startswith(".")]


def check_kills(args, loads, folder, rng):
    """Kills one of two loads after a random number of documents."""
    followers, hit = Followers(args, loads, folder, "killed"), 0
    while hit < args.kills and followers.may_be_killed():
        followers.wait_for_documents(rng, args.kills - hit)
        hit += followers.kill_one(rng)
    equal("kills that hit a load while segments were left", hit, args.kills)
    followers.end(f"{hit} kills of a load")
    loads.server.ask("DELETE", "/killed")


def check_server(args, loads, folder, rng):
    """Kills the server during two loads, after a random number of documents."""
    server, followers, hit = loads.server, Followers(args, loads, folder, "server"), 0
    while hit < args.server_kills and followers.may_be_killed():
        followers.wait_for_documents(rng, args.server_kills - hit)
        hit += followers.are_alive()
        server.restart()
        followers.base = 0
        followers.base = server.count("server") - followers.created()
    equal("kills of the server while two loads ran", hit, args.server_kills)
    followers.end(f"{hit} kills of the server")
    server.ask("DELETE", "/server")


def check_two(args, loads, folder, rng):
    with concurrent.futures.ThreadPoolExecutor() as pool:
        both = list(pool.map(lambda _: loads.load("two", loads.path), range(2)))
    equal("two loads at a time", [done.returncode for done in both], [0, 0])
    equal("documents of two loads", loads.server.count("two"), loads.wanted)


def check_gone(args, loads, folder, rng):
    equal("a load before a message is gone", loads.load("gone", loads.path).returncode, 0)
    with open(loads.path, "rb") as records:
        record = json.loads(records.readline())
        mailbox, digest = record["source"]["mailbox"], record["message"]["digest"]
        records.seek(0)
        removed = sum(1 for line in records if json.loads(line)["message"]["digest"] == digest)
    gone = {"type": "gone", "mailbox": mailbox, "digests": [digest]}
    done = loads.load("gone", lines=json.dumps(gone).encode() + b"\n")
    equal("a message that is gone", (done.returncode, loads.server.count("gone")),
          (0, loads.wanted - removed))
    loads.server.ask("DELETE", "/gone")


def first_records(loads, number):
    with open(loads.path, "rb") as records:
        return [records.readline() for _ in range(number)]


class Waiting:
    """A load of one record that must wait for the server."""

    def __init__(self, loads, index, record):
        self.loads, self.index = loads, index
        self.load = subprocess.Popen(loads.command(index, "-"),
                                     stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        loads.started.append(self.load)
        self.load.stdin.write(record)
        self.load.stdin.close()

    def check_reason(self, way_out):
        said = self.load.stderr.readline().decode()
        print(f"   {said.strip()}", flush=True)
        equal(f"the load into {self.index} says why it waits, and names {way_out}",
                     "a disk of the server is nearly full" in said and way_out in said, True)
        equal("it waits", self.load.poll(), None)

    def check_end(self, documents):
        begun = time.time()
        code = self.load.wait(timeout=LOAD_SECONDS)
        equal(f"the load into {self.index} after that", code, 0)
        print(f"   after {time.time() - begun:.1f} s", flush=True)
        if code == 0:
            equal("its documents", self.loads.server.count(self.index), documents)


def check_disk(args, loads, folder, rng):
    server, mark = loads.server, "cluster.routing.allocation.disk.watermark"

    def watermarks(value):
        marks = {f"{mark}.{name}": value for name in ("low", "high", "flood_stage")}
        server.ask("PUT", "/_cluster/settings",
                   {"transient": {**marks, "cluster.info.update.interval": "10s"}})

    first, second = first_records(loads, 2)
    equal("a load while the disk has room", loads.load("disk", lines=second).returncode, 0)
    watermarks("1%")
    blocked = lambda: "read_only_allow_delete" in json.dumps(server.ask("GET", "/disk/_settings"))
    end = time.time() + 90
    while not blocked() and time.time() < end:
        time.sleep(1)
    equal("the server is above its flood-stage watermark", blocked(), True)
    waiting = [(Waiting(loads, "disk", first), "index.blocks.read_only_allow_delete", 2)]
    if args.engine == "opensearch":
        # Elasticsearch still creates indexes above its high watermark.
        waiting.append((Waiting(loads, "full", first), "cluster.blocks.create_index", 1))
    for load, way_out, _ in waiting:
        load.check_reason(way_out)
    watermarks(None)
    for load, _, documents in waiting:
        load.check_end(documents)


def check_blocked(args, loads, folder, rng):
    """New indexes are refused, as by OpenSearch above its high watermark."""
    if args.engine != "opensearch":
        skip("blocked", "OpenSearch alone refuses new indexes")
        return
    server, block = loads.server, "cluster.blocks.create_index"

    def set_block(value):
        # Otherwise, the server removes the block by itself, since its disk has room.
        server.ask("PUT", "/_cluster/settings", {"persistent": {
            block: value, f"{block}.auto_release": None if value is None else False}})

    set_block(True)
    waiting = Waiting(loads, "blocked", first_records(loads, 1)[0])
    waiting.check_reason(block)
    time.sleep(rng.uniform(1, 10))
    equal("the load waits as long as the block is set", waiting.load.poll(), None)
    set_block(None)
    waiting.check_end(1)


def check_versions(args, loads, folder, rng):
    loads.server.ask("PUT", "/other", {})
    equal("an index of another program", loads.load("other", loads.path).returncode, USAGE)
    loads.server.ask("PUT", "/future", {"mappings": {"_meta": {"urlspool": 999}}})
    equal("an index of another version", loads.load("future", loads.path).returncode, USAGE)


def check_days(args, loads, folder, rng):
    """Follows the segments of a daemon that reads new mail once a day. The load is killed on every
    third day, the server after one and two thirds of the days."""
    spool, server, each = Spool(args.binary, os.path.join(folder, "days")), loads.server, 200
    start = lambda: loads.start("days", "--follow", "--delete-segments", spool.out)
    following, kills, server_kills = start(), 0, 0
    for day in range(args.days):
        spool.write(f"day{day}", each)
        spool.watch()
        if day % 3 == 1:
            time.sleep(rng.uniform(0, 1))
            kills += following.poll() is None
            following.kill()
            following.wait()
            following = start()
        if day and day in (args.days // 3, 2 * args.days // 3):
            server_kills += 1
            server.restart()
    end = time.time() + LOAD_SECONDS
    while spool.segments() and time.time() < end and following.poll() is None:
        time.sleep(0.2)
    following.send_signal(signal.SIGTERM)
    equal("a load that follows ends at a signal", following.wait(timeout=60), 0)
    equal("segments that are left", spool.segments(), [])
    name = f"{args.days} days, {kills} kills of the load, {server_kills} of the server"
    equal(f"documents of {name}", server.count("days"), args.days * each)
    equal(f"distinct records of {name}", server.distinct("days"), args.days * each)


def check_queue(args, loads, folder, rng):
    """Four loads at once, at a server that takes one write and queues one more."""
    server = loads.server
    server.restart("thread_pool.write.size=1", "thread_pool.write.queue_size=1")
    with concurrent.futures.ThreadPoolExecutor() as pool:
        four = list(pool.map(lambda number: loads.load(f"queue{number}", loads.path), range(4)))
    pools = next(iter(server.ask("GET",
                                 "/_nodes/stats/thread_pool")["nodes"].values()))["thread_pool"]
    print(f"   writes that the server refused: {pools['write']['rejected']}", flush=True)
    equal("four loads at a busy server", [done.returncode for done in four], [0] * 4)
    equal("their documents", [server.count(f"queue{n}") for n in range(4)], [loads.wanted] * 4)


def check_login(args, loads, folder, rng):
    """A server with TLS, users and client certificates: valid and invalid ways to log in."""
    if args.engine != "opensearch":
        skip("login", "the security plugin is one of OpenSearch")
        return
    loads.server.kill()
    folder = os.path.join(folder, "secure")
    os.makedirs(folder)
    server = Server(args.engine, folder, args.heap, is_secure=True)
    try:
        server.restart()
        check_logins(loads, server)
    finally:
        server.kill()


def check_logins(loads, server):
    password, messages = server.secret("password"), []
    authority, host = f"?sslrootcert={server.file('ca.crt')}", f"localhost:{server.port}/urls"

    def load(target, **variables):
        command = [loads.binary, "load", "-v", "--into", f"elasticsearch+{target}", loads.path]
        ended = run(*command, timeout=LOAD_SECONDS, env={**os.environ, **variables})
        messages.append(ended.stderr)
        if ended.returncode:
            print(f"   {ended.stderr.strip()}", flush=True)
        return ended.returncode

    right = {"URLSPOOL_ELASTICSEARCH_PASSWORD": password}
    wrong = {"URLSPOOL_ELASTICSEARCH_PASSWORD": password[::-1] + "x"}
    other_host = f"127.0.0.1:{server.port}/urls"
    certificate = f"&sslcert={server.file('client.crt')}&sslkey={server.file('%s.key')}"
    for name, target, variables, code in [
        ("no login", f"https://{host}{authority}", {}, USAGE),
        ("a user without a password", f"https://loader@{host}{authority}", {}, USAGE),
        ("a wrong password", f"https://loader@{host}{authority}", wrong, USAGE),
        ("a password in the target", f"https://loader:{password}@{host}{authority}", {}, USAGE),
        ("an authority that is not trusted", f"https://loader@{host}", right, USAGE),
        ("another host", f"https://loader@{other_host}{authority}", right, USAGE),
        ("without encryption", f"http://loader@{host}", right, UNREACHABLE),
        ("an index without a right", f"https://loader@{host[:-4]}other{authority}", right, USAGE),
        ("a password of the environment", f"https://loader@{host}{authority}", right, 0),
        ("a password in a file",
         f"https://loader@{host}{authority}&passfile={server.file('password')}", {}, 0),
        ("a certificate of the client", f"https://{host}{authority}{certificate % 'client'}",
         {}, 0),
        ("another key", f"https://{host}{authority}{certificate % 'server'}", {}, USAGE),
    ]:
        equal(name, load(target, **variables), code)
    equal("documents after all that", server.count("urls"), loads.wanted)
    said = [text for text in messages if password in text or password[::-1] in text]
    equal("passwords in messages", said, [])


def send_plainly(server, path, folder):
    """Sends the documents by curl, 5,000 per request."""
    part = os.path.join(folder, "part")

    def send(lines):
        with open(part, "wb") as out:
            out.writelines(b'{"create":{}}\n' + line for line in lines)
        subprocess.run(["curl", "-sf", "-o", os.devnull, "-H", "Content-Type: application/x-ndjson",
                        "--data-binary", f"@{part}",
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
