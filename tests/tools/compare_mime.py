#!/usr/bin/env python3
"""Compares the numbers of messages and parts with those that Python's email package counts.

    tests/tools/compare_mime.py PROGRAM FOLDER

For each file in FOLDER it counts messages, and parts without parts of their own. Prints at most 80 differences, and a table of the
events by kind and message. The result is for a reader: the exit code is 0 whatever was found, and 77 if no file was compared.
"""
import email, json, mailbox, os, subprocess, sys, tempfile
from collections import Counter


def leaves(message):
    """Number of parts without parts of their own.

    Python counts each paragraph of a delivery report as a part, although it holds fields, and a multipart without parts as one.
    """
    if message.get_content_type() == "message/delivery-status":
        return 1
    if message.is_multipart():
        return sum(leaves(part) for part in message.get_payload())
    return int(message.get_content_maintype() != "multipart")


def count_with_python(path):
    data = open(path, "rb").read()
    start = data.lstrip(b"\r\n")
    if start.startswith(b"From "):
        box = mailbox.mbox(path)
        return len(box), sum(leaves(message) for message in box)
    return 1, leaves(email.message_from_bytes(data))


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    program, folder = sys.argv[1:]
    same, skipped, differ, events = 0, Counter(), [], Counter()
    with tempfile.TemporaryDirectory() as scratch:
        summary, event_file = os.path.join(scratch, "s"), os.path.join(scratch, "e")
        for path, _, names in sorted(os.walk(folder)):
            for name in sorted(names):
                file = os.path.join(path, name)
                run = subprocess.run([program, "scan", "-j1", "--progress", "never", "-o", os.devnull, "--summary", summary, "--events", event_file, file])
                assert run.returncode in (0, 1), (file, run.returncode)
                counts = json.load(open(summary))
                for line in open(event_file):
                    event = json.loads(line)
                    events[event["kind"], event["message"]] += 1
                if counts["files_skipped"]:
                    skipped.update(counts["files_skipped"])
                    continue
                if counts["parts_text"] + counts["parts_other"] == counts["messages"] == 1:
                    ours = (1, 1)
                else:
                    ours = (counts["messages"], counts["parts_text"] + counts["parts_other"])
                try:
                    other = count_with_python(file)
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
    print(f"{same} files equal, {len(differ)} different, {sum(skipped.values())} skipped {dict(skipped)}")
    if not same and not differ:
        print("SKIPPED: no file could be compared")
        sys.exit(77)


main()
