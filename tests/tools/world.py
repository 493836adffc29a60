"""A spool, a daemon over it, and what must come of it: shared by the scripts beside it that put the daemon to the test.

SPOOLS=FOLDER puts the spools there, into memory say, and the rest where TMPDIR says; but not in scripts that move them.
"""
import atexit, collections, glob, json, os, shutil, signal, subprocess, sys, tempfile, time

program = os.path.realpath(sys.argv[1] if len(sys.argv) > 1 else "target/release/urlspool")
results = collections.Counter()
# So that what is mounted is unmounted and what runs is ended, however the script ends.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))


class World:
    """A spool with one Maildir, an output, a state, a daemon."""

    def __init__(self, sweep="5m", seal="1s", prefix=(), env=None, settle="200ms"):
        self.root, self.n, self.prefix = tempfile.mkdtemp(), 0, list(prefix)
        self.env = dict(os.environ, **(env or {}))
        self.spool = self.root + "/spool"
        if "SPOOLS" in os.environ:
            os.symlink(tempfile.mkdtemp(dir=os.environ["SPOOLS"]), self.spool)
        self.make_maildir()
        with open(self.root + "/c.toml", "w") as f:
            f.write(f'[output]\ndir="{self.root}/out"\nseal_interval="{seal}"\n[state]\ndir="{self.root}/state"\n'
                    f'[watch]\nsettle="{settle}"\nsweep="{sweep}"\n[metrics]\nlisten=""\n[[spool]]\npath="{self.spool}"\n')
        self.daemon = None

    def make_maildir(self):
        for folder in ("new", "cur", "tmp"):
            os.makedirs(f"{self.spool}/md/{folder}", exist_ok=True)

    def spawn(self, *args):
        self.err = open(self.root + "/err", "a")
        command = self.prefix + [program, "watch", "--config", self.root + "/c.toml", *args]
        self.daemon = subprocess.Popen(command, stderr=self.err, env=self.env, start_new_session=True)
        atexit.register(self.kill)
        return self

    def start(self):
        self.spawn()
        for _ in range(200):
            if self.status():
                return self
            time.sleep(0.05)
        raise SystemExit("the daemon does not answer: " + self.said())

    def said(self):
        return open(self.root + "/err").read()

    def status(self):
        asked = subprocess.run([program, "status", "--config", self.root + "/c.toml"], capture_output=True)
        return json.loads(asked.stdout) if asked.returncode == 0 else None

    def text(self):
        self.n += 1
        return f"From: a@b.example\nSubject: {self.n}\n\nsee http://h.example/{self.n}.html now\n"

    def deliver(self):
        text = self.text()
        name = f"{self.n}.M1.host"
        with open(f"{self.spool}/md/tmp/{name}", "w") as f:
            f.write(text)
        os.rename(f"{self.spool}/md/tmp/{name}", f"{self.spool}/md/new/{name}")

    def append(self):
        """To an mbox, under its dotlock."""
        lock = self.spool + "/inbox.lock"
        os.close(os.open(lock, os.O_CREAT | os.O_EXCL))
        with open(self.spool + "/inbox", "a") as f:
            f.write(f"From x Mon Jan  1 00:00:00 1996\n{self.text()}\n")
        os.remove(lock)

    def until(self, messages, seconds):
        start = time.time()
        while time.time() - start < seconds and self.daemon.poll() is None:
            status = self.status()
            if status and status["counts"]["messages"] >= messages:
                return time.time() - start
            time.sleep(0.05)
        return None

    def kill(self):
        """Kills it, and what it may run in."""
        if self.daemon.poll() is None:
            os.killpg(self.daemon.pid, signal.SIGKILL)
        self.daemon.wait()
        # What ran it may be gone before it is, and it holds its state until then.
        end = time.time() + 2
        while time.time() < end:
            try:
                os.killpg(self.daemon.pid, 0)
            except ProcessLookupError:
                break
            time.sleep(0.01)

    def once(self):
        """A run without hindrance that ends when everything was read. Gives its status."""
        self.prefix, self.env = [], dict(os.environ)
        return self.spawn("--once").daemon.wait()

    def given(self):
        got = collections.Counter()
        for path in glob.glob(self.root + "/out/*.jsonl"):
            for line in open(path):
                got[json.loads(line)["url"]] += 1
        return got

    def verdict(self, name, held, note):
        """Holds what was given against what was delivered."""
        got = self.given()
        want = {f"http://h.example/{n}.html" for n in range(1, self.n + 1)}
        twice, lost, odd = sum(v > 1 for v in got.values()), len(want - set(got)), len(set(got) - want)
        verdict(name, held and not (twice or lost or odd), f"{len(want)} messages, {twice} twice, {lost} lost, {odd} unknown, {note}")
        if "KEEP" not in os.environ:
            shutil.rmtree(os.path.realpath(self.spool))
            shutil.rmtree(self.root)

    def end(self, name, note=""):
        """Ends the daemon as an operator does, and holds it to everything."""
        self.daemon.send_signal(signal.SIGTERM)
        start = time.time()
        code = self.daemon.wait()
        took = time.time() - start
        self.verdict(name, code == 0 and took < 5, f"ended with {code} in {took:.2f} s {note}")

    def finish(self, name, held=True, note=""):
        """Lets a run without hindrance end what is left, and holds it to everything."""
        code = self.once()
        self.verdict(name, held and code == 0, f"the last run ended with {code} {note}")


def verdict(name, held, note):
    results["passed" if held else "failed"] += 1
    print(f"{name}: {note}" + ("" if held else "  FAILED"), flush=True)


def skip(name, why):
    results["skipped"] += 1
    print(f"SKIPPED: {name}: {why}", flush=True)


def close():
    print(f"{results['passed']} passed, {results['failed']} failed, {results['skipped']} skipped")
    sys.exit(bool(results["failed"]))
