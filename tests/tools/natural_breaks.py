#!/usr/bin/env python3
"""Finds bare URLs that end a line in archives of mail, and adds labels to them: natural line breaks for join_calibration.py.

usage: natural_breaks.py [--labels LABELS.tsv] PATH... > LABELS.jsonl

PATH is an mbox, a message, a plain text, or a folder of them; its last name is the name of the archive. Without --labels each
URL is printed as a line with its text and without a label. With them only the labelled ones are printed, each as
join_calibration.py reads it. LABELS.tsv holds no text of the mail, so that it can be kept where the mail cannot:

    DIGEST <tab> OFFSET <tab> PIECES

DIGEST is the beginning of the SHA-256 of the decoded text of a part (UTF-8), OFFSET that of the URL in this text, and PIECES
the ranges of bytes that the URL consists of, counted from OFFSET, such as `0-68 71-83`; one range is a URL that its line ends.
A URL that occurs again with the same next line, as in quoted mail, is printed once for each archive.
"""
import argparse
import email
import email.policy
import hashlib
import json
import mailbox
import os
import re
import sys

# A bare URL that ends its line, before a line that is not blank; a wrapper is none.
AT_LINE_END = re.compile(rb"(?<![<\w:+.-])(?:https?|ftp|gopher|git|ssh|telnet|svn|rsync)://[^\s<>\"`]*(?=[ \t]*\r?\n[ \t]*[^\s])", re.I)
WRAPPER = re.compile(rb"<\s*URL:\s*$", re.I)
# Lines before and after a URL: the program looks at twenty on each side.
LINES = 24
DIGEST_DIGITS = 16


def messages(path):
    """The messages of a file: those of an mbox, or the whole file."""
    with open(path, "rb") as file:
        is_mbox = file.read(5) == b"From "
        rest = file.read() if not is_mbox else b""
    if is_mbox:
        box = mailbox.mbox(path, create=False)
        for key in box.iterkeys():
            yield box.get_bytes(key)
    else:
        with open(path, "rb") as file:
            yield file.read()


def utf8(text, charset):
    """`text` in UTF-8, if it is not already."""
    for name in ("utf-8", charset):
        try:
            return text.decode(name).encode()
        except (LookupError, UnicodeError):
            pass
    return text


def texts(raw):
    """The decoded plain texts of a message, or the whole if it is none."""
    if not re.match(rb"(?:[A-Za-z][A-Za-z0-9-]*:[^\n]*\n(?:[ \t][^\n]*\n)*){3}", raw):
        yield utf8(raw, "iso8859-1")
        return
    for part in email.message_from_bytes(raw, policy=email.policy.compat32).walk():
        if part.get_content_type() != "text/plain":
            continue
        yield utf8(part.get_payload(decode=True) or b"", part.get_content_charset() or "iso8859-1")


def window(text, start):
    """The offsets of the lines around `start`."""
    first = start
    for _ in range(LINES):
        first = text.rfind(b"\n", 0, first)
        if first < 0:
            break
    last = start
    for _ in range(LINES):
        last = text.find(b"\n", last + 1)
        if last < 0:
            return first + 1, len(text)
    return first + 1, last + 1


def files(path):
    if not os.path.isdir(path):
        yield path
    for folder, folders, names in os.walk(path):
        folders.sort()
        for name in sorted(names):
            yield os.path.join(folder, name)


def breaks(path):
    """The URLs of an archive: digest, text and offset of each."""
    seen = set()
    for name in files(path):
        for raw in messages(name):
            for text in texts(raw):
                digest = None
                for match in AT_LINE_END.finditer(text):
                    if WRAPPER.search(text, max(0, match.start() - 9), match.start()):
                        continue
                    rest = text[match.end():].split(b"\n", 2)[1]
                    key = match.group(), rest.strip(b"> |\t\r")
                    if key in seen:
                        continue
                    seen.add(key)
                    digest = digest or hashlib.sha256(text).hexdigest()[:DIGEST_DIGITS]
                    yield digest, text, match.start()


def read_labels(path):
    with open(path, encoding="ascii") as lines:
        rows = [line.split("\t") for line in lines if not line.startswith("#")]
    return {(digest, int(offset)): [tuple(map(int, piece.split("-"))) for piece in pieces.split()] for digest, offset, pieces in rows}


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("paths", nargs="+")
    options.add_argument("--labels")
    args = options.parse_args()
    labels = read_labels(args.labels) if args.labels else None
    for path in args.paths:
        archive = os.path.basename(os.path.normpath(path))
        for digest, text, start in breaks(path):
            if labels is not None and (digest, start) not in labels:
                continue
            first, last = window(text, start)
            row = dict(id=f"{digest}:{start}", archive=archive, sample="natural", text=text[first:last].decode("utf-8", "surrogateescape"), start=start - first)
            if labels is not None:
                url = b"".join(text[start + a:start + b] for a, b in labels[digest, start])
                row["url"] = url.decode("utf-8", "surrogateescape")
            print(json.dumps(row))


main()
