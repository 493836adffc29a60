#!/usr/bin/env python3
"""Kills the daemon before each of its system calls in turn, and lets each of them fail once, while
it reads a small spool. Then a run without a fault must end with each URL written once.

    tests/tools/strace_kill.py [PROGRAM] [CALL...]

Each try with ENOSPC takes the seconds of a pause. HOW="signal=SIGKILL" only kills.
"""
import os, shutil, sys

from world import World, finish, report, results, run, skip

CALLS = "write pwrite64 fdatasync fsync rename renameat2 ftruncate openat unlink fallocate"
HOW = os.environ.get("HOW", "signal=SIGKILL error=EIO error=ENOSPC")


def attempt(world, call, how, number):
    """Injects a fault into a call. Returns `False` if there were fewer calls."""
    for folder in ("out", "state"):
        shutil.rmtree(f"{world.root}/{folder}", ignore_errors=True)
    trace, name = world.root + "/trace", f"{call}:{how} number {number}"
    world.prefix = ["strace", "-f", "-qq", "-o", trace, "-e", f"trace={call}",
                    "-e", f"inject={call}:{how}:when={number}"]
    code = world.spawn("--once").daemon.wait()
    with open(trace, errors="replace") as file:
        before, injected, after = file.read().partition("INJECTED")
    if code == 0 if how == "signal=SIGKILL" else not injected:
        return False
    # A descriptor whose sync failed must not be synced again.
    if (call, how) == ("fdatasync", "error=EIO") and "fdatasync(" in after:
        report(name, False, "synced again")
    code, found = world.once(), world.written_urls()
    if code == 0 and len(found) == sum(found.values()) == world.n:
        results["passed"] += 1
    else:
        report(name, False, f"exit code {code}, {sum(found.values())} records of {len(found)} URLs")
    return True


def main():
    if not shutil.which("strace") or run("strace", "-qq", "-o", "/dev/null", "true").returncode:
        skip("kills at system calls", "strace is not installed, or may not trace")
        finish()
    world = World(settle="10ms", output="seal_bytes=4000\n", state='commit_interval="1ms"\n')
    for _ in range(40):
        world.deliver()
        world.append()
    for call in sys.argv[2:] or CALLS.split():
        for how in HOW.split():
            if call == "openat" and how != "signal=SIGKILL":
                continue
            # The first calls load the program.
            number = 1
            while number <= 400 and attempt(world, call, how, number):
                number += 1
            print(f"{call} {how}: {number - 1} faults", flush=True)
    shutil.rmtree(world.root)
    finish()


if __name__ == "__main__":
    main()
