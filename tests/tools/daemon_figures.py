#!/usr/bin/env python3
"""Measures the daemon: latency, catching up, restart with many known messages, size of the state, idle load, memory.

    tests/tools/daemon_figures.py [PROGRAM] [MESSAGES]      default: 1000000 messages, in one folder

Prints a table. Takes about 20 minutes. A memory cgroup of 256 MiB (v1 or v2) limits the memory, if one can be made; then TMPDIR
must be on a disk, because files in memory count. SPOOLS=/dev/shm makes the many files faster. The exit code is 1 if anything
failed.
"""
import os, re, shutil, subprocess, sys, time

from world import World, finish, program, skip

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
    """A memory cgroup of version 1 or 2."""

    def __init__(self):
        v1, v2 = "/sys/fs/cgroup/memory", "/sys/fs/cgroup"
        self.version, base, setting = ("v1", v1, "memory.limit_in_bytes") if os.path.isdir(v1) else ("v2", v2, "memory.max")
        self.path = f"{base}/urlspool-{os.getpid()}"
        self.tasks = self.path + ("/tasks" if self.version == "v1" else "/cgroup.procs")
        try:
            os.mkdir(self.path)
            open(f"{self.path}/{setting}", "w").write(str(LIMIT))
        except OSError as error:
            skip("memory in a cgroup", error)
            self.version = None

    def prefix(self):
        return ["sh", "-c", f'echo $$ >{self.tasks}; exec "$@"', "sh"] if self.version else []

    def peak(self):
        # The peak of the whole group includes cached pages of files; the kernel takes those back, so they are not a failure.
        name = "memory.max_usage_in_bytes" if self.version == "v1" else "memory.peak"
        return int(open(f"{self.path}/{name}").read()) >> 20

    def end(self):
        if self.version:
            time.sleep(0.2)
            os.rmdir(self.path)


def latency(count=300):
    """The time from a delivery to the commit of its records, seen in the write-ahead log of the state."""
    world = World(seal="1h").start()
    log, waits = world.root + "/state/state.db-wal", []
    part = world.root + "/out/.open/0000000001.part"
    world.deliver()
    world.wait_for(1, 10)
    for _ in range(count):
        before, size = os.stat(log).st_mtime_ns, os.path.getsize(part)
        start = time.time()
        world.deliver()
        while os.stat(log).st_mtime_ns == before or os.path.getsize(part) == size:
            time.sleep(0.001)
        waits.append(time.time() - start)
        time.sleep(0.01)
    waits.sort()
    row("latency, delivery to commit", f"p50 {waits[count // 2]:.3f} s, p99 {waits[count * 99 // 100]:.3f} s", f"{count} deliveries into a Maildir")
    world.stop("latency")


def fill(world, count, folder):
    """Writes articles into one folder, as they collect while the daemon does not run."""
    path = f"{world.spool}/{folder}"
    os.makedirs(path)
    for _ in range(count):
        with open(f"{path}/{world.n + 1}", "w") as f:
            f.write(world.text())


def many():
    """Many messages in one folder: catching up, and restarts when all of them are known."""
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
        return world.finish("many messages in one folder", False, f"(with {LIMIT >> 20} MiB it ended with {code})")
    row("catch-up, one folder", f"{messages / took:,.0f} messages/s", f"{messages:,} files, watch --once, {took:.0f} s")
    row("memory while catching up", f"{peak} MiB", "VmHWM")
    if group.version:
        row("memory of the cgroup", f"{group.peak()} MiB of {LIMIT >> 20}", f"cgroup {group.version}, file pages included")
    size = sum(os.path.getsize(f"{world.root}/state/{name}") for name in os.listdir(world.root + "/state") if name.startswith("state.db"))
    row("state", f"{size / messages:.0f} bytes/message", "state.db and its log")
    for how in ("clean", "killed"):
        start = time.time()
        world.spawn()
        while not world.status():
            time.sleep(0.01)
        answered = time.time() - start
        row(f"restart, {how}: first answer", f"{answered:.2f} s", f"{messages:,} messages known")
        # Mail keeps arriving. Mail from before the folders were watched is found by the first scan.
        while time.time() < start + 600 and world.status()["counts"]["messages"] == 0:
            world.deliver()
            time.sleep(0.02)
        row(f"restart, {how}: first new commit", f"{time.time() - start:.2f} s", "while up to 50 messages/s arrive")
        while world.status()["spools"][0]["files"] < messages:
            time.sleep(0.05)
        row(f"restart, {how}: all files checked", f"{messages / (time.time() - start):,.0f} files/s", "no file is read again")
        if how == "clean":
            world.kill()
    row("memory when all messages are known", f"{memory(world.daemon.pid, 'VmHWM')} MiB", "VmHWM")
    world.kill()
    ok = code == 0 and peak < LIMIT >> 20
    world.finish("many messages in one folder", ok, f"(within {LIMIT >> 20} MiB: {peak} MiB)")
    group.end()


def idle(files=100_000, seconds=60):
    world = World()
    for folder in range(100):
        fill(world, files // 100, f"mh{folder}")
    world.start()
    world.wait_for(files, 300)
    time.sleep(5)
    before = ticks(world.daemon.pid)
    time.sleep(seconds)
    used = ticks(world.daemon.pid) - before
    row("idle, without mail", f"{100 * used / seconds:.2f} % of one core", f"{files:,} files in 100 folders, {seconds} s")
    world.stop("idle")


latency()
idle()
many()
finish()
