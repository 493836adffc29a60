"""Byte ranges of file objects."""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from typing import Any

import pytest
import urlspool
from conftest import mailbox


class Counted(io.BytesIO):
    """A file that counts the bytes read from it, and may fail."""

    def __init__(self, data: bytes, fails_at: int | None = None) -> None:
        super().__init__(data)
        self.count = 0
        self.fails_at = fails_at

    def read(self, size: int | None = -1, /) -> bytes:
        if self.fails_at is not None and self.fails_at <= self.tell():
            raise ConnectionResetError("the store is gone")
        data = super().read(size)
        self.count += len(data)
        return data


def without_path(records: Any) -> list[Any]:
    return [(record["id"], record["source"]["start"], record["message"]["start"])
            for record in records]


@pytest.mark.parametrize("size", [1, 5000, 100_000, 10**9])
def test_ranges_give_the_records_of_the_file(size: int) -> None:
    data = mailbox(40 if size == 1 else 3000)
    whole = without_path(urlspool.scan_stream(io.BytesIO(data), path="x"))
    assert len(whole) == 2 * (40 if size == 1 else 3000)
    parts = []
    for start in range(0, len(data), size):
        part = urlspool.scan_stream(io.BytesIO(data), start=start, end=start + size, threads=1)
        parts += without_path(part)
    assert parts == whole


def test_a_range_reads_little_beyond_it() -> None:
    data = mailbox(60_000, body_lines=10)
    assert len(data) > 40_000_000
    for start in [0, 10_000_000, 30_000_000]:
        file = Counted(data)
        records = list(urlspool.scan_stream(file, start=start, end=start + 5_000_000))
        assert len(records) > 1000
        # The start of the file, which decides its format; windows of 64 KiB around the range.
        assert file.count < 5_000_000 + 4 * 65536


def test_a_compressed_file_is_one_item(tmp_path: Path) -> None:
    data = gzip.compress(mailbox(50))
    half = len(data) // 2
    assert len(list(urlspool.scan_stream(io.BytesIO(data), start=0, end=half))) == 100
    assert list(urlspool.scan_stream(io.BytesIO(data), start=half)) == []
    path = tmp_path / "a.gz"
    path.write_bytes(data)
    with open(path, "rb") as file:
        records = list(urlspool.scan_stream(file))
    assert records == list(urlspool.scan(path))


def test_options_and_the_path_are_given() -> None:
    records = urlspool.scan_stream(io.BytesIO(b"http://a.example/ www.b.example"),
                                   path="s3://c/d", schemeless="off")
    [record] = records
    assert record["source"]["path"] == "s3://c/d"
    [record] = urlspool.scan_stream(io.BytesIO(b"a: b\n\nhttp://c.example/"),
                                    kind="text", fields="source")
    assert record["source"]["kind"] == "text"
    assert list(urlspool.scan_stream(io.BytesIO(b""))) == []


def test_an_exception_of_the_file_is_raised_as_it_is() -> None:
    data = mailbox(30_000)
    for file in [Counted(data, fails_at=0), Counted(data, fails_at=5_000_000)]:
        with pytest.raises(ConnectionResetError, match="the store is gone"):
            list(urlspool.scan_stream(file))
    with pytest.raises(TypeError, match="has no seek"):
        urlspool.scan_stream(object())  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="start"):
        urlspool.scan_stream(io.BytesIO(b""), start=5, end=2)


def test_a_file_in_text_mode_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("http://a.example/\n")
    with open(path) as file, pytest.raises(TypeError, match="binary"):
        list(urlspool.scan_stream(file))  # type: ignore[arg-type]
