#!/usr/bin/env python3
"""Turns labelled windows of text in which a URL ends a line into the labels that join_calibration.py reads.

usage: window_labels.py FOLDER [--archive PATTERN=NAME]... > LABELS.jsonl

FOLDER holds `broken/ID.txt`, the windows, and `broken-labels.jsonl`: objects with `id`, `class`, `confidence`, `why` and
`expect`, a list of objects with `url`, `also` and `start`, the byte offset of the URL in its window. Windows of class A are
wrappers, and left out, and so are doubtful ones. Class B becomes the sample `stratified`, other classes `class-c`. The archive
of a window is the NAME of the first PATTERN that is found in `why`, otherwise its class. Windows whose URL is not written as it
is meant, because the text is still encoded, are left out: the program decodes them before it reads line breaks.
"""
import argparse
import json
import pathlib


def decode(window):
    return window.decode("utf-8", "surrogateescape")


def without_repeated_hash(url):
    """Labels that were made of a URL and its fragment have a second `#` where the fragment was continued."""
    at = url.rfind("#")
    return url[:at] + url[at + 1:] if url.count("#") == 2 else url


def rows(folder, archives):
    for line in open(folder / "broken-labels.jsonl", encoding="utf-8"):
        label = json.loads(line)
        if label["class"] == "A" or label["confidence"] == "doubtful":
            continue
        window = (folder / "broken" / f"{label['id']}.txt").read_bytes()
        archive = next((name for pattern, name in archives if pattern in label["why"]), f"class-{label['class']}")
        for expected in label["expect"]:
            start, url = expected["start"], without_repeated_hash(expected["url"])
            scheme = url.split("//")[0] + "//"
            if not decode(window[start:]).startswith(scheme):
                before = window.rfind(scheme.encode(), 0, start)
                if window[before + len(scheme):start].strip() or before < 0:
                    url = url[len(scheme):]
                else:
                    # The scheme ends the line before.
                    start = before
            head = decode(window[start:].split()[0]).rstrip("=")
            readings = [url, *expected["also"]]
            if any(reading.startswith(head) or head.startswith(reading.rstrip("/")) for reading in readings):
                sample = "stratified" if label["class"] == "B" else "class-c"
                yield dict(id=label["id"], archive=archive, sample=sample, text=decode(window), start=start, url=url, also=expected["also"])


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folder", type=pathlib.Path)
    options.add_argument("--archive", action="append", default=[], metavar="PATTERN=NAME")
    args = options.parse_args()
    archives = [tuple(row.split("=", 1)) for row in args.archive]
    for row in rows(args.folder, archives):
        print(json.dumps(row))


main()
