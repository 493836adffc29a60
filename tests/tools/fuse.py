#!/usr/bin/env python3
"""Spools on a file system that a program serves (FUSE): changes made by others, remounts, a server that dies, one that stalls.

    tests/tools/fuse.py [PROGRAM] [NAME...]

NAMEs choose among: passes remounts killed stopped asleep stuck. Needs root, /dev/fuse, fusermount, and fusepy for this Python
(apt: python3-fusepy, for /usr/bin/python3; pip: fusepy); skips what it cannot try. Takes about 15 minutes. STALL=SECONDS is the
length of a stall (30), SPOOL_SWEEP the time between rescans (2s). The last line is "N passed, N failed, N skipped"; the exit code
is 1 if anything failed, 77 if nothing could be tried.
"""
import atexit, errno, glob, os, shutil, signal, subprocess, sys, time

# The library has the same name as this file.
here = sys.path.pop(0)
try:
    import fusepy as library
except ImportError:
    try:
        import fuse as library
    except ImportError:
        library = None
sys.path.insert(0, here)

STALL = float(os.environ.get("STALL", 30))
SWEEP = os.environ.get("SPOOL_SWEEP", "2s")
# Maximum number of seconds that a call sleeps.
CALL_SECONDS = 60
# Number of deliveries that are measured without and with a stall, and the seconds to wait for each.
DELIVERIES, PATIENCE = 40, 10
# Seconds within which SIGTERM and SIGKILL must end the daemon.
END_SECONDS = 5
REMOUNTS = 20


def serve(source, mount, asleep, own_inodes):
    """The server: shows the folder `source` at `mount`. While the file `asleep` exists, reads sleep; if it contains "all", all calls."""

    def wait(what):
        end = time.time() + CALL_SECONDS
        while time.time() < end:
            try:
                if open(asleep).read() not in (what, "all"):
                    return
            except FileNotFoundError:
                return
            time.sleep(0.05)

    class Passthrough(library.Operations):
        def real_path(self, path):
            return source + path

        def getattr(self, path, fh=None):
            wait("all")
            metadata = os.lstat(self.real_path(path))
            names = "st_mode", "st_ino", "st_nlink", "st_uid", "st_gid", "st_size", "st_atime", "st_mtime", "st_ctime"
            return {name: getattr(metadata, name) for name in names}

        def readdir(self, path, fh):
            wait("all")
            return [".", ".."] + os.listdir(self.real_path(path))

        def readlink(self, path):
            return os.readlink(self.real_path(path))

        def open(self, path, flags):
            return os.open(self.real_path(path), flags)

        def create(self, path, mode, fi=None):
            return os.open(self.real_path(path), os.O_RDWR | os.O_CREAT | os.O_EXCL, mode)

        def read(self, path, size, offset, fh):
            wait("read")
            return os.pread(fh, size, offset)

        def write(self, path, data, offset, fh):
            return os.pwrite(fh, data, offset)

        def truncate(self, path, length, fh=None):
            os.truncate(self.real_path(path), length)

        def release(self, path, fh):
            os.close(fh)

        def unlink(self, path):
            os.unlink(self.real_path(path))

        def rename(self, old, new):
            os.rename(self.real_path(old), self.real_path(new))

    library.FUSE(Passthrough(), mount, foreground=True, use_ino=own_inodes)


if sys.argv[1:2] == ["--serve"]:
    serve(*sys.argv[2:5], sys.argv[5] == "True")
    sys.exit()

chosen = sys.argv[2:]
from world import World, finish, skip


class Mounted:
    """A folder `mount` at which a server shows the folder `source`."""

    def __init__(self, mount):
        self.mount, self.source, self.server = mount, mount + ".source", None
        self.asleep = mount + ".asleep"
        os.rename(mount, self.source)
        os.mkdir(mount)
        atexit.register(self.down)

    def up(self, own_inodes=True):
        command = [sys.executable, os.path.realpath(__file__), "--serve", self.source, self.mount, self.asleep, str(own_inodes)]
        self.server = subprocess.Popen(command, start_new_session=True)
        for _ in range(200):
            if os.path.ismount(self.mount):
                return self
            if self.server.poll() is not None:
                break
            time.sleep(0.05)
        raise SystemExit("no FUSE file system could be mounted")

    def stop(self):
        os.kill(self.server.pid, signal.SIGSTOP)

    def sleep(self, what):
        with open(self.asleep + ".next", "w") as f:
            f.write(what)
        os.rename(self.asleep + ".next", self.asleep)

    def resume(self):
        if os.path.exists(self.asleep):
            os.remove(self.asleep)
        if self.server.poll() is None:
            os.kill(self.server.pid, signal.SIGCONT)

    def unmount(self):
        subprocess.run(["umount", "-l", self.mount], stderr=subprocess.DEVNULL)

    def down(self):
        """Unmounts and ends the server, so that no process waits for it any longer."""
        if self.server and self.server.poll() is None:
            self.resume()
            self.unmount()
            try:
                self.server.wait(5)
            except subprocess.TimeoutExpired:
                self.server.kill()
                self.server.wait()
        self.unmount()


class TwoSpools(World):
    """A world with two spools: `remote` behind a server, and `local` on a disk."""

    def __init__(self, sweep=SWEEP, seal="1h"):
        super().__init__(sweep=sweep, seal=seal)
        self.remote = Mounted(self.spool)
        self.local = self.root + "/local"
        for folder in ("new", "cur", "tmp"):
            os.makedirs(f"{self.local}/md/{folder}")
        with open(self.root + "/c.toml", "a") as f:
            f.write(f'[[spool]]\npath="{self.local}"\n')

    def deliver_at(self, folder, deliver):
        """Delivers into `folder` instead of the spool."""
        before, self.spool = self.spool, folder
        deliver()
        self.spool = before

    def check(self, name, ok, note):
        # A mounted folder cannot be removed.
        self.remote.down()
        super().check(name, ok, note)

    def deliver_behind(self):
        """Delivers as another machine does: the kernel sends no notification of it."""
        self.deliver_at(self.remote.source, self.deliver)
        self.deliver_at(self.remote.source, self.append)

    def deliver_through(self):
        """Delivers through the mounted file system."""
        self.deliver()
        self.append()

    def deliver_local(self):
        self.deliver_at(self.local, self.deliver)

    def unsealed_bytes(self):
        """Number of bytes of records that are written and not sealed."""
        return sum(os.path.getsize(path) for path in glob.glob(self.root + "/out/.open/*.part"))

    def measure_local(self, patience):
        """Seconds from a delivery on the disk to its record; None if it takes longer than `patience`."""
        before, start = self.unsealed_bytes(), time.time()
        self.deliver_local()
        while self.unsealed_bytes() == before:
            if time.time() - start > patience:
                return None
            time.sleep(0.002)
        return time.time() - start

    def measure_local_often(self, seconds):
        waits, end = [], time.time() + seconds
        for _ in range(DELIVERIES):
            if time.time() < end:
                waits.append(self.measure_local(min(PATIENCE, max(1, end - time.time()))))
                time.sleep(max(0, seconds / DELIVERIES - (waits[-1] or 0)))
        return waits

    def threads(self):
        """The states of the daemon's threads, as the kernel reports them: D cannot be interrupted."""
        states = []
        for stat in glob.glob(f"/proc/{self.daemon.pid}/task/*/stat"):
            try:
                states.append(open(stat).read().rsplit(")", 1)[1].split()[0])
            except OSError:
                pass
        return "".join(sorted(states)) or "none"

    def wait_for_end(self, seconds):
        """The exit code of the daemon and the seconds until it ended; None if it has not ended."""
        start = time.time()
        try:
            return self.daemon.wait(seconds), time.time() - start
        except subprocess.TimeoutExpired:
            return None


def summarize(waits):
    """The median, the 90th percentile, and both as text with the number of deliveries that were not found."""
    came = sorted(wait for wait in waits if wait is not None)
    if not came:
        return None, None, f"none of {len(waits)} within {PATIENCE} s"
    middle, late = came[len(came) // 2], came[len(came) * 9 // 10]
    lost = len(waits) - len(came)
    return middle, late, f"p50 {middle:.3f} s, p90 {late:.3f} s" + (f", {lost} of {len(waits)} not within {PATIENCE} s" if lost else "")


def wait_for_all(world, before=0, seconds=60):
    return world.wait_for(world.n - before, seconds)


def passes():
    """Mail that the kernel reports, and mail that it does not report, which a rescan finds after 30 s at most."""
    for own_inodes in (True, False):
        world = TwoSpools(sweep="5m", seal="1s")
        world.remote.up(own_inodes)
        world.start()
        slow = {}
        for name, how in (("through the mount", world.deliver_through), ("behind it", world.deliver_behind)):
            for _ in range(50):
                how()
            slow[name] = wait_for_all(world, seconds=45)
        world.daemon.terminate()
        code = world.daemon.wait()
        world.finish(f"pass-through, inodes {'of the disk' if own_inodes else 'of the library'}", code == 0 and None not in slow.values(),
                     "(found after: " + ", ".join(f"{k} {'never' if v is None else f'{v:.1f} s'}" for k, v in slow.items()) + ")")


def remounts():
    world, waits = TwoSpools(seal="1s"), []
    world.remote.up()
    world.start()
    for number in range(REMOUNTS):
        for _ in range(5):
            world.deliver_through()
            world.deliver_behind()
        waits.append(wait_for_all(world, seconds=20))
        world.remote.down()
        world.deliver_behind()
        if number % 4 == 3:
            time.sleep(1.5)
        world.remote.up(own_inodes=number % 2 == 0)
    waits.append(wait_for_all(world, seconds=20))
    world.daemon.terminate()
    code = world.daemon.wait()
    lost = waits.count(None)
    world.finish("remounts", code == 0 and not lost, f"({REMOUNTS} remounts, {lost} of {len(waits)} waits longer than 20 s)")


def killed():
    """The server dies: its files cannot be read (ENOTCONN). The daemon must neither purge their state nor end."""
    world, waits, alive = TwoSpools(seal="1s"), [], True
    world.remote.up()
    world.start()
    for _ in range(5):
        for _ in range(5):
            world.deliver_through()
        waits.append(wait_for_all(world, seconds=20))
        world.remote.server.kill()
        world.remote.server.wait()
        try:
            os.listdir(world.spool)
            alive = False
        except OSError as error:
            alive &= error.errno == errno.ENOTCONN
        for _ in range(5):
            world.deliver_behind()
            world.deliver_local()
        time.sleep(3)
        alive &= world.daemon.poll() is None
        world.remote.unmount()
        world.remote.up()
        waits.append(wait_for_all(world, seconds=40))
    world.daemon.terminate()
    code = world.daemon.wait()
    lost = waits.count(None)
    slowest = max((wait for wait in waits if wait is not None), default=0)
    world.finish("server killed", code == 0 and alive and not lost, f"(5 times, {lost} of {len(waits)} waits too long, the longest of the others {slowest:.1f} s)")


def busy(*ways):
    """A world whose daemon has read ten messages delivered in each of these ways."""
    world = TwoSpools()
    world.remote.up()
    world.start()
    for _ in range(10):
        for way in ways:
            way(world)
    wait_for_all(world)
    return world


def stalls(name, begin, interruptible=True):
    """A server that does not answer: other spools are read, and the daemon can be ended.

    If calls of the file system are not `interruptible`, no process that waits for them can end; then the daemon must at least have
    sealed its segment.
    """
    world = busy(TwoSpools.deliver_through, TwoSpools.deliver_behind, TwoSpools.deliver_local)
    plain = world.measure_local_often(DELIVERIES / 4)
    begin(world)
    time.sleep(3)
    stalled = world.measure_local_often(STALL)
    start = time.time()
    answers = world.status() is not None
    answered = time.time() - start
    states = world.threads()
    world.remote.resume()
    caught_up = wait_for_all(world, seconds=40)
    before, during = summarize(plain), summarize(stalled)
    # Very short times vary with the load of the machine.
    continues = None not in stalled and during[0] <= 2 * before[0] and during[1] <= 2 * max(before[1], 0.05)
    world.daemon.terminate()
    code = world.daemon.wait()
    world.finish(f"{name}: the other spool", continues and answers and code == 0 and caught_up is not None,
                 f"(before the stall {before[2]}; during it {during[2]}; status {'after' if answers else 'none after'} {answered:.2f} s; threads {states}; "
                 f"caught up {'never' if caught_up is None else f'{caught_up:.1f} s'} after it)")
    for how in (signal.SIGTERM, signal.SIGKILL):
        end(name, begin, how, interruptible)


def end(name, begin, how, interruptible):
    """Ends the daemon with a signal while the server does not answer."""
    world = busy(TwoSpools.deliver_through, TwoSpools.deliver_local)
    begin(world)
    time.sleep(3)
    for _ in range(5):
        world.deliver_local()
    time.sleep(1)
    os.kill(world.daemon.pid, how)
    start, reported = time.time(), None
    while time.time() - start < 2 * END_SECONDS and world.daemon.poll() is None:
        if reported is None and "ended" in world.log_text().rsplit("watching", 1)[-1]:
            reported = time.time() - start
        time.sleep(0.01)
    code, took, states = world.daemon.poll(), time.time() - start, world.threads()
    if reported is None and "ended" in world.log_text().rsplit("watching", 1)[-1]:
        reported = took
    note = f"ended with {code} after {took:.2f} s" if code is not None else f"not ended after {took:.0f} s, threads {states}"
    if how == signal.SIGTERM:
        note += ", sealed and logged its end " + (f"after {reported:.2f} s" if reported is not None else "never")
        if code is None:
            world.daemon.kill()
            killed = world.wait_for_end(END_SECONDS)
            note += f"; a kill then {'does not end it' if killed is None else f'ends it after {killed[1]:.2f} s'}"
    ok = took <= END_SECONDS and code == (0 if how == signal.SIGTERM else -how)
    if not interruptible:
        ok = how == signal.SIGKILL or reported is not None and reported <= END_SECONDS
    world.remote.resume()
    left = world.wait_for_end(CALL_SECONDS + 30)
    if code is None:
        note += f"; when the server answers again {'still not' if left is None else f'after {left[1]:.1f} s with {left[0]}'}"
    world.finish(f"{name}: {signal.Signals(how).name}", ok, f"({note})")


def stopped():
    stalls("server stopped", lambda world: world.remote.stop())


def asleep():
    def begin(world):
        world.remote.sleep("read")
        # The daemon needs something to read.
        world.deliver_behind()
    stalls("reads that sleep", begin)


def stuck():
    """Calls that the server accepts and does not answer: no process that waits for them can be killed."""
    stalls("calls that sleep", lambda world: world.remote.sleep("all"), interruptible=False)


if __name__ == "__main__":
    missing = [what for what, there in (
        ("root", os.getuid() == 0), ("/dev/fuse", os.path.exists("/dev/fuse")),
        ("fusermount", shutil.which("fusermount") or shutil.which("fusermount3")),
        (f"fusepy for {sys.executable}", library)) if not there]
    for scene in (passes, remounts, killed, stopped, asleep, stuck):
        if chosen and scene.__name__ not in chosen:
            continue
        if missing:
            skip(scene.__name__, "needs " + ", ".join(missing))
        else:
            scene()
    finish()
