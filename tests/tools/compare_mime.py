#!/usr/bin/env python3
"""Compares the numbers of messages and of parts with those that Python's email package counts.

usage: compare_mime.py BINARY FOLDER

For each file under FOLDER: messages, and parts that have no parts of their own. Prints the differences (at most 80) and a
table of the events by kind and message.
"""
import email, json, mailbox, os, subprocess, sys, tempfile
from collections import Counter


def leaves(message):
    """Parts without parts of their own. Python makes a part of each paragraph of a delivery report, which are fields; and a
    part of a multipart that has none."""
    if message.get_content_type() == "message/delivery-status":
        return 1
    if message.is_multipart():
        return sum(leaves(part) for part in message.get_payload())
    return int(message.get_content_maintype() != "multipart")


def theirs(path):
    octets = open(path, "rb").read()
    start = octets.lstrip(b"\r\n")
    if start.startswith(b"From "):
        box = mailbox.mbox(path)
        return len(box), sum(leaves(message) for message in box)
    return 1, leaves(email.message_from_bytes(octets))


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    binary, folder = sys.argv[1:]
    same, skipped, text, differ, events = 0, Counter(), 0, [], Counter()
    with tempfile.TemporaryDirectory() as scratch:
        summary, event_file = os.path.join(scratch, "s"), os.path.join(scratch, "e")
        for path, _, names in sorted(os.walk(folder)):
            for name in sorted(names):
                file = os.path.join(path, name)
                run = subprocess.run([binary, "scan", "-j1", "--progress", "never", "-o", os.devnull, "--summary", summary, "--events", event_file, file])
                assert run.returncode in (0, 1), (file, run.returncode)
                sums = json.load(open(summary))
                for line in open(event_file):
                    event = json.loads(line)
                    events[event["kind"], event["message"]] += 1
                if sums["files_skipped"]:
                    skipped.update(sums["files_skipped"])
                    continue
                if sums["parts_text"] + sums["parts_other"] == sums["messages"] == 1:
                    ours = (1, 1)
                else:
                    ours = (sums["messages"], sums["parts_text"] + sums["parts_other"])
                try:
                    other = theirs(file)
                except Exception as error:
                    other = repr(error)
                if ours == other:
                    same += 1
                else:
                    differ.append((file, ours, other))
    for row in differ[:80]:
        print(*row)
    for (kind, message), number in sorted(events.items()):
        print(f"{number:6} {kind:10} {message}")
    print(f"{same} files alike, {len(differ)} differ, {sum(skipped.values())} skipped {dict(skipped)}")


main()
