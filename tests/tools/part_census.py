#!/usr/bin/env python3
"""Counts the MIME parts of archives by type, by the extension of their name, and by content.

    tests/tools/part_census.py PATH...

Prints a table in Markdown: for each media type (and, for generic types, each extension) the parts,
their bytes, the parts whose decoded bytes contain a location (`://`), and the parts that look like
text. Multiparts are not counted; messages in parts are, and so are their parts.
"""

import collections, email, email.policy, os, re, sys

SEPARATOR = re.compile(rb"(?:\A|(?<=\n))From [^\n]*\n(?=[A-Za-z][A-Za-z0-9-]*:|>From )")
HEADER = re.compile(rb"[A-Za-z][A-Za-z0-9-]*:[ \t\r\n]")
CODES = ("application/octet-stream", "application/x-octet-stream",
         "application/binary", "application/unknown",
         "application/download", "application/x-download", "application/force-download", "")


def files(paths):
    for path in paths:
        if os.path.isdir(path):
            for folder, folders, names in os.walk(path):
                folders.sort()
                yield from (os.path.join(folder, name) for name in sorted(names))
        else:
            yield path


def messages(data):
    if SEPARATOR.match(data):
        starts = [match.start() for match in SEPARATOR.finditer(data)
                  if match.start() == 0
                  or data[max(0, match.start() - 3):match.start()].endswith((b"\n\n", b"\n\r\n"))
                  or re.search(rb" at .*\d\d:\d\d", match.group())]
        for start, end in zip(starts, starts[1:] + [len(data)]):
            yield data[data.index(b"\n", start) + 1:end]
    elif HEADER.match(data):
        yield data


def is_text(data):
    start = data[:8192]
    odd = sum(byte < 32 and byte not in b"\t\n\r\x0c\x1b\x08" for byte in start)
    return bool(start) and odd * 10 <= len(start) and b"\0\0" not in start


def leaves(message):
    """The parts without parts, and the messages in parts. Uses a list instead of recursion."""
    open_parts = [message]
    while open_parts:
        part = open_parts.pop()
        if (part is not message and part.get_content_maintype() == "message"
            or not part.is_multipart()):
            yield part
        if part.is_multipart():
            open_parts.extend(reversed(part.get_payload()))


def extension(name):
    base, dot, end = name.rpartition(".")
    return "." + end.lower().strip() if dot and base and len(end) <= 8 else "(no extension)"


def main():
    rows = collections.defaultdict(lambda: [0, 0, 0, 0])
    count = 0
    for path in files(sys.argv[1:]):
        with open(path, "rb") as opened:
            data = opened.read()
        for raw in messages(data):
            count += 1
            try:
                message = email.message_from_bytes(raw, policy=email.policy.compat32)
                parts = list(leaves(message))
            except Exception as error:  # The package fails on some damaged mail.
                rows[(f"(not parsed: {type(error).__name__})", "")][0] += 1
                continue
            for part in parts:
                kind = part.get_content_type()
                try:
                    name = part.get_filename() or ""
                    body = part.get_payload(decode=True) or b""
                except Exception:
                    name, body = "", b""
                shown = extension(str(name)) if kind in CODES or kind == "application/xml" else ""
                row = rows[(kind, shown)]
                row[0] += 1
                row[1] += len(body)
                row[2] += b"://" in body
                row[3] += is_text(body)
    print(f"{count} messages\n")
    print("| type | name | parts | bytes | with `://` | text by content |\n"
          "|---|---|---:|---:|---:|---:|")
    for (kind, shown), (parts, size, located, text) in sorted(rows.items(),
                                                              key=lambda row: (-row[1][0], row[0])):
        print(f"| `{kind}` | {shown} | {parts:,} | {size:,} | {located:,} | {text:,} |")


if __name__ == "__main__":
    main()
