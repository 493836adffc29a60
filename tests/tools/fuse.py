#!/usr/bin/env python3
"""Spools on a file system whose server is a program (FUSE): what is changed behind it, remounts, a server that dies, one that stalls.

    tests/tools/fuse.py [PROGRAM] [NAME...]     needs root, /dev/fuse, fusermount, and fusepy for this Python
                                                (apt: python3-fusepy, for /usr/bin/python3; pip: fusepy)

NAMEs choose among: passes remounts killed stopped asleep stuck. Closes with "N passed, N failed, N skipped".
STALL=SECONDS (30) is how long a stall lasts, and SPOOL_SWEEP how often all is looked at meanwhile (2s).
"""
import atexit, errno, glob, os, shutil, signal, subprocess, sys, time

# The library has this file's name.
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
# How long a call sleeps at the most.
CALL_SECONDS = 60
# Deliveries whose waits are measured, without and with a stall, and how long each is waited for.
DELIVERIES, PATIENCE = 40, 10
# How soon SIGTERM must end the daemon, and a kill.
END_SECONDS = 5
REMOUNTS = 20


def serve(source, mount, asleep, own_inodes):
    """The server: what lies in `source` is seen in `mount`. While there is a file `asleep`, reads sleep; if it says "all", all calls."""

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
        def at(self, path):
            return source + path

        def getattr(self, path, fh=None):
            wait("all")
            of = os.lstat(self.at(path))
            names = "st_mode", "st_ino", "st_nlink", "st_uid", "st_gid", "st_size", "st_atime", "st_mtime", "st_ctime"
            return {name: getattr(of, name) for name in names}

        def readdir(self, path, fh):
            wait("all")
            return [".", ".."] + os.listdir(self.at(path))

        def readlink(self, path):
            return os.readlink(self.at(path))

        def open(self, path, flags):
            return os.open(self.at(path), flags)

        def create(self, path, mode, fi=None):
            return os.open(self.at(path), os.O_RDWR | os.O_CREAT | os.O_EXCL, mode)

        def read(self, path, size, offset, fh):
            wait("read")
            return os.pread(fh, size, offset)

        def write(self, path, octets, offset, fh):
            return os.pwrite(fh, octets, offset)

        def truncate(self, path, length, fh=None):
            os.truncate(self.at(path), length)

        def release(self, path, fh):
            os.close(fh)

        def unlink(self, path):
            os.unlink(self.at(path))

        def rename(self, old, new):
            os.rename(self.at(old), self.at(new))

    library.FUSE(Passthrough(), mount, foreground=True, use_ino=own_inodes)


if sys.argv[1:2] == ["--serve"]:
    serve(*sys.argv[2:5], sys.argv[5] == "True")
    sys.exit()

chosen = sys.argv[2:]
from world import World, close, skip


class Mounted:
    """A folder `mount`, and `source`, which a server shows there."""

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

    def go_on(self):
        if os.path.exists(self.asleep):
            os.remove(self.asleep)
        if self.server.poll() is None:
            os.kill(self.server.pid, signal.SIGCONT)

    def unmount(self):
        subprocess.run(["umount", "-l", self.mount], stderr=subprocess.DEVNULL)

    def down(self):
        """Whatever waits for it waits no more: what is mounted is unmounted and what runs is ended."""
        if self.server and self.server.poll() is None:
            self.go_on()
            self.unmount()
            try:
                self.server.wait(5)
            except subprocess.TimeoutExpired:
                self.server.kill()
                self.server.wait()
        self.unmount()


class Both(World):
    """A spool behind a server, and one on a disk."""

    def __init__(self, sweep=SWEEP, seal="1h"):
        super().__init__(sweep=sweep, seal=seal)
        self.behind = Mounted(self.spool)
        self.local = self.root + "/local"
        for folder in ("new", "cur", "tmp"):
            os.makedirs(f"{self.local}/md/{folder}")
        with open(self.root + "/c.toml", "a") as f:
            f.write(f'[[spool]]\npath="{self.local}"\n')

    def at(self, place, how):
        """Delivers in another place than the spool's."""
        before, self.spool = self.spool, place
        how()
        self.spool = before

    def verdict(self, name, held, note):
        # What is mounted cannot be removed.
        self.behind.down()
        super().verdict(name, held, note)

    def elsewhere(self):
        """As another machine does: the kernel gives no notice of it."""
        self.at(self.behind.source, self.deliver)
        self.at(self.behind.source, self.append)

    def here(self):
        self.deliver()
        self.append()

    def beside(self):
        self.at(self.local, self.deliver)

    def length(self):
        """Octets of records that are written and not sealed."""
        return sum(os.path.getsize(path) for path in glob.glob(self.root + "/out/.open/*.part"))

    def wait_beside(self, patience):
        """Seconds from a delivery on the disk to its record; nothing if it does not come."""
        before, start = self.length(), time.time()
        self.beside()
        while self.length() == before:
            if time.time() - start > patience:
                return None
            time.sleep(0.002)
        return time.time() - start

    def wait_often(self, seconds):
        waits, end = [], time.time() + seconds
        for _ in range(DELIVERIES):
            if time.time() < end:
                waits.append(self.wait_beside(min(PATIENCE, max(1, end - time.time()))))
                time.sleep(max(0, seconds / DELIVERIES - (waits[-1] or 0)))
        return waits

    def threads(self):
        """How its threads stand, by the kernel: D cannot be interrupted."""
        states = []
        for stat in glob.glob(f"/proc/{self.daemon.pid}/task/*/stat"):
            try:
                states.append(open(stat).read().rsplit(")", 1)[1].split()[0])
            except OSError:
                pass
        return "".join(sorted(states)) or "none"

    def ended(self, seconds):
        """Seconds until it has ended, and with what; nothing if it has not."""
        start = time.time()
        try:
            return self.daemon.wait(seconds), time.time() - start
        except subprocess.TimeoutExpired:
            return None


def told(waits):
    """The middle one, the ninth of ten, and how many did not come."""
    came = sorted(wait for wait in waits if wait is not None)
    if not came:
        return None, None, f"none of {len(waits)} within {PATIENCE} s"
    middle, late = came[len(came) // 2], came[len(came) * 9 // 10]
    lost = len(waits) - len(came)
    return middle, late, f"p50 {middle:.3f} s, p90 {late:.3f} s" + (f", {lost} of {len(waits)} not within {PATIENCE} s" if lost else "")


def until_all(world, before=0, seconds=60):
    return world.until(world.n - before, seconds)


def passes():
    """Mail that comes through the kernel, and mail of which it knows nothing: this is found by looking, every 30 s at the latest."""
    for own_inodes in (True, False):
        world = Both(sweep="5m", seal="1s")
        world.behind.up(own_inodes)
        world.start()
        slow = {}
        for name, how in (("here", world.here), ("elsewhere", world.elsewhere)):
            for _ in range(50):
                how()
            slow[name] = until_all(world, seconds=45)
        world.daemon.terminate()
        code = world.daemon.wait()
        world.finish(f"passed through, inodes {'of the disk' if own_inodes else 'of its own'}", code == 0 and None not in slow.values(),
                     "(found after: " + ", ".join(f"{k} {'no time' if v is None else f'{v:.1f} s'}" for k, v in slow.items()) + ")")


def remounts():
    world, waits = Both(seal="1s"), []
    world.behind.up()
    world.start()
    for number in range(REMOUNTS):
        for _ in range(5):
            world.here()
            world.elsewhere()
        waits.append(until_all(world, seconds=20))
        world.behind.down()
        world.elsewhere()
        if number % 4 == 3:
            time.sleep(1.5)
        world.behind.up(own_inodes=number % 2 == 0)
    waits.append(until_all(world, seconds=20))
    world.daemon.terminate()
    code = world.daemon.wait()
    lost = waits.count(None)
    world.finish("remounts", code == 0 and not lost, f"({REMOUNTS} of them, {lost} of {len(waits)} waits longer than 20 s)")


def killed():
    """The server dies: its files are there and cannot be read (ENOTCONN). It is no reason to forget them, nor to end."""
    world, waits, alive = Both(seal="1s"), [], True
    world.behind.up()
    world.start()
    for _ in range(5):
        for _ in range(5):
            world.here()
        waits.append(until_all(world, seconds=20))
        world.behind.server.kill()
        world.behind.server.wait()
        try:
            os.listdir(world.spool)
            alive = False
        except OSError as error:
            alive &= error.errno == errno.ENOTCONN
        for _ in range(5):
            world.elsewhere()
            world.beside()
        time.sleep(3)
        alive &= world.daemon.poll() is None
        world.behind.unmount()
        world.behind.up()
        waits.append(until_all(world, seconds=40))
    world.daemon.terminate()
    code = world.daemon.wait()
    lost = waits.count(None)
    slowest = max((wait for wait in waits if wait is not None), default=0)
    world.finish("server killed", code == 0 and alive and not lost, f"(5 times, {lost} of {len(waits)} waits too long, the longest other one {slowest:.1f} s)")


def busy(*ways):
    """A daemon that has taken ten messages delivered in each of these ways."""
    world = Both()
    world.behind.up()
    world.start()
    for _ in range(10):
        for way in ways:
            way(world)
    until_all(world)
    return world


def stalls(name, begin, lets_go=True):
    """A server that does not answer: the others go on, and the daemon can be ended.

    Unless the kernel `lets_go` of its calls no process that waits for them ends; then it must at least have sealed.
    """
    world = busy(Both.here, Both.elsewhere, Both.beside)
    plain = world.wait_often(DELIVERIES / 4)
    begin(world)
    time.sleep(3)
    stalled = world.wait_often(STALL)
    start = time.time()
    answers = world.status() is not None
    answered = time.time() - start
    stood = world.threads()
    world.behind.go_on()
    caught = until_all(world, seconds=40)
    before, during = told(plain), told(stalled)
    # Of the smallest times the machine's other work makes more.
    goes_on = None not in stalled and during[0] <= 2 * before[0] and during[1] <= 2 * max(before[1], 0.05)
    world.daemon.terminate()
    code = world.daemon.wait()
    world.finish(f"{name}: the other spool", goes_on and answers and code == 0 and caught is not None,
                 f"(undisturbed {before[2]}; meanwhile {during[2]}; status {'in' if answers else 'none within'} {answered:.2f} s; threads {stood}; "
                 f"caught up {'not' if caught is None else f'{caught:.1f} s'} after it)")
    for how in (signal.SIGTERM, signal.SIGKILL):
        end(name, begin, how, lets_go)


def end(name, begin, how, lets_go):
    world = busy(Both.here, Both.beside)
    begin(world)
    time.sleep(3)
    for _ in range(5):
        world.beside()
    time.sleep(1)
    os.kill(world.daemon.pid, how)
    start, said = time.time(), None
    while time.time() - start < 2 * END_SECONDS and world.daemon.poll() is None:
        if said is None and "ended" in world.said().rsplit("watching", 1)[-1]:
            said = time.time() - start
        time.sleep(0.01)
    code, took, stood = world.daemon.poll(), time.time() - start, world.threads()
    if said is None and "ended" in world.said().rsplit("watching", 1)[-1]:
        said = took
    note = f"ended with {code} in {took:.2f} s" if code is not None else f"not ended within {took:.0f} s, threads {stood}"
    if how == signal.SIGTERM:
        note += ", sealed and said so " + (f"in {said:.2f} s" if said is not None else "not at all")
        if code is None:
            world.daemon.kill()
            killed = world.ended(END_SECONDS)
            note += f"; a kill then {'does not end it' if killed is None else f'ends it in {killed[1]:.2f} s'}"
    held = took <= END_SECONDS and code == (0 if how == signal.SIGTERM else -how)
    if not lets_go:
        held = how == signal.SIGKILL or said is not None and said <= END_SECONDS
    world.behind.go_on()
    left = world.ended(CALL_SECONDS + 30)
    if code is None:
        note += f"; when the server goes on {'not either' if left is None else f'after {left[1]:.1f} s with {left[0]}'}"
    world.finish(f"{name}: {signal.Signals(how).name}", held, f"({note})")


def stopped():
    stalls("server stopped", lambda world: world.behind.stop())


def asleep():
    def begin(world):
        world.behind.sleep("read")
        # Something to read.
        world.elsewhere()
    stalls("reads that sleep", begin)


def stuck():
    """Calls that the server has taken and does not answer: the kernel lets nobody out of them, not even to be killed."""
    stalls("calls that sleep", lambda world: world.behind.sleep("all"), lets_go=False)


if __name__ == "__main__":
    lacks = [what for what, there in (
        ("root", os.getuid() == 0), ("/dev/fuse", os.path.exists("/dev/fuse")),
        ("fusermount", shutil.which("fusermount") or shutil.which("fusermount3")),
        (f"fusepy for {sys.executable}", library)) if not there]
    for scene in (passes, remounts, killed, stopped, asleep, stuck):
        if chosen and scene.__name__ not in chosen:
            continue
        if lacks:
            skip(scene.__name__, "needs " + ", ".join(lacks))
        else:
            scene()
    close()
