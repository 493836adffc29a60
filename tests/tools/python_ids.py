#!/usr/bin/env python3
"""Prints path and id of each record that the Python package finds, as JSON lines.

    tests/tools/python_ids.py scan|streams|splits PATH

`scan` reads a folder, `streams` each of its files as a file object, `splits` ranges of 20 KiB as
Spark and Dask do. `tests/formats/openers.rs` compares them with the program.
"""

import json, os, sys

import urlspool
from urlspool._splits import plan, scan_splits


def streams(root):
    for folder, _, names in os.walk(root):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                yield from urlspool.scan_stream(file, path=path)


def splits(root):
    for records in scan_splits(plan(root, size=20 << 10), None, {}):
        yield from records


def main():
    way, root = sys.argv[1:]
    found = {"scan": urlspool.scan, "streams": streams, "splits": splits}[way](root)
    for record in found:
        print(json.dumps({"source": {"path": record["source"]["path"]}, "id": record["id"]}))


if __name__ == "__main__":
    main()
