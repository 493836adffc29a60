#!/usr/bin/env python3
"""Decodes the raw octets behind every record again, and looks for the URL's characters in them, in order.

usage: round_trip.py RECORDS.jsonl

Reads the octets from `source.start` to `source.end` of each record's file (paths as in the records, so run it from
where the scan ran), undoes the part's transfer encoding and charset with Python's own codecs, and an HTML attribute's
entities, and prints how many records hold and each that does not (at most 40). Ends with status 1 if any does not.
"""
import base64, gzip, html, json, quopri, re, sys
from collections import Counter
from email.header import decode_header, make_header


def spelled(text, want):
    """Whether the characters of `want` stand in `text` in this order."""
    at = 0
    for c in want:
        at = text.find(c, at) + 1
        if at == 0:
            return False
    return True


def base64_text(raw):
    """The octets of base64 digits that may begin and end anywhere within a group of four: all four phases."""
    digits = re.sub(rb"[^A-Za-z0-9+/]", b"", raw)
    for phase in range(4):
        padded = b"A" * phase + digits
        yield base64.b64decode(padded + b"A" * (-len(padded) % 4))


def words(raw):
    """Octets that may begin within one encoded word of RFC 2047 and end within another."""
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
    # Python's codec knows no line that ends in CR alone.
    raw = re.sub(rb"\r(?!\n)", b"\n", raw)
    encoding = part.get("encoding", "7bit")
    if encoding == "quoted-printable":
        octets = [quopri.decodestring(raw)]
    elif encoding == "base64":
        octets = list(base64_text(raw))
    else:
        octets = [raw]
    for charset in [part.get("charset"), "utf-8", "windows-1252", "latin-1", "utf-16-le", "utf-16-be"]:
        for o in octets:
            try:
                yield o.decode(charset, "replace")
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
        holds = any(spelled(re.sub(r"\s", "", t), want) or spelled(re.sub(r"\s", "", html.unescape(t)), want) for t in readings(record, raw))
        counts["exact" if source["exact"] else "inexact", "holds" if holds else "FAILS"] += 1
        if not holds and shown < 40:
            shown += 1
            print(source["path"], source["start"], source["end"], record["region"], (record["part"] or {}).get("encoding"), repr(record["raw"][:80]), repr(raw[:120]))
    for (exact, holds), n in sorted(counts.items()):
        print(f"{exact:8} {holds}: {n}")
    failed = sum(n for (_, holds), n in counts.items() if holds == "FAILS")
    print(f"{sum(counts.values()) - failed} passed, {failed} failed")
    sys.exit(failed > 0)


main()
