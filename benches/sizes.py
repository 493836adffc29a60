#!/usr/bin/env python3
"""Measures how the cost of a scan grows with its input, on one core and on two, and of ripgrep.

    benches/sizes.py [--program URLSPOOL] [--rounds N] [--megabytes N]... [--folder FOLDER]
                     [--instructions]

Writes mailboxes of 1, 10, 100 and 1,000 MB. Their messages have about 3 KB and two URLs in the
text, and no two messages are equal. All programs run in turns, each bound to one core or to two.
The table has the least processor time and the least wall time of each program. The measurement
fails if a program does not find exactly the URLs written. `--instructions` counts instructions
with callgrind, on one thread and for inputs of at most 10 MB; other processes do not affect these
counts. Needs ripgrep, and valgrind for `--instructions`."""

import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PATTERN = (
    r'\b(https?|ftp|gopher|news|mailto|telnet|wais|nntp|file|prospero):[^\s<>"]*[^\s<>",.;:!?)\]}]'
)
WORDS = (
    "the of lamp oil wick glass a and in to it was old light when shop reader letter catalogue "
    "found burn brass price"
).split()
# The maximum number of cores that a program is bound to.
CORES = 2


def write_mailbox(path: Path, size: int) -> int:
    """Writes messages until the file has `size` bytes, and returns their number of URLs."""
    rng = random.Random(1738)
    prose = [" ".join(rng.choice(WORDS) for _ in range(11)) for _ in range(1000)]
    written = urls = number = 0
    with open(path, "wb") as file:
        while written < size:
            lines = rng.choices(prose, k=45)
            for line in (9, 30):
                host = f"www{rng.randrange(500)}.lamps.example"
                lines[line] = (
                    f"see http://{host}/{rng.choice(WORDS)}/{number}-{line}.html for the price"
                )
            text = (
                "From ann@list.test Mon Jan  1 00:00:00 1996\n"
                "From: Ann <ann@list.test>\nTo: lamps@list.test\n"
                "Date: Mon, 1 Jan 1996 00:00:00 +0000\n"
                f"Message-ID: <{number}@list.test>\nSubject: lamp {number}\n\n"
                + "\n".join(lines)
                + "\n\n"
            ).encode()
            file.write(text)
            written += len(text)
            urls += 2
            number += 1
    return urls


def commands(program: str, cores: int) -> "dict[str, list[str]]":
    scan = [program, "scan", "-q", f"-j{cores}"]
    return {
        "urlspool": scan,
        "urlspool `--format urls`": [*scan, "--format", "urls"],
        "rg": ["rg", "--no-config", "-uuu", "-aoiNI", f"-j{cores}", PATTERN],
    }


def run(command: "list[str]", out: Path) -> "tuple[float, float, int]":
    """Returns processor seconds, wall seconds and the number of lines written."""
    with open(out, "wb") as sink:
        begun = time.monotonic()
        process = subprocess.Popen(command, stdout=sink, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall = time.monotonic() - begun
    if process.returncode:
        sys.exit(f"{command[0]} ended with {process.returncode}")
    with open(out, "rb") as lines:
        return usage.ru_utime + usage.ru_stime, wall, sum(1 for _ in lines)


def instructions(command: "list[str]", out: Path) -> int:
    """Counts the instructions of a command with callgrind."""
    with open(out, "wb") as sink:
        tool = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *command]
        done = subprocess.run(tool, stdout=sink, stderr=subprocess.PIPE, text=True, check=True)
    counted = re.search(r"Collected : (\d+)", done.stderr)
    if not counted:
        sys.exit("callgrind counted no instructions")
    return int(counted[1])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--program", default="target/dist/urlspool")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--megabytes", type=int, action="append")
    parser.add_argument("--folder", help="folder for the mailboxes and outputs, which are removed")
    parser.add_argument("--instructions", action="store_true")
    options = parser.parse_args()
    for needed in ["rg", "taskset", *(["valgrind"] if options.instructions else [])]:
        if not shutil.which(needed):
            sys.exit(f"{needed} is not installed")
    print(f"load {os.getloadavg()[0]:.0f}", file=sys.stderr)
    print(
        "| input | cores | program | processor time | wall time "
        "| MB for each second of a processor |\n|---|---|---|---|---|---|"
    )
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        path, out = Path(folder) / "input.mbox", Path(folder) / "out"
        counts = []
        for megabytes in options.megabytes or [1, 10, 100, 1000]:
            urls = write_mailbox(path, megabytes * 1_000_000)
            size = path.stat().st_size
            runs = [
                (cores, name, command)
                for cores in range(1, CORES + 1)
                for name, command in commands(options.program, cores).items()
            ]
            least = {}
            for _ in range(options.rounds):
                for cores, name, command in runs:
                    bound = ["taskset", "-c", ",".join(map(str, range(cores))), *command, str(path)]
                    processor, wall, found = run(bound, out)
                    if found != urls:
                        sys.exit(f"{name} found {found} of {urls} URLs in {megabytes} MB")
                    before = least.get((cores, name), (processor, wall))
                    least[cores, name] = min(before[0], processor), min(before[1], wall)
            for (cores, name), (processor, wall) in least.items():
                print(
                    f"| {megabytes} MB | {cores} | {name} | {processor:.3f} s | {wall:.3f} s "
                    f"| {size / 1e6 / processor:.0f} |",
                    flush=True,
                )
            if options.instructions and megabytes <= 10:
                for name, command in commands(options.program, 1).items():
                    counts.append((megabytes, name, instructions([*command, str(path)], out)))
    if counts:
        print("\n| input | program | instructions |\n|---|---|---|")
    for megabytes, name, count in counts:
        print(f"| {megabytes} MB | {name} | {count / 1e6:,.0f} million |")


if __name__ == "__main__":
    main()
