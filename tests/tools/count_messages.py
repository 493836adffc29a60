#!/usr/bin/env python3
"""Counts the messages of mboxes in three ways and lists the differences.

    tests/tools/count_messages.py [--urlspool PROGRAM] PATH...

`urlspool` is the number in the summary of a scan. `python` is that of Python's mailbox module, for which every line that begins with
`From ` is a separator. `strict` is that of a rule in this script, which does not share code with the program: the start of the file
or a blank line, then `From `, then a header field; or two lines of Pipermail with the same sender. Each `From ` line that only the
mailbox module takes for a separator is listed with the line after it. The result is for a reader; the exit code is 77 if there is no
mbox.
"""

import argparse
import json
import mailbox
import os
import re
import subprocess
import sys
import tempfile

FIELD = re.compile(rb"[A-Za-z][A-Za-z0-9._-]*[ \t]*:(?:[ \t\r\n]|$)|[A-Za-z][A-Za-z0-9._]*-[A-Za-z0-9._-]*:(?!//)|>From |"
                   rb"(?i:from|to|date|subject|path|received|newsgroups|sender|status):")
# Pipermail writes no blank line after attachments that it removed.
PIPERMAIL = re.compile(rb"From (\S+ at(?: \S+)?)  .*\d\d:\d\d")


def strict_starts(text):
    """Offsets of separators, and of other `From ` lines with the reason why they are not separators."""
    starts, others = [], []
    lines = text.splitlines(keepends=True)
    offset = 0
    for number, line in enumerate(lines):
        if line.startswith(b"From "):
            blank = number == 0 or not lines[number - 1].strip(b"\r\n")
            field = number + 1 < len(lines) and FIELD.match(lines[number + 1])
            pipermail = PIPERMAIL.match(line)
            following = lines[number + 1] if number + 1 < len(lines) else b""
            if (blank and field) or (pipermail and following.startswith(b"From: " + pipermail[1])):
                starts.append(offset)
            else:
                others.append((offset, "no blank line before it" if field else "no header field after it", line, following))
        offset += len(line)
    return starts, others


def counted_by_program(program, path):
    with tempfile.TemporaryDirectory() as folder:
        summary = os.path.join(folder, "sums.json")
        subprocess.run([program, "scan", "-q", "-o", os.devnull, "--events", os.devnull, "--summary", summary, path],
                       check=False)
        with open(summary, encoding="utf-8") as sums:
            return json.load(sums)["messages"]


def mboxes(paths):
    for root in paths:
        names = [root] if os.path.isfile(root) else sorted(
            os.path.join(folder, name) for folder, _, files in os.walk(root) for name in files)
        for name in names:
            with open(name, "rb") as file:
                if file.read(5) == b"From ":
                    yield name


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--urlspool", default="target/release/urlspool")
    parser.add_argument("--list", type=int, default=5, help="maximum number of differences to show for each file")
    parser.add_argument("paths", nargs="+")
    args = parser.parse_args()
    sums = {"files": 0, "urlspool": 0, "python": 0, "strict": 0}
    reasons = {}
    for path in mboxes(args.paths):
        with open(path, "rb") as file:
            starts, others = strict_starts(file.read())
        program = counted_by_program(args.urlspool, path)
        box = mailbox.mbox(path, create=False)
        python = len(box)
        box.close()
        for name, number in (("files", 1), ("urlspool", program), ("python", python), ("strict", len(starts))):
            sums[name] += number
        if not program == python == len(starts):
            print(f"{path}: urlspool {program}, python {python}, strict {len(starts)}")
        for index, (offset, why, line, following) in enumerate(others):
            reasons[why] = reasons.get(why, 0) + 1
            if index < args.list:
                print(f"    {offset}: {why}: {line[:60]!r} {following[:60]!r}")
    print(json.dumps({**sums, "from_lines_that_are_not_separators": reasons}))
    if not sums["files"]:
        print("SKIPPED: no mbox was found")
        sys.exit(77)


if __name__ == "__main__":
    main()
