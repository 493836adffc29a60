"""Each way into a file reads the same: path, file object, ranges, pipe, compressed copy."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest
import urlspool
from conftest import program
from urlspool._splits import plan, scan_splits

MAIL = "From: a@b.example\nSubject: x\nMessage-ID: <{0}@x.example>\n\nsee http://a.example/{0}\n\n"
FORMATS = {
    "mbox": "From a@b.example Mon Jan  1 00:00:00 1996\n" + MAIL,
    "mmdf": "\x01\x01\x01\x01\n" + MAIL + "\x01\x01\x01\x01\n",
    "babyl": "BABYL OPTIONS: -*- rmail -*-\nVersion: 5\n\x1f\x0c\n0,,\n*** EOOH ***\n"
    + MAIL + "\x1f",
    "message": MAIL,
    "text": "see http://a.example/{0}\n",
}


def ids(records: Any) -> list[str]:
    return sorted(record["id"] for record in records)


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("nuls", [0, 1, 70_000, 700_000])
def test_every_way_into_a_file_gives_the_same_records(tmp_path: Path,
                                                      kind: str, ends: str, nuls: int) -> None:
    messages = 300 if kind == "mbox" else 1
    text = "".join(FORMATS[kind].format(number) for number in range(messages))
    data = bytes(nuls) + text.replace("\n", ends).encode()
    path = tmp_path / "f"
    path.write_bytes(data)
    found = ids(urlspool.scan(path))
    assert len(found) == messages
    assert ids(urlspool.scan_stream(io.BytesIO(data))) == found
    parts = [urlspool.scan_stream(io.BytesIO(data), start=at, end=at + 50_000)
             for at in range(0, len(data), 50_000)]
    assert sorted(sum(map(ids, parts), [])) == found
    splits = plan(path, size=10_000)
    assert ids(record for records in scan_splits(splits, None, {}) for record in records) == found
    packed = tmp_path / "f.gz"
    packed.write_bytes(gzip.compress(data))
    assert ids(urlspool.scan(packed)) == found
    assert ids(map(json.loads, program("scan", "-", input=data).stdout.splitlines())) == found
