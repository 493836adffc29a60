"""Reading ahead in a file of a store, with several requests at once."""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

REQUESTS = 4
"""Requests in flight for a file, so a task need not wait for each answer of a store."""

BLOCK_BYTES = 4 << 20
"""Size of a request in bytes. A file holds `REQUESTS` blocks, and the one that is being read."""


class ReadAhead:
    """A file of a store, whose next blocks are requested while it is read from start to end.

    A read that does not continue the previous one, and reads after `end`, are requests of their
    own: detecting a format takes a few bytes, and a range of an mbox ends soon after its end.
    """

    def __init__(self, file: Any, store: Any, name: str, end: int) -> None:
        self._file = file
        self._store = store
        self._name = name
        self._end = min(end, file.seek(0, 2) or file.tell())
        self._position = 0
        self._read_to = -1
        self._blocks: deque[_Block] = deque()
        self._pool: ThreadPoolExecutor | None = None

    def seek(self, offset: int, whence: int = 0, /) -> int:
        # The size of a file may be known only to its store.
        self._position = offset if whence == 0 else self._file.seek(offset, whence)
        return self._position

    def tell(self) -> int:
        return self._position

    def read(self, size: int = -1, /) -> bytes:
        start = self._position
        block = self._block_of(start)
        if block is None:
            self._file.seek(start)
            data: bytes = self._file.read(size)
        else:
            content = block.content.result()
            if block.end - block.start < len(content):
                raise OSError(f"{self._name}: the store sends more than the requested range")
            first = start - block.start
            data = content[first : None if size < 0 else first + size]
        self._position = self._read_to = start + len(data)
        return data

    def close(self) -> None:
        self._forget_blocks()
        if self._pool:
            self._pool.shutdown(wait=False)
        self._file.close()

    def _block_of(self, start: int) -> _Block | None:
        """Returns the block with this offset, and requests the blocks after it."""
        while self._blocks and self._blocks[0].end <= start:
            self._blocks.popleft()
        if self._blocks and start < self._blocks[0].start:
            self._forget_blocks()
        if not self._blocks and start != self._read_to:
            return None
        last = self._blocks[-1].end if self._blocks else start
        while last < self._end and len(self._blocks) <= REQUESTS:
            block = self._request(last, min(last + BLOCK_BYTES, self._end))
            self._blocks.append(block)
            last = block.end
        return self._blocks[0] if self._blocks else None

    def _request(self, start: int, end: int) -> _Block:
        if self._pool is None:
            self._pool = ThreadPoolExecutor(REQUESTS)
        # By name: the second parameter of some stores is the version of the object.
        content = self._pool.submit(self._store.cat_file, self._name, start=start, end=end)
        return _Block(start, end, content)

    def _forget_blocks(self) -> None:
        for block in self._blocks:
            block.content.cancel()
        self._blocks.clear()


class _Block:
    """A range of a file, and its content once the store has sent it."""

    def __init__(self, start: int, end: int, content: Future[bytes]) -> None:
        self.start = start
        self.end = end
        self.content = content
