#!/usr/bin/env python3
"""Kills the daemon between the records of one message, and checks that each URL is written once.

    tests/tools/message_kills.py [PROGRAM] [--kills N] [--urls N]

The message has so many URLs (default 20,000) that its records go to a file before they go to the
segment. The daemon is killed at a random moment while that file is open, N times (default 1,000) in
each of three ways: undisturbed, while another spool gets mail and segments are sealed, and, as
root, with an output that has no room for the records. After ten kills it may finish. A message that
survives its trial is never set aside.
"""
import argparse, collections, glob, os, random, shutil, time

from world import World, finish, output, report, skip

KILLS_PER_MESSAGE = 10


class Mailbox(World):
    """A spool with large messages in an mbox, next to the Maildir."""

    def __init__(self, urls, disk):
        super().__init__(seal="50ms", settle="100ms", output='seal_bytes="64KiB"\n',
                         state='commit_interval="20ms"\n')
        self.urls, self.disk, self.messages = urls, disk, 0
        self.written = collections.Counter()
        for folder in ("large", "out"):
            os.mkdir(f"{self.root}/{folder}")
        with open(f"{self.root}/c.toml", "a") as file:
            file.write(f'[[spool]]\npath="{self.root}/large"\n')
        if disk:
            self.mount("size=6m")

    def mount(self, options):
        output("mount", "-t", "tmpfs", "-o", options, "none", f"{self.root}/out")

    def append_large(self):
        self.messages += 1
        n = self.messages
        lines = "".join(f"see http://large.example/{n}-{i}.html now\n" for i in range(self.urls))
        with open(f"{self.root}/large/inbox", "a") as file:
            file.write(f"From a@b Mon Jan  1 00:00:00 1996\nSubject: {n}\n\n{lines}\n"
                       f"From a@b Mon Jan  1 00:00:00 1996\nSubject: -{n}\n\nx\n\n")

    def is_inside(self):
        """True while the daemon has the file for the records of a message open."""
        try:
            return any(f"{self.root}/out/" in os.readlink(fd.path)
                       and os.readlink(fd.path).endswith("(deleted)")
                       for fd in os.scandir(f"/proc/{self.daemon.pid}/fd"))
        except (FileNotFoundError, ProcessLookupError):
            return False

    def kill_inside(self, seconds, is_sealing):
        """Kills the daemon inside the message. False if it was too late."""
        self.spawn()
        end = time.time() + 30
        while not self.is_inside() and time.time() < end:
            if is_sealing:
                self.deliver()
            time.sleep(0.002)
        wait = time.time() + seconds
        while time.time() < wait:
            if is_sealing:
                self.deliver()
            time.sleep(0.001)
        was_inside = self.is_inside() or bool(self.disk)
        self.kill()
        return was_inside

    def finish_message(self):
        """Lets the daemon finish. Returns a description of errors."""
        if self.disk:
            self.mount("remount,size=2g")
        code = self.once()
        self.written += self.written_urls()
        for path in glob.glob(f"{self.root}/out/*.jsonl"):
            os.remove(path)
        if self.disk:
            self.mount("remount,size=6m")
        expected = {f"http://large.example/{n}-{i}.html" for n in range(1, self.messages + 1)
                    for i in range(self.urls)}
        expected |= {f"http://h.example/{n}.html" for n in range(1, self.n + 1)}
        twice = sum(number > 1 for number in self.written.values())
        lost = len(expected - set(self.written))
        aside = self.log_text().count("died of this message")
        return (None if (code, twice, lost, aside) == (0, 0, 0, 0)
                else f"exit code {code}, {twice} twice, {lost} lost, {aside} set aside")

    def close(self):
        if self.disk:
            output("umount", "-l", f"{self.root}/out")
        shutil.rmtree(self.root)


def run(name, kills, urls, is_sealing=False, disk=False):
    rng, box = random.Random(kills), Mailbox(urls, disk)
    done = late = 0
    longest = 0.02
    while done < kills:
        box.append_large()
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
                       f"{box.n} others: 0 lost, 0 twice")
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
