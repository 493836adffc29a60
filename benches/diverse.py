#!/usr/bin/env python3
"""Writes copies of mboxes until the output has a given size.

    benches/diverse.py OUT MEBIBYTES MBOX...

Each copy has different Message-IDs and hosts: no cache of URLs helps.
"""

import re, sys

out, mebibytes, paths = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
hosts = re.compile(rb"(://(?:[^\s/@<>]*@)?|\bwww\.|\bftp\.|@)(?=[A-Za-z0-9])")
ids = re.compile(rb"^(Message-ID:\s*<)", re.M | re.I)
with open(out, "wb") as sink:
    copy = 0
    while sink.tell() < mebibytes << 20:
        for path in paths:
            with open(path, "rb") as source:
                text = source.read()
            mark = b"c%d" % copy
            sink.write(
                ids.sub(
                    lambda found: found[1] + mark + b".",
                    hosts.sub(lambda found: found[1] + mark, text),
                )
            )
            sink.write(b"\n")
        copy += 1
