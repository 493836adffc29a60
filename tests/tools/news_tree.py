#!/usr/bin/env python3
"""A news tree of many small files: how fast it is walked and scanned, and in how much memory. Prints a table.

    tests/tools/news_tree.py [PROGRAM] [ARTICLES]      ARTICLES (500000) in 500 groups; TMPDIR says where

Closes with "passed" or "FAILED": every article's URL must come out once, in at most 256 MiB + 32 MiB for each thread.
"""
import os, shutil, subprocess, sys, tempfile, time

program = os.path.realpath(sys.argv[1] if len(sys.argv) > 1 else "target/release/urlspool")
articles = int(sys.argv[2]) if len(sys.argv) > 2 else 500_000
GROUPS, RUNS = 500, 3
root = tempfile.mkdtemp()
failed = False


def run(what, urls, *args):
    """The fastest of some runs, the most memory of any."""
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
        held = len(lines) == len(set(lines)) == urls and child.returncode == 0 and mib <= 256 + 2 * 32
        failed |= not held
    print(f"{what:<8} | {articles / min(took):>9,.0f} files/s | {min(took):6.2f} s | {mib:>4} MiB{'' if held else '  FAILED'}", flush=True)


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
