#!/usr/bin/env python3
"""What the daemon costs: latency, catching up, restart with many messages known, state, idleness, memory. Prints a table.

    tests/tools/daemon_figures.py [PROGRAM] [MESSAGES]      MESSAGES (1000000) lie in one folder; TMPDIR says where

A cgroup of 256 MiB (v1 or v2) bounds memory; without one, what was used is measured all the same. TMPDIR must be on a
disk then: files in memory count. SPOOLS=/dev/shm saves the time of making so many files on one.
"""
import os, re, shutil, subprocess, sys, time

from world import World, close, program, skip, verdict

LIMIT = 256 << 20
messages = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
rows = []


def row(name, value, command):
    rows.append((name, value, command))
    print(f"{name:<48} | {value:<28} | {command}", flush=True)


def memory(pid, what):
    return int(re.search(what + r":\s+(\d+)", open(f"/proc/{pid}/status").read())[1]) >> 10


def ticks(pid):
    return sum(map(int, open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[11:13])) / os.sysconf("SC_CLK_TCK")


class Group:
    """A memory cgroup, of whichever version there is."""

    def __init__(self):
        v1, v2 = "/sys/fs/cgroup/memory", "/sys/fs/cgroup"
        self.version, base, knob = ("v1", v1, "memory.limit_in_bytes") if os.path.isdir(v1) else ("v2", v2, "memory.max")
        self.path = f"{base}/urlspool-{os.getpid()}"
        self.tasks = self.path + ("/tasks" if self.version == "v1" else "/cgroup.procs")
        try:
            os.mkdir(self.path)
            open(f"{self.path}/{knob}", "w").write(str(LIMIT))
        except OSError as error:
            skip("memory in a cgroup", error)
            self.version = None

    def prefix(self):
        return ["sh", "-c", f'echo $$ >{self.tasks}; exec "$@"', "sh"] if self.version else []

    def peak(self):
        # Of the whole group, with the pages of files that it has read: those are given back, and count as no failure.
        knob = "memory.max_usage_in_bytes" if self.version == "v1" else "memory.peak"
        return int(open(f"{self.path}/{knob}").read()) >> 20

    def end(self):
        if self.version:
            time.sleep(0.2)
            os.rmdir(self.path)


def latency(count=300):
    """From the delivery to the write of the commit that holds it, as the state's log tells it."""
    world = World(seal="1h").start()
    log, waits = world.root + "/state/state.db-wal", []
    part = world.root + "/out/.open/0000000001.part"
    world.deliver()
    world.until(1, 10)
    for _ in range(count):
        before, size = os.stat(log).st_mtime_ns, os.path.getsize(part)
        start = time.time()
        world.deliver()
        while os.stat(log).st_mtime_ns == before or os.path.getsize(part) == size:
            time.sleep(0.001)
        waits.append(time.time() - start)
        time.sleep(0.01)
    waits.sort()
    row("latency, delivered to committed", f"p50 {waits[count // 2]:.3f} s, p99 {waits[count * 99 // 100]:.3f} s", f"{count} deliveries into a Maildir")
    world.end("latency")


def fill(world, count, folder):
    """Articles of one folder, as a week without the daemon leaves them."""
    path = f"{world.spool}/{folder}"
    os.makedirs(path)
    for _ in range(count):
        with open(f"{path}/{world.n + 1}", "w") as f:
            f.write(world.text())


def many():
    """All in one folder: catching up, and starting again when all of it is known."""
    group = Group()
    world = World(sweep="1h", seal="10s", prefix=group.prefix())
    fill(world, messages, "big")
    start = time.time()
    world.spawn("--once")
    pid, peak = world.daemon.pid, 0
    while world.daemon.poll() is None:
        try:
            peak = max(peak, memory(pid, "VmHWM"))
        except (OSError, TypeError):
            break
        time.sleep(0.5)
    code, took = world.daemon.wait(), time.time() - start
    if code != 0:
        group.end()
        return world.finish("many messages in one folder", False, f"(within {LIMIT >> 20} MiB it ended with {code})")
    row("catch-up, one folder", f"{messages / took:,.0f} messages/s", f"{messages:,} files, watch --once, {took:.0f} s")
    row("memory while catching up", f"{peak} MiB", "VmHWM")
    if group.version:
        row("memory of its cgroup", f"{group.peak()} MiB of {LIMIT >> 20}", f"cgroup {group.version}, file pages included")
    size = sum(os.path.getsize(f"{world.root}/state/{name}") for name in os.listdir(world.root + "/state") if name.startswith("state.db"))
    row("state", f"{size / messages:.0f} octets/message", "state.db and its log")
    for how in ("clean", "killed"):
        start = time.time()
        world.spawn()
        while not world.status():
            time.sleep(0.01)
        answered = time.time() - start
        row(f"restart, {how}: first answer", f"{answered:.2f} s", f"{messages:,} messages known")
        # Mail goes on arriving; what came before the folders are watched is found when all is looked at.
        while time.time() < start + 600 and world.status()["counts"]["messages"] == 0:
            world.deliver()
            time.sleep(0.02)
        row(f"restart, {how}: first new commit", f"{time.time() - start:.2f} s", "while up to 50 messages/s arrive")
        while world.status()["spools"][0]["files"] < messages:
            time.sleep(0.05)
        row(f"restart, {how}: all looked at", f"{messages / (time.time() - start):,.0f} files/s", "nothing of it read again")
        if how == "clean":
            world.kill()
    row("memory when all is known", f"{memory(world.daemon.pid, 'VmHWM')} MiB", "VmHWM")
    world.kill()
    held = code == 0 and peak < LIMIT >> 20
    world.finish("many messages in one folder", held, f"(within {LIMIT >> 20} MiB: {peak} MiB)")
    group.end()


def idle(files=100_000, seconds=60):
    world = World()
    for folder in range(100):
        fill(world, files // 100, f"mh{folder}")
    world.start()
    world.until(files, 300)
    time.sleep(5)
    before = ticks(world.daemon.pid)
    time.sleep(seconds)
    used = ticks(world.daemon.pid) - before
    row("idle, without mail", f"{100 * used / seconds:.2f} % of one core", f"{files:,} files in 100 folders, {seconds} s")
    world.end("idle")


latency()
idle()
many()
close()
