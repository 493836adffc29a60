#!/usr/bin/env python3
"""Measures the time until the URLs of new mail are printed and sealed, for each kind of spool.

    tests/tools/latency.py [PROGRAM] [MESSAGES]

The settings are the defaults, except for `seal_interval`. `watch --stdout` must print half of the
messages within a second. A segment must contain each a second after `seal_interval`.
"""
import fcntl, json, os, random, statistics, subprocess, sys, threading, time

from world import World, finish, report

SEAL, FROM, PATIENCE = 2, "From x Mon Jan  1 00:00:00 1996\n", 20


class Spools(World):
    """A folder with spools of each kind, and the time at which each URL was found."""

    def __init__(self, is_printing):
        super().__init__(seal=f"{SEAL}s", settle="5s")
        self.found, self.is_printing = {}, is_printing
        for folder in ("mh", "news/comp/a", "news/comp/b", "eml"):
            os.makedirs(f"{self.spool}/{folder}")
        self.open_mbox = open(f"{self.spool}/open", "a")
        self.start(*["--stdout"] * is_printing, stdout=subprocess.PIPE)
        threading.Thread(target=self.find, daemon=True).start()

    def find(self):
        for line in self.daemon.stdout:
            self.found[json.loads(line)["url"]] = time.time()

    def file(self, folder, head="", end=""):
        with open(f"{self.spool}/{folder}/{self.n + 1}{end}", "w") as file:
            file.write(head + self.text())

    def news(self):
        self.file("news/comp/a", "Path: a!not-for-mail\nNewsgroups: comp.a,comp.b\n")
        os.link(f"{self.spool}/news/comp/a/{self.n}", f"{self.spool}/news/comp/b/{self.n}")

    def linked(self):
        self.file("md/tmp")
        os.link(f"{self.spool}/md/tmp/{self.n}", f"{self.spool}/mh/{self.n}")

    def mbox(self):
        with open(f"{self.spool}/unlocked", "a") as file:
            file.write(f"{FROM}{self.text()}\n")

    def keep_open(self):
        fcntl.lockf(self.open_mbox, fcntl.LOCK_EX)
        self.open_mbox.write(f"{FROM}{self.text()}\n")
        self.open_mbox.flush()
        time.sleep(0.05)  # as long as a sync takes
        fcntl.lockf(self.open_mbox, fcntl.LOCK_UN)

    def wait(self, deliver):
        """Delivers a message. Returns the seconds until its URL is found."""
        time.sleep(random.uniform(0, 0.3))
        deliver()
        url, begun = f"http://h.example/{self.n}.html", time.time()
        while url not in self.found and time.time() < begun + PATIENCE:
            time.sleep(0.005)
            if not self.is_printing and url in self.written_urls():
                self.found[url] = time.time()
        return self.found.get(url, begun + PATIENCE) - begun

    def measure(self, messages):
        for name, deliver in {
                "Maildir": self.deliver, "MH": lambda: self.file("mh"), "MH, linked": self.linked,
                "news, two groups": self.news, "mbox, dotlock": self.append,
                "files of one message": lambda: self.file("eml", end=".eml"),
                "mbox, no lock": self.mbox, "mbox, kept open, fcntl": self.keep_open}.items():
            waits = [self.wait(deliver) for _ in range(messages)]
            median, most = statistics.median(waits), max(waits)
            is_soon = median <= 1 if self.is_printing else most <= SEAL + 1
            report(f"{name}, {'printed' if self.is_printing else 'sealed'}", is_soon,
                   f"median {median:.2f} s, at most {most:.2f} s")
        self.kill()


messages = int(sys.argv[2]) if 2 < len(sys.argv) else 20
Spools(True).measure(messages)
Spools(False).measure(max(1, messages // 4))
finish()
