#!/usr/bin/env python3
"""Runs the daemon with misbehaving disks, system calls and clocks: disk_faults.py [PROGRAM]"""
import contextlib, os, re, shutil, signal, subprocess, tempfile, time

from world import World, finish, report, run, skip


def can(name, *programs):
    """Returns True if the programs for a fault are installed. Otherwise reports it as skipped."""
    missing = [p for p in programs if not shutil.which(p)] + (["root"] if os.getuid() else [])
    if missing:
        skip(name, "needs " + ", ".join(missing))
    return not missing


@contextlib.contextmanager
def mounted(path, *command):
    """Mounts a file system on a folder during the context. Yields False if that fails."""
    os.makedirs(path, exist_ok=True)
    done = run("mount", *command, path)
    try:
        yield done.returncode == 0
    finally:
        if os.path.ismount(path):
            run("umount", path)


def move_to(world, place, key):
    config = open(world.root + "/c.toml").read()
    open(world.root + "/c.toml",
         "w").write(config.replace(f'dir="{world.root}/{key}"', f'dir="{place}/{key}"'))
    os.symlink(f"{place}/{key}", f"{world.root}/{key}")


def traced(*inject):
    return ["strace", "-f", "-qq", "-o", "/dev/null", *inject]


def can_trace(name):
    may_trace = can(name, "strace") and run(*traced("true")).returncode == 0
    return may_trace or skip(name, "strace may not trace")


def fill(folder, leave):
    free = os.statvfs(folder)
    with open(folder + "/filler", "wb") as f:
        f.write(bytes(max(0, free.f_bavail * free.f_frsize - leave)))


def no_space_reported_by_fsync(key):
    """A sparse image on a disk that is too small: write succeeds, and fsync reports a full disk."""
    name = f"no space, reported by fsync ({key})"
    if not can(name, "mkfs.ext4", "mount"):
        return
    host, disk = tempfile.mkdtemp(), tempfile.mkdtemp()
    with mounted(host, "-t", "tmpfs", "-o", "size=14m", "none") as small:
        run("truncate", "-s", "200M", host + "/image")
        made = run("mkfs.ext4", "-q", "-E", "lazy_itable_init=1", "-J", "size=4", host + "/image")
        if not small or made.returncode:
            return skip(name, "no tmpfs or ext4: " + made.stderr)
        with mounted(disk, "-o", "loop", host + "/image") as image:
            if not image:
                return skip(name, "no loop device")
            world = World(seal="1h")
            move_to(world, disk, key)
            world.start()
            if key == "state":
                fill(host, 256 << 10)
            for _ in range(25000):
                world.deliver()
            end = time.time() + 60
            while (time.time() < end and world.daemon.poll() is None
                   and '"paused"' not in str(world.status()).replace("'", '"')):
                time.sleep(0.2)
            status, code = world.status(), world.daemon.poll()
            outcome = f"ended with {code}" if code is not None else status["state"]
            reasons = re.findall(r"(No space left on device|Input/output error|SQLite error "
                                 r"code [0-9]+)", world.log_text())
            world.kill()
            run("mount", "-o", "remount,size=400m", host)
            run("umount", disk)
            run("e2fsck", "-fp", host + "/image")
            run("mount", "-o", "loop", host + "/image", disk)
            last = world.log_text().strip().splitlines()[-1]
            ok = (code == 74 or outcome == "paused") and bool(reasons)
            world.finish(name, ok, f"({outcome}: {last})")


@contextlib.contextmanager
def preloaded(mode):
    """A world whose daemon runs with the wrong system calls of preload.c."""
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.dirname(os.path.realpath(__file__)) + "/preload.c"
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", folder + "/preload.so",
                        source, "-ldl"], check=True)
        yield World(env={"LD_PRELOAD": folder + "/preload.so", "URLSPOOL_PRELOAD": mode})


def wrong_calls(mode):
    name = {"short": "short reads and writes", "interrupted": "EINTR everywhere",
            "clock": "clock that jumps by years"}[mode]
    if not can(name, "cc"):
        return
    with preloaded(mode) as world:
        for kill in range(5):
            world.start()
            for _ in range(200):
                world.deliver()
                world.append()
            if kill % 2:
                world.kill()
            else:
                took = world.wait_for(200, 20)
                world.daemon.send_signal(signal.SIGTERM)
                if world.daemon.wait() != 0 or took is None:
                    return report(name, False, world.log_text())
        world.finish(name)


def interrupted_syncs(runs=10):
    """No local disk of Linux does this. The daemon repeats syncs of the output. For SQLite it is an
    error, and the run ends with 74."""
    name = "EINTR from syncs"
    if not can(name, "cc"):
        return
    with preloaded("syncs") as world:
        codes = []
        for _ in range(runs):
            world.spawn()
            for _ in range(50):
                world.deliver()
                world.append()
            time.sleep(2)
            if world.daemon.poll() is None:
                world.daemon.terminate()
            codes.append(world.daemon.wait())
        world.finish(name, set(codes) <= {0, 74}, f"(the runs ended with {codes})")


def read_only():
    for key in ("out", "state"):
        name, place, image = (f"read-only file system ({key})",
                              tempfile.mkdtemp(), tempfile.NamedTemporaryFile())
        if not can(name, "mkfs.ext4", "mount"):
            return
        image.truncate(64 << 20)
        run("mkfs.ext4", "-q", image.name)
        with mounted(place, "-o", "loop,errors=remount-ro", image.name) as there:
            device = os.path.basename(run("findmnt", "-no", "SOURCE", place).stdout.strip())
            trigger = f"/sys/fs/ext4/{device}/trigger_fs_error"
            if not there or not os.path.exists(trigger):
                return skip(name, "there is no loop device, or the kernel cannot trigger an error")
            world = World(seal="1h")
            move_to(world, place, key)
            world.start()
            world.deliver()
            world.wait_for(1, 10)
            open(trigger, "w").write("urlspool")
            world.deliver()
            start = time.time()
            code = world.daemon.wait(30)
            took, last = time.time() - start, world.log_text().strip().splitlines()[-1]
            run("umount", place)
            run("e2fsck", "-fy", image.name)
            run("mount", "-o", "loop", image.name, place)
            named = place in last and bool(re.search("Read-only|readonly", last))
            world.finish(name, code == 74 and took <= 2 and named,
                         f"(ended with {code} after {took:.1f} s: {last})")


def little_memory():
    """With too little memory, the daemon either dies or succeeds, but never writes wrong output."""
    groups = "/sys/fs/cgroup/memory"
    for limit in (8, 16, 24, 64):
        for kind in ("cgroup", "prlimit"):
            name, group = f"{limit} MiB of memory by {kind}", f"{groups}/urlspool-{os.getpid()}"
            # The address space is larger than the memory: it includes pages of SQLite and the
            # program, and a stack per thread.
            size = str((limit + 40) << 20)
            prefix = (["prlimit", "--as=" + size] if kind == "prlimit"
                      else ["sh", "-c", f'echo $$ >{group}/tasks; exec "$@"', "sh"])
            if kind == "cgroup":
                try:
                    os.mkdir(group)
                    open(group + "/memory.limit_in_bytes", "w").write(str(limit << 20))
                except OSError as error:
                    skip(name, f"there is no memory cgroup (v1): {error}")
                    continue
            world = World(prefix=prefix)
            for _ in range(3000):
                world.deliver()
            for _ in range(3):
                with open(f"{world.spool}/md/new/{world.n + 1}.M1.host", "w") as f:
                    f.write(world.text() + "no URL in here\n" * (1 << 20))
            world.spawn("--once")
            try:
                code = world.daemon.wait(120)
            except subprocess.TimeoutExpired:
                code = "a kill, because it did not end"
                world.kill()
            if kind == "cgroup":
                time.sleep(0.2)
                os.rmdir(group)
            world.finish(name, note=f"(with the limit it ended with {code})")


def slow_disk(seconds=40):
    name = "slow disk"
    if not can_trace(name):
        return
    world = World(prefix=traced("-e", "trace=fdatasync",
                                "-e", "inject=fdatasync:delay_enter=2000000")).start()
    pid = run("pgrep", "-P", str(world.daemon.pid)).stdout.split()[0]
    rss = []
    end = time.time() + seconds
    while time.time() < end:
        for _ in range(100):
            world.deliver()
        rss.append(int(re.search(r"VmRSS:\s+(\d+)", open(f"/proc/{pid}/status").read())[1]))
        time.sleep(0.2)
    # Buffers reach their size in the first third. After that, memory must not grow.
    before, after = max(rss[len(rss) // 3:2 * len(rss) // 3]), max(rss[2 * len(rss) // 3:])
    os.kill(int(pid), signal.SIGTERM)
    world.daemon.wait()
    world.finish(name, after <= before * 1.1,
                 f"(memory {before} KiB, then {after} KiB, at {world.n / seconds:.0f} messages/s)")


def refused(error, where, call, files, when):
    """Lets system calls on files of the output or the state fail for a while.

    Returns the world, the seconds until everything was read (or None), the number of pauses, the
    exit code (or None), True if the log names one of the files, and the log line about it.
    """
    world = World(seal="1h")
    paths = [word for file in files for word in ("-P", f"{world.root}/{file}")]
    world.prefix = traced(*paths, "-e", f"trace={call}",
                          "-e", f"inject={call}:error={error}:when={when}")
    world.spawn()
    for _ in range(500):
        world.deliver()
        world.append()
    took = world.wait_for(1000, 30)
    status, code = world.status(), world.daemon.poll()
    pauses, lines = (status["counts"]["pauses"] if status else 0,
                     world.log_text().strip().splitlines())
    world.kill()
    message = next((line for line in lines if "paused" in line), lines[-1])
    named = any(f"{world.root}/{file}" in message for file in files)
    return world, took, pauses, code, named, message


def quota():
    """A reached quota pauses the daemon. A probe decides, as SQLite reports any error alike."""
    state = ["state/state.db", "state/state.db-wal", "state/state.probe"]
    for where, call, files, when in (("output", "write", ["out/.open/0000000001.part"], "1..2"),
                                     ("state", "pwrite64", state, "60..61")):
        name = f"EDQUOT in the {where}"
        if not can_trace(name):
            return
        world, took, pauses, code, named, message = refused("EDQUOT", where, call, files, when)
        world.finish(name, bool(took and pauses) and named,
                     f"({pauses} pauses, ended with {code}: {message})")


def device():
    """Errors other than a lack of space end the daemon, and the next start recovers."""
    for call, error, when in (("pwrite64", "EIO", "60..64"),
                              ("pwrite64", "EROFS", "60..64"), ("fsync,fdatasync", "EIO", "5+")):
        name = f"{error} by {call} in the state"
        if not can_trace(name):
            return
        world, _, pauses, code, named, message = refused(
            error, "state", call, ["state/state.db", "state/state.db-wal"], when)
        world.finish(name, code == 74 and not pauses and named, f"(ended with {code}: {message})")


def stale(error):
    """One file cannot be read for a while. The others are read at once, and that file later."""
    name = f"{error} on one file"
    if not can_trace(name):
        return
    world = World(settle="50ms")
    bad = f"{world.spool}/md/new/1.M1.host"
    world.deliver()
    world.prefix = traced("-P", bad, "-e", "trace=read",
                          "-e", f"inject=read:error={error}:when=1..3")
    start = time.time()
    world.start()
    for _ in range(200):
        world.deliver()
    others = world.wait_for(200, 20)
    end = time.time() + 2
    while (failing := world.status()["failing"]) != 1 and time.time() < end:
        time.sleep(0.05)
    took = world.wait_for(201, 60)
    subprocess.run(["pkill", "-TERM", "-P", str(world.daemon.pid)])
    world.daemon.wait()
    world.finish(name, failing == 1 and others and took, f"(the others within {others or 0:.1f} s, "
        f"this file after {time.time() - start:.1f} s)")


if __name__ == "__main__":
    for key in ("out", "state"):
        no_space_reported_by_fsync(key)
    for mode in ("short", "interrupted", "clock"):
        wrong_calls(mode)
    interrupted_syncs()
    read_only()
    little_memory()
    slow_disk()
    quota()
    device()
    for error in ("ESTALE", "ETIMEDOUT", "EIO"):
        stale(error)
    finish()
