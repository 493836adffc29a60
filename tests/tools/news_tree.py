#!/usr/bin/env python3
"""Measures the speed and memory of the walk and the scan of a news spool with many small files.

    tests/tools/news_tree.py [PROGRAM] [ARTICLES]      default: 500000 articles in 500 groups, in TMPDIR

Prints a table and "passed" or "FAILED": the URL of every article must be found once, in at most 256 MiB, and 32 MiB more for each
thread. Takes about five minutes and 2 GB of disk.
"""
import os, shutil, subprocess, sys, tempfile, time

program = os.path.realpath(sys.argv[1] if len(sys.argv) > 1 else "target/release/urlspool")
articles = int(sys.argv[2]) if len(sys.argv) > 2 else 500_000
GROUPS, RUNS = 500, 3
root = tempfile.mkdtemp()
failed = False


def run(what, urls, *args):
    """Prints the time of the fastest run and the maximum memory of all runs."""
    global failed
    took, mib = [], 0
    for _ in range(RUNS):
        begun = time.monotonic()
        child = subprocess.Popen([program, "scan", "-q", "-j2", "--format", "urls", "--progress", "never", *args, root],
                                 stdout=subprocess.PIPE)
        lines = child.stdout.read().splitlines()
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        took.append(time.monotonic() - begun)
        mib = max(mib, used.ru_maxrss >> 10)
        ok = len(lines) == len(set(lines)) == urls and child.returncode == 0 and mib <= 256 + 2 * 32
        failed |= not ok
    print(f"{what:<8} | {articles / min(took):>9,.0f} files/s | {min(took):6.2f} s | {mib:>4} MiB{'' if ok else '  FAILED'}", flush=True)


try:
    for group in range(GROUPS):
        folder = f"{root}/alt/test/g{group}"
        os.makedirs(folder)
        for number in range(group, articles, GROUPS):
            with open(f"{folder}/{number}", "w") as file:
                file.write(f"Path: a!b\nFrom: a@b.example\nNewsgroups: alt.test.g{group}\nSubject: article {number}\n"
                           f"Date: 1 Jan 1996 00:00:00 GMT\nMessage-ID: <{number}@x.example>\nLines: 12\n\n"
                           + "some words of no interest at all, to fill the line\n" * 10 + f"see http://n{number}.example/ now\n")
    run("walk", 0, "--include", "*.none")
    run("scan", articles)
finally:
    shutil.rmtree(root)
print("FAILED" if failed else "passed")
sys.exit(failed)
