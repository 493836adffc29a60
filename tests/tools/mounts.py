#!/usr/bin/env python3
"""Spools that go away and come back under the running daemon: renamed, removed, unmounted, mounted from another device.

    tests/tools/mounts.py [PROGRAM]         needs root and loop devices; closes with "N passed, N failed, N skipped"

The sweep is an hour away: what comes after a return is found because the daemon notices the return itself.
"""
import os, shutil, subprocess, tempfile, time

from world import World, close, skip

RETURNS = 20
SECONDS = 10


def run(*command):
    return subprocess.run(command, capture_output=True, text=True)


def more(world, waits, times=2, before=0):
    """New mail must be found soon, and then some that comes to a spool that was looked at already.

    `before` is what earlier runs of the daemon have given.
    """
    for _ in range(times):
        for _ in range(5):
            world.deliver()
        waits.append(world.until(world.n - before, SECONDS))
        time.sleep(1.5)


def end(world, name, waits):
    lost = waits.count(None)
    slowest = max((wait for wait in waits if wait is not None), default=None)
    if lost:
        print(f"{name}: not found within {SECONDS} s: {lost} of {len(waits)}")
    world.daemon.terminate()
    code = world.daemon.wait()
    world.finish(name, code == 0 and not lost, f"({len(waits)} waits, the longest {slowest} s)")


def away(world):
    for _ in range(50):
        if world.status() and not world.status()["spools"][0]["present"]:
            return
        time.sleep(0.2)


def renamed():
    world, waits = World(sweep="1h").start(), []
    more(world, waits)
    for _ in range(RETURNS // 4):
        os.rename(world.spool, world.spool + ".away")
        away(world)
        os.rename(world.spool + ".away", world.spool)
        more(world, waits)
    end(world, "root renamed and back", waits)


def removed():
    world, waits = World(sweep="1h").start(), []
    more(world, waits)
    for number in range(RETURNS // 4):
        shutil.copytree(world.spool, world.root + "/backup", dirs_exist_ok=True)
        shutil.rmtree(world.spool)
        if number % 2:
            away(world)
        # From a backup: other inodes, the same messages.
        shutil.copytree(world.root + "/backup", world.spool)
        more(world, waits)
    end(world, "root removed and restored", waits)


def bound():
    """A spool that is mounted over an empty folder. That it is not mounted does not mean that its mail was deleted."""
    name = "root unmounted and mounted"
    world, waits = World(sweep="1h"), []
    os.rename(world.spool, world.root + "/real")
    os.mkdir(world.spool)
    if run("mount", "--bind", world.root + "/real", world.spool).returncode:
        return skip(name, "no bind mounts")
    try:
        world.start()
        more(world, waits)
        for _ in range(RETURNS // 4):
            run("umount", world.spool)
            time.sleep(1.5)
            run("mount", "--bind", world.root + "/real", world.spool)
            more(world, waits)
        world.daemon.terminate()
        world.daemon.wait()
        world.once()
        run("umount", world.spool)
        time.sleep(0.2)
        world.start()
        time.sleep(1)
        before = world.n
        run("mount", "--bind", world.root + "/real", world.spool)
        more(world, waits, before=before)
        world.daemon.terminate()
        code = world.daemon.wait()
        last = world.once()
    finally:
        run("umount", world.spool)
    lost = waits.count(None)
    world.verdict(name, code == last == 0 and not lost,
                  f"{lost} of {len(waits)} not found within {SECONDS} s, the longest {max(w or 0 for w in waits):.2f} s")


def other_devices():
    """The same file system on another device each time, so that no inode is known by its number."""
    name = "remounts on other devices"
    if not shutil.which("mkfs.ext4") or not shutil.which("losetup"):
        return skip(name, "no mkfs.ext4 or losetup")
    image = tempfile.NamedTemporaryFile()
    image.truncate(64 << 20)
    run("mkfs.ext4", "-q", image.name)
    world, waits, loops, devices = World(sweep="1h"), [], [], set()
    shutil.rmtree(world.spool)
    os.mkdir(world.spool)

    def mount():
        # The one before stays for a while, so that its number is not given again.
        loop = run("losetup", "--show", "-f", image.name).stdout.strip()
        loops.append(loop)
        if len(loops) > 2:
            run("losetup", "-d", loops.pop(0))
        return run("mount", loop, world.spool).returncode == 0
    try:
        if not mount():
            shutil.rmtree(world.root)
            return skip(name, "no loop device")
        world.make_maildir()
        world.start()
        for _ in range(RETURNS):
            for _ in range(5):
                world.append()
            more(world, waits, 1)
            devices.add(os.stat(world.spool).st_dev)
            run("umount", world.spool)
            if not mount():
                raise SystemExit("it cannot be mounted again")
        more(world, waits)
        world.daemon.terminate()
        code = world.daemon.wait()
        last = world.once()
    finally:
        run("umount", world.spool)
        for loop in loops:
            run("losetup", "-d", loop)
    lost = waits.count(None)
    world.verdict(name, code == last == 0 and not lost and len(devices) > 1,
                  f"{RETURNS} remounts on {len(devices)} devices, {lost} of {len(waits)} not found within {SECONDS} s")


if __name__ == "__main__":
    renamed()
    removed()
    if os.getuid():
        skip("mounts", "not root")
    else:
        bound()
        other_devices()
    close()
