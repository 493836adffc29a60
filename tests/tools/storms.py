#!/usr/bin/env python3
"""Exposes the running daemon to storms: renames of flags, lost notifications, new folders, no
inotify watches left, small limits, locks.

    tests/tools/storms.py [PROGRAM]
"""
import fcntl, os, random, shutil, signal, time

from world import World, finish, skip


def rename_storm(files=20000, seconds=20):
    world = World(sweep="2s")
    for _ in range(files):
        world.deliver()
    names = {n: f"{world.spool}/md/new/{n}.M1.host" for n in range(1, files + 1)}
    world.start()
    end, renames = time.time() + seconds, 0
    while time.time() < end:
        n = random.choice(list(names)) if renames % 100 == 0 else random.randint(1, files)
        to = f"{world.spool}/md/cur/{n}.M1.host:2,{random.choice(['', 'S', 'RS', 'FS'])}"
        os.rename(names[n], to)
        names[n] = to
        renames += 1
        if renames % 50 == 0:
            world.deliver()
            names[world.n] = f"{world.spool}/md/new/{world.n}.M1.host"
        time.sleep(0.0008)
    took = world.wait_for(world.n, 60)
    world.stop("rename storm", note=f"({renames} renames; everything read {took} s after the last)")


def overflow():
    world = World(sweep="1h").start()
    world.deliver()
    world.wait_for(1, 10)
    world.daemon.send_signal(signal.SIGSTOP)
    for _ in range(30000):
        world.deliver()
    world.daemon.send_signal(signal.SIGCONT)
    took = world.wait_for(world.n, 60)
    lost = world.status()["counts"]["overflows"]
    if lost == 0:
        skip("overflow", "no notification was lost")
    world.stop("overflow", note=f"({lost} overflows noticed; everything read after {took} s)")


def new_folders():
    world = World(sweep="1h").start()
    for box in range(40):
        folder = f"{world.spool}/mh{box}/deep/er"
        os.makedirs(folder)
        for number in range(1, 101):
            with open(f"{folder}/{number}", "w") as f:
                f.write(world.text())
    took = world.wait_for(world.n, 30)
    world.stop("new folders", note=f"(everything read after {took} s)")


def watch_limit():
    setting = "/proc/sys/fs/inotify/max_user_watches"
    before = open(setting).read()
    try:
        open(setting, "w").write("3")
    except OSError as error:
        return skip("watch limit", error)
    try:
        world = World(sweep="1h").start()
        for _ in range(100):
            world.deliver()
        took = world.wait_for(world.n, 45)
        notifications = world.status()["spools"][0]["notices"]
        world.stop("watch limit",
                   note=f"(notifications: {notifications}; found by polling after {took} s)")
    finally:
        open(setting, "w").write(before)


def small_limits():
    if not shutil.which("prlimit"):
        return skip("small limits", "prlimit is not installed")
    for name, limit in (("file size", "--fsize=1048576"), ("open files", "--nofile=32")):
        world = World(prefix=["prlimit", limit], seal="1h").start()
        for _ in range(2000):
            world.deliver()
        took = world.wait_for(world.n, 60)
        paused = world.status()["counts"]["pauses"]
        world.stop(f"limit of {name}", note=f"({paused} pauses; {took} s)")


def locks():
    world = World(sweep="1h").start()
    inbox = open(world.spool + "/inbox", "a+")
    for n in range(10):
        fcntl.lockf(inbox, fcntl.LOCK_EX)
        whole = os.fstat(inbox.fileno()).st_size
        inbox.write("From x Mon Jan  1 00:00:00 1996\nFrom: a\n\n"
                    "see http://h.example/rolled-back.html now\n\n")
        inbox.flush()
        time.sleep(0.5)
        os.ftruncate(inbox.fileno(), whole)
        inbox.write(f"From x Mon Jan  1 00:00:00 1996\n{world.text()}\n")
        inbox.flush()
        fcntl.lockf(inbox, fcntl.LOCK_UN)
    took = world.wait_for(world.n, 10)
    world.stop("fcntl locks, writes rolled back", note=f"({took} s)")


for storm in (rename_storm, overflow, new_folders, watch_limit, small_limits, locks):
    storm()
finish()
