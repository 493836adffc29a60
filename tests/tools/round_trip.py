#!/usr/bin/env python3
"""Decodes the raw bytes of every record with Python, and checks that they contain the characters of the URL, in order.

    tests/tools/round_trip.py RECORDS.jsonl

Reads the bytes from `source.start` to `source.end` of each record's file (the paths are those of the records, so run it in the
folder in which the scan ran). Undoes the transfer encoding and charset of the part, and character references of HTML attributes, with
Python's own decoders. Prints the number of records that pass, and at most 40 that fail. The exit code is 1 if any fails, 77 if there
are no records.
"""
import base64, gzip, html, json, quopri, re, sys
from collections import Counter
from email.header import decode_header, make_header


def contains_in_order(text, want):
    """Returns True if `text` contains the characters of `want` in this order."""
    at = 0
    for c in want:
        at = text.find(c, at) + 1
        if at == 0:
            return False
    return True


def base64_text(raw):
    """The bytes of base64 digits that may begin anywhere in a group of four digits: one result for each of the four phases."""
    digits = re.sub(rb"[^A-Za-z0-9+/]", b"", raw)
    for phase in range(4):
        padded = b"A" * phase + digits
        yield base64.b64decode(padded + b"A" * (-len(padded) % 4))


def words(raw):
    """The text of bytes that may begin inside one encoded word (RFC 2047) and end inside another."""
    pieces = re.split(rb"\?=\s+=\?[^?]*\?[bBqQ]\?", raw)
    yield quopri.decodestring(b"".join(pieces), header=True).decode("utf-8", "replace")
    for first in base64_text(pieces[0]):
        rest = [next(base64_text(piece)) for piece in pieces[1:]]
        yield b"".join([first, *rest]).decode("utf-8", "replace")


def readings(record, raw):
    part = record["part"] or {}
    region = record["region"]
    if region.startswith("header:"):
        yield raw.decode("utf-8", "replace")
        yield raw.decode("latin-1")
        yield from words(raw)
        try:
            yield str(make_header(decode_header(raw.decode("ascii", "replace"))))
        except Exception:
            pass
        return
    # Python's decoder does not know lines that end with CR alone.
    raw = re.sub(rb"\r(?!\n)", b"\n", raw)
    encoding = part.get("encoding", "7bit")
    if encoding == "quoted-printable":
        decoded = [quopri.decodestring(raw)]
    elif encoding == "base64":
        decoded = list(base64_text(raw))
    else:
        decoded = [raw]
    for charset in [part.get("charset"), "utf-8", "windows-1252", "latin-1", "utf-16-le", "utf-16-be"]:
        for data in decoded:
            try:
                yield data.decode(charset, "replace")
            except (LookupError, TypeError):
                pass


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    counts, shown = Counter(), 0
    files = {}
    for line in open(sys.argv[1], encoding="utf-8"):
        record = json.loads(line)
        source = record["source"]
        path = base64.b64decode(source["path_b64"]) if "path_b64" in source else source["path"]
        if path not in files:
            files = {path: open(path, "rb")}
            if files[path].read(2) == b"\x1f\x8b":
                files = {path: gzip.open(path, "rb")}
        files[path].seek(source["start"])
        raw = files[path].read(source["end"] - source["start"])
        want = re.sub(r"\s", "", record["raw"])
        ok = any(contains_in_order(re.sub(r"\s", "", t), want) or contains_in_order(re.sub(r"\s", "", html.unescape(t)), want) for t in readings(record, raw))
        counts["exact" if source["exact"] else "inexact", "passed" if ok else "FAILED"] += 1
        if not ok and shown < 40:
            shown += 1
            print(source["path"], source["start"], source["end"], record["region"], (record["part"] or {}).get("encoding"), repr(record["raw"][:80]), repr(raw[:120]))
    for (exact, result), n in sorted(counts.items()):
        print(f"{exact:8} {result}: {n}")
    failed = sum(n for (_, result), n in counts.items() if result == "FAILED")
    print(f"{sum(counts.values()) - failed} passed, {failed} failed")
    if not counts:
        print("SKIPPED: there are no records")
        sys.exit(77)
    sys.exit(failed > 0)


main()
