#!/usr/bin/env python3
"""Makes spools disappear and return while the daemon runs: renamed, removed, unmounted, mounted
from another device.

    tests/tools/mounts.py [PROGRAM]

The next rescan is an hour away, so mail is found only if the daemon itself notices that the spool
is back.
"""
import os, shutil, tempfile, time

from world import World, finish, run, skip

RETURNS = 20
SECONDS = 10


def deliver_more(world, waits, times=2, before=0):
    """Delivers new mail and measures how soon it is found: once right after the return, and once
    after a scan.

    `before` is the number of messages that earlier runs of the daemon read.
    """
    for _ in range(times):
        for _ in range(5):
            world.deliver()
        waits.append(world.wait_for(world.n - before, SECONDS))
        time.sleep(1.5)


def check(world, name, ok, waits):
    lost = waits.count(None)
    world.check(name, ok and not lost, f"{lost} of {len(waits)} not found within {SECONDS} s, "
                                       f"the longest {max(w or 0 for w in waits):.2f} s")


def stop(world, name, waits):
    world.daemon.terminate()
    code = world.daemon.wait()
    check(world, name, code == world.once() == 0, waits)


def wait_until_absent(world):
    for _ in range(50):
        if world.status() and not world.status()["spools"][0]["present"]:
            return
        time.sleep(0.2)


def renamed():
    world, waits = World(sweep="1h").start(), []
    deliver_more(world, waits)
    for _ in range(RETURNS // 4):
        os.rename(world.spool, world.spool + ".away")
        wait_until_absent(world)
        os.rename(world.spool + ".away", world.spool)
        deliver_more(world, waits)
    stop(world, "root renamed and back", waits)


def removed():
    world, waits = World(sweep="1h").start(), []
    deliver_more(world, waits)
    for number in range(RETURNS // 4):
        shutil.copytree(world.spool, world.root + "/backup", dirs_exist_ok=True)
        shutil.rmtree(world.spool)
        if number % 2:
            wait_until_absent(world)
        # A backup has the same messages with other inodes.
        shutil.copytree(world.root + "/backup", world.spool)
        deliver_more(world, waits)
    stop(world, "root removed and restored", waits)


def bound():
    """A spool mounted over an empty folder. An unmounted spool is not a deleted one."""
    name = "root unmounted and mounted"
    world, waits = World(sweep="1h"), []
    os.rename(world.spool, world.root + "/real")
    os.mkdir(world.spool)
    if run("mount", "--bind", world.root + "/real", world.spool).returncode:
        return skip(name, "bind mounts are not possible")
    try:
        world.start()
        deliver_more(world, waits)
        for _ in range(RETURNS // 4):
            run("umount", world.spool)
            time.sleep(1.5)
            run("mount", "--bind", world.root + "/real", world.spool)
            deliver_more(world, waits)
        world.daemon.terminate()
        world.daemon.wait()
        world.once()
        run("umount", world.spool)
        time.sleep(0.2)
        world.start()
        time.sleep(1)
        before = world.n
        run("mount", "--bind", world.root + "/real", world.spool)
        deliver_more(world, waits, before=before)
        world.daemon.terminate()
        code = world.daemon.wait()
        last = world.once()
    finally:
        run("umount", world.spool)
    check(world, name, code == last == 0, waits)


def other_devices():
    """The same file system on other devices, so that device and inode identify no file."""
    name = "remounts on other devices"
    if not shutil.which("mkfs.ext4") or not shutil.which("losetup"):
        return skip(name, "mkfs.ext4 or losetup is not installed")
    image = tempfile.NamedTemporaryFile()
    image.truncate(64 << 20)
    run("mkfs.ext4", "-q", image.name)
    world, waits, loops, devices = World(sweep="1h"), [], [], set()
    shutil.rmtree(world.spool)
    os.mkdir(world.spool)

    def mount():
        # The last device is kept for a while to prevent reuse of its number.
        loop = run("losetup", "--show", "-f", image.name).stdout.strip()
        loops.append(loop)
        if len(loops) > 2:
            run("losetup", "-d", loops.pop(0))
        return run("mount", loop, world.spool).returncode == 0
    try:
        if not mount():
            shutil.rmtree(world.root)
            return skip(name, "there is no loop device")
        world.make_maildir()
        world.start()
        for _ in range(RETURNS):
            for _ in range(5):
                world.append()
            deliver_more(world, waits, 1)
            devices.add(os.stat(world.spool).st_dev)
            run("umount", world.spool)
            if not mount():
                raise SystemExit("the spool cannot be mounted again")
        deliver_more(world, waits)
        world.daemon.terminate()
        code = world.daemon.wait()
        last = world.once()
    finally:
        run("umount", world.spool)
        for loop in loops:
            run("losetup", "-d", loop)
    check(world, f"{name}: {len(devices)}", code == last == 0 and len(devices) > 1, waits)


if __name__ == "__main__":
    renamed()
    removed()
    if os.getuid():
        skip("mounts", "not root")
    else:
        bound()
        other_devices()
    finish()
