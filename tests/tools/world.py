"""A spool, a daemon that watches it, and a check of its output: a library of the Python tools here.

The environment variable SPOOLS=FOLDER puts the spools there, for example into memory, and
everything else into TMPDIR. Tools that move or mount spools do not support it. KEEP=1 keeps the
folders.
"""
import atexit, collections, glob, json, os, shutil, signal, socket, subprocess, sys, tempfile, time

# Exit code of a tool that could not try any part.
SKIPPED = 77

program = os.path.realpath(sys.argv[1] if len(sys.argv) > 1 else "target/release/urlspool")
results = collections.Counter()
# `atexit` unmounts and kills in every case.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))


def run(*command, **options):
    """Runs a command. Returns its exit code and its output as text."""
    return subprocess.run(command, capture_output=True, text=True, **options)


def output(*command, **options):
    """The standard output of a command that must succeed."""
    return subprocess.run(command, stdout=subprocess.PIPE, check=True, **options).stdout


def start_quietly(command, **options):
    quiet = subprocess.DEVNULL
    return subprocess.Popen(command, stdout=quiet, stderr=quiet, **options)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class World:
    """A spool with one Maildir, an output, a state, and a daemon."""

    def __init__(self, sweep="5m", seal="1s", prefix=(), env=None, settle="200ms",
                 output="", state="", watch=""):
        self.root, self.n, self.prefix = tempfile.mkdtemp(), 0, list(prefix)
        self.env = dict(os.environ, **(env or {}))
        self.spool = self.root + "/spool"
        if "SPOOLS" in os.environ:
            os.symlink(tempfile.mkdtemp(dir=os.environ["SPOOLS"]), self.spool)
        self.make_maildir()
        with open(self.root + "/c.toml", "w") as f:
            f.write(f'[output]\ndir="{self.root}/out"\nseal_interval="{seal}"\n{output}'
                    f'[state]\ndir="{self.root}/state"\n{state}'
                    f'[watch]\nsettle="{settle}"\nsweep="{sweep}"\n{watch}[metrics]\nlisten=""\n'
                    f'[[spool]]\npath="{self.spool}"\n')
        self.daemon = None

    def make_maildir(self):
        for folder in ("new", "cur", "tmp"):
            os.makedirs(f"{self.spool}/md/{folder}", exist_ok=True)

    def spawn(self, *args, **options):
        self.err = open(self.root + "/err", "a")
        command = self.prefix + [program, "watch", "--config", self.root + "/c.toml", *args]
        self.daemon = subprocess.Popen(
            command, stderr=self.err, env=self.env, start_new_session=True, **options)
        atexit.register(self.kill)
        return self

    def start(self, *args, **options):
        """Starts the daemon and waits until it answers `status`."""
        self.spawn(*args, **options)
        for _ in range(200):
            if self.status():
                return self
            time.sleep(0.05)
        raise SystemExit("the daemon does not answer: " + self.log_text())

    def log_text(self):
        return open(self.root + "/err").read()

    def status(self):
        asked = subprocess.run(
            [program, "status", "--config", self.root + "/c.toml"], capture_output=True)
        return json.loads(asked.stdout) if asked.returncode == 0 else None

    def text(self):
        """The next message. Its single URL contains its number."""
        self.n += 1
        return f"From: a@b.example\nSubject: {self.n}\n\nsee http://h.example/{self.n}.html now\n"

    def deliver(self):
        text = self.text()
        name = f"{self.n}.M1.host"
        with open(f"{self.spool}/md/tmp/{name}", "w") as f:
            f.write(text)
        os.rename(f"{self.spool}/md/tmp/{name}", f"{self.spool}/md/new/{name}")

    def append(self):
        """Appends the next message to an mbox, under its dotlock."""
        lock = self.spool + "/inbox.lock"
        os.close(os.open(lock, os.O_CREAT | os.O_EXCL))
        with open(self.spool + "/inbox", "a") as f:
            f.write(f"From x Mon Jan  1 00:00:00 1996\n{self.text()}\n")
        os.remove(lock)

    def wait_for(self, messages, seconds):
        """Seconds until the daemon has read this number of messages, or None after `seconds`."""
        start = time.time()
        while time.time() - start < seconds and self.daemon.poll() is None:
            status = self.status()
            if status and status["counts"]["messages"] >= messages:
                return time.time() - start
            time.sleep(0.05)
        return None

    def kill(self):
        """Kills the daemon, and the programs that run it."""
        if self.daemon.poll() is None:
            os.killpg(self.daemon.pid, signal.SIGKILL)
        self.daemon.wait()
        # The parent (strace, sh) can end before the daemon, which holds its state until it ends.
        end = time.time() + 2
        while time.time() < end:
            try:
                os.killpg(self.daemon.pid, 0)
            except ProcessLookupError:
                break
            time.sleep(0.01)

    def once(self):
        """Runs `watch --once` without a fault. Returns its exit code."""
        self.prefix, self.env = [], dict(os.environ)
        return self.spawn("--once").daemon.wait()

    def lines(self):
        """The lines of all sealed segments."""
        for path in sorted(glob.glob(self.root + "/out/*.jsonl")):
            with open(path) as segment:
                yield from map(json.loads, segment)

    def written_urls(self):
        """The number of records per URL in all sealed segments."""
        return collections.Counter(line["url"] for line in self.lines())

    def check(self, name, ok, note):
        """Compares the output with the delivered messages, and reports the result."""
        found = self.written_urls()
        expected = {f"http://h.example/{n}.html" for n in range(1, self.n + 1)}
        twice, lost = sum(v > 1 for v in found.values()), len(expected - set(found))
        unknown = len(set(found) - expected)
        report(name, ok and not (twice or lost or unknown),
               f"{len(expected)} messages, {twice} twice, {lost} lost, {unknown} unknown, {note}")
        if "KEEP" not in os.environ:
            shutil.rmtree(os.path.realpath(self.spool))
            shutil.rmtree(self.root)

    def stop(self, name, note=""):
        """Stops the daemon with SIGTERM, and checks everything."""
        self.daemon.send_signal(signal.SIGTERM)
        start = time.time()
        code = self.daemon.wait()
        took = time.time() - start
        self.check(name, code == 0 and took < 5, f"exit code {code} after {took:.2f} s {note}")

    def finish(self, name, ok=True, note=""):
        """Lets a run without a fault read the rest, and checks everything."""
        code = self.once()
        self.check(name, ok and code == 0, f"exit code of the last run {code} {note}")


def report(name, ok, note):
    results["passed" if ok else "failed"] += 1
    print(f"{name}: {note}" + ("" if ok else "  FAILED"), flush=True)


def equal(name, found, expected):
    report(name, found == expected, found if found == expected else f"{found}, not {expected}")


def skip(name, why):
    results["skipped"] += 1
    print(f"SKIPPED: {name}: {why}", flush=True)


def finish():
    """Prints the totals and exits: 1 if a part failed, SKIPPED if none was tried."""
    print(f"{results['passed']} passed, {results['failed']} failed, {results['skipped']} skipped")
    sys.exit(1 if results["failed"] else 0 if results["passed"] else SKIPPED)
