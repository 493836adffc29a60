"""Files of stores that are read ahead."""

from __future__ import annotations

import io
import random
import threading
import time
from typing import Any

import pytest
import urlspool
from conftest import mailbox
from urlspool import _ahead
from urlspool._ahead import REQUESTS, ReadAhead


class Store:
    """A store with one object, which counts the requests in flight and the bytes asked for."""

    def __init__(self, content: bytes, fails_at: int | None = None, delay: float = 0) -> None:
        self.content = content
        self.fails_at = fails_at
        self.delay = delay
        self.asked: list[tuple[int, int]] = []
        self.in_flight = self.most = 0
        self.lock = threading.Lock()

    def cat_file(self, name: str, start: int, end: int) -> bytes:
        with self.lock:
            self.asked.append((start, end))
            self.in_flight += 1
            self.most = max(self.most, self.in_flight)
        time.sleep(self.delay)
        with self.lock:
            self.in_flight -= 1
        if self.fails_at is not None and self.fails_at < end:
            raise ConnectionResetError("the store is gone")
        return self.content[start:end]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_ahead, "BLOCK_BYTES", 100_000)


@pytest.mark.parametrize("seed", range(20))
def test_reads_in_any_order_give_the_bytes_of_the_file(seed: int) -> None:
    chance = random.Random(seed)
    content = chance.randbytes(chance.choice([0, 1, 99_999, 1_000_001]))
    store, plain = Store(content), io.BytesIO(content)
    file = ReadAhead(io.BytesIO(content), store, "x", chance.randrange(len(content) + 2))
    for _ in range(200):
        if chance.random() < 0.1:
            offset = chance.randrange(len(content) + 10)
            assert file.seek(offset) == plain.seek(offset)
        if chance.random() < 0.02:
            assert file.seek(-5 if content else 0, 2) == plain.seek(-5 if content else 0, 2)
        wanted = chance.choice([0, 1, 5000, 70_000, 300_000])
        # Like any file, it may return fewer bytes, but some before the end.
        found = file.read(wanted)
        assert found == plain.read(len(found)) and (found or not wanted or not plain.read(1))
        assert file.tell() == plain.tell()
    file.close()


def test_four_requests_are_in_flight_and_none_after_the_end() -> None:
    content = bytes(3_000_000)
    store = Store(content, delay=0.01)
    file = ReadAhead(io.BytesIO(content), store, "x", 2_050_000)
    read = 0
    while data := file.read(60_000):
        read += len(data)
        assert sum(block.end - block.start for block in file._blocks) <= (REQUESTS + 1) * 100_000
    assert read == len(content) and store.most == REQUESTS
    # The first read is single, because it may be the only one.
    assert sorted(store.asked)[0] == (60_000, 160_000) and max(store.asked)[1] == 2_050_000
    assert sum(end - start for start, end in store.asked) == 1_990_000
    file.close()


def test_records_are_the_same_and_errors_are_raised() -> None:
    fsspec = pytest.importorskip("fsspec", reason="fsspec is not installed")
    from urlspool._splits import Split, scan_splits

    content = mailbox(9000)

    class Late(fsspec.AbstractFileSystem):  # type: ignore[misc, name-defined]
        protocol = "late"
        cachable = False
        async_impl = True
        store = Store(content)

        def _open(self, path: str, mode: str = "rb", **options: Any) -> Any:
            return io.BytesIO(content)

        def cat_file(self, path: str, start: int = 0, end: int = 0, **options: Any) -> bytes:
            return self.store.cat_file(path, start, end)

    fsspec.register_implementation("late", Late, clobber=True)
    bounds = [0, 700_001, 1_500_000, len(content)]
    splits = [Split("late://a.mbox", start, end) for start, end in zip(bounds, bounds[1:])]
    found = [record["id"] for records in scan_splits(splits, None, {}) for record in records]
    assert found == [record["id"] for record in urlspool.scan_stream(io.BytesIO(content))]
    assert len(Late.store.asked) > 20
    Late.store = Store(content, fails_at=1_000_000)
    with pytest.raises(ConnectionResetError, match="the store is gone"):
        for records in scan_splits(splits, None, {}):
            list(records)


def test_a_store_that_ignores_ranges_is_refused() -> None:
    content = bytes(1_000_000)
    store = Store(content)
    store.cat_file = lambda name, start, end: content  # type: ignore[method-assign]
    file = ReadAhead(io.BytesIO(content), store, "x", len(content))
    assert file.read(1000) == bytes(1000)
    with pytest.raises(OSError, match="more than the requested range"):
        file.read(1000)
