#!/usr/bin/env python3
"""Power cuts: the daemon writes to an ext4 image. At a random moment, the file system is shut down
without a flush (EXT4_IOC_SHUTDOWN, NOLOGFLUSH) and mounted again, and the daemon restarts. At the
end, each URL must be written once.

    tests/tools/powercut.py [PROGRAM] [CUTS]

Power fails on all disks at once, but this tool shuts them down one after the other. An fdatasync
that runs during a shutdown may return success for lost bytes (Linux 6.18: 12 of 300 cuts of a
program that only appends). So the disk of the state comes first: no commit may follow such a sync.

DISKS=2 puts the state on a separate disk, where syncs of the state do not write folders of the
output, so a missing sync of such a folder is noticed. With URLSPOOL_PLANTED=NoDirectorySync, a
program built with the feature `planted-faults` must fail in this way.
"""
import contextlib, fcntl, os, random, signal, struct, sys, tempfile, threading, time

from disk_faults import can, mounted, move_to
from world import World, finish, report, run, skip

SHUTDOWN, NO_LOG_FLUSH = 0x8004587D, struct.pack("I", 2)


def write_mail(world, stopped):
    """Delivers into a Maildir, an MH folder and an mbox."""
    os.mkdir(world.spool + "/mh")
    while not stopped.is_set():
        world.deliver()
        world.append()
        with open(f"{world.spool}/mh/{world.n}", "w") as file:
            file.write(world.text())
        time.sleep(random.uniform(0, 0.03))


def main():
    cuts = int(sys.argv[2]) if 2 < len(sys.argv) else 50
    name, disks = f"{cuts} power cuts", []
    if not can(name, "mkfs.ext4", "losetup"):
        finish()
    world = World(seal="250ms", settle="100ms", state='commit_interval="20ms"\n')
    with contextlib.ExitStack() as stack:
        for _ in range(int(os.environ.get("DISKS", "1"))):
            image, place = stack.enter_context(tempfile.NamedTemporaryFile()), tempfile.mkdtemp()
            image.truncate(256 << 20)
            run("mkfs.ext4", "-q", image.name)
            if not stack.enter_context(mounted(place, "-o", "loop", image.name)):
                skip(name, "there is no loop device")
                finish()
            disks.append((image.name, place))
        move_to(world, disks[0][1], "state")
        move_to(world, disks[-1][1], "out")
        stopped = threading.Event()
        writer = threading.Thread(target=write_mail, args=(world, stopped))
        writer.start()
        for cut in range(cuts):
            world.spawn()
            time.sleep(random.uniform(0.02, 0.62))
            for _, place in disks:
                folder = os.open(place, os.O_RDONLY)
                fcntl.ioctl(folder, SHUTDOWN, NO_LOG_FLUSH)
                os.close(folder)
            world.kill()
            # The daemon may notice the cut first, and end because it cannot write.
            if world.daemon.returncode not in (-signal.SIGKILL, 74):
                report(f"cut {cut}", False, f"exit code {world.daemon.returncode}")
            for image, place in disks:
                run("umount", place, check=True)
                run("mount", "-o", "loop", image, place, check=True)
        stopped.set()
        writer.join()
        world.finish(name)
    finish()


if __name__ == "__main__":
    main()
