#!/usr/bin/env python3
"""Kills the daemon between the records of one message, and checks that each URL is written once.

    tests/tools/message_kills.py [PROGRAM] [--kills N] [--urls N]

The message has so many URLs (default 20,000) that its records go to a file before they go to the
segment. The daemon is killed at a random moment while that file is open, N times (default 1,000) in
each of three ways: undisturbed, while another spool gets mail and segments are sealed, and, as
root, with an output that has no room for the records. After ten kills it may finish. A message that
survives its trial is never set aside.
"""
import argparse, collections, glob, json, os, random, shutil, subprocess, tempfile, time

from world import finish, program, report, skip

KILLS_PER_MESSAGE = 10


class Mailbox:
    """An mbox with large messages, a Maildir next to it, and the daemon's folders."""

    def __init__(self, urls, disk):
        self.root, self.urls, self.disk = tempfile.mkdtemp(), urls, disk
        self.messages = self.others = 0
        self.written = collections.Counter()
        for folder in ("spool", "md/new", "md/cur", "md/tmp", "out"):
            os.makedirs(f"{self.root}/{folder}")
        if disk:
            self.mount("size=6m")
        with open(f"{self.root}/c.toml", "w") as file:
            file.write(f'[output]\ndir="{self.root}/out"\nseal_interval="50ms"\n'
                       f'seal_bytes="64KiB"\n[state]\ndir="{self.root}/state"\n'
                       f'commit_interval="20ms"\n[watch]\nsettle="100ms"\n[metrics]\nlisten=""\n'
                       f'[[spool]]\npath="{self.root}/spool"\n[[spool]]\npath="{self.root}/md"\n')

    def mount(self, options):
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", f"{self.root}/out"],
                       check=True)

    def append(self):
        self.messages += 1
        n = self.messages
        lines = "".join(f"see http://h.example/{n}-{i}.html now\n" for i in range(self.urls))
        with open(f"{self.root}/spool/inbox", "a") as file:
            file.write(f"From a@b Mon Jan  1 00:00:00 1996\nSubject: {n}\n\n{lines}\n"
                       f"From a@b Mon Jan  1 00:00:00 1996\nSubject: -{n}\n\nx\n\n")

    def deliver(self):
        self.others += 1
        with open(f"{self.root}/md/new/{self.others}.M1.h", "w") as file:
            file.write(f"Subject: {self.others}\n\nsee http://other.example/{self.others}.html\n")

    def start(self, *args):
        log = open(f"{self.root}/log", "a")
        return subprocess.Popen([program, "watch", "--config", f"{self.root}/c.toml", *args],
                                stderr=log)

    def is_inside(self, daemon):
        """True while the daemon has the file for the records of a message open."""
        try:
            return any(f"{self.root}/out/" in os.readlink(fd.path)
                       and os.readlink(fd.path).endswith("(deleted)")
                       for fd in os.scandir(f"/proc/{daemon.pid}/fd"))
        except (FileNotFoundError, ProcessLookupError):
            return False

    def kill_inside(self, seconds, is_sealing):
        """Kills the daemon inside the message. False if it was too late."""
        daemon = self.start()
        end = time.time() + 30
        while not self.is_inside(daemon) and time.time() < end:
            if is_sealing:
                self.deliver()
            time.sleep(0.002)
        wait = time.time() + seconds
        while time.time() < wait:
            if is_sealing:
                self.deliver()
            time.sleep(0.001)
        was_inside = self.is_inside(daemon) or bool(self.disk)
        daemon.kill()
        daemon.wait()
        return was_inside

    def finish_message(self):
        """Lets the daemon finish. Returns a description of errors."""
        if self.disk:
            subprocess.run(["mount", "-o", "remount,size=2g", f"{self.root}/out"], check=True)
        code = self.start("--once").wait()
        for path in glob.glob(f"{self.root}/out/*.jsonl"):
            for line in open(path):
                self.written[json.loads(line)["url"]] += 1
            os.remove(path)
        if self.disk:
            subprocess.run(["mount", "-o", "remount,size=6m", f"{self.root}/out"], check=True)
        expected = {f"http://h.example/{n}-{i}.html" for n in range(1, self.messages + 1)
                    for i in range(self.urls)}
        expected |= {f"http://other.example/{n}.html" for n in range(1, self.others + 1)}
        twice = sum(number > 1 for number in self.written.values())
        lost = len(expected - set(self.written))
        with open(f"{self.root}/log") as log:
            aside = log.read().count("died of this message")
        return (None if (code, twice, lost, aside) == (0, 0, 0, 0)
                else f"exit code {code}, {twice} twice, {lost} lost, {aside} set aside")

    def close(self):
        if self.disk:
            subprocess.run(["umount", "-l", f"{self.root}/out"], check=True)
        shutil.rmtree(self.root)


def run(name, kills, urls, is_sealing=False, disk=False):
    rng, box = random.Random(kills), Mailbox(urls, disk)
    done = late = 0
    longest = 0.02
    while done < kills:
        box.append()
        for _ in range(KILLS_PER_MESSAGE):
            if box.kill_inside(rng.random() * longest, is_sealing):
                done += 1
                longest = min(longest * 1.1, 2.5 if disk else 1.0)
            else:
                late += 1
                longest = max(longest * 0.7, 0.01)
                break
        wrong = box.finish_message()
        if wrong:
            report(name, False, f"after {done} kills: {wrong}; {box.root}")
            return
    report(name, True, f"{done} kills inside a message ({late} too late), {box.messages} messages, "
                       f"{box.others} others: 0 lost, 0 twice")
    box.close()


parser = argparse.ArgumentParser()
parser.add_argument("program", nargs="?")
parser.add_argument("--kills", type=int, default=1000)
parser.add_argument("--urls", type=int, default=20_000)
arguments = parser.parse_args()
run("quiet", arguments.kills, arguments.urls)
run("with seals", arguments.kills, arguments.urls, is_sealing=True)
if os.geteuid() == 0:
    run("full disk", arguments.kills // 5, arguments.urls, disk=True)
else:
    skip("full disk", "it needs root")
finish()
