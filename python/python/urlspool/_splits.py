"""Splits: byte ranges of files that workers scan, planned on one machine for any engine."""

from __future__ import annotations

import heapq
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING, Any, cast

from . import _urlspool
from ._options import StrPath, StreamOptions, texts_of

if TYPE_CHECKING:
    from ._urlspool import Records
    from .records import BinaryFile

_START_BYTES = 64 << 10
"""Bytes by which the format of a file is known."""

DEFAULT_SIZE = 128 << 20
"""Size of a split, which a worker scans in seconds."""

LEAST_TASKS = 200
"""Number of tasks that many small files are distributed over: few enough to be planned at once, and more than most clusters have cores."""

_PLAN_THREADS = 32
"""Threads that read the beginnings of large files. A store answers in a few hundredths of a second, and a collection has thousands."""


@dataclass(frozen=True, order=True)
class Split:
    """The messages of a file that begin in a byte range."""

    path: str
    start: int
    end: int


def plan(
    roots: StrPath | Iterable[StrPath],
    size: int = DEFAULT_SIZE,
    storage_options: Mapping[str, Any] | None = None,
) -> list[Split]:
    """Divides the files beneath `roots` into splits of about `size` bytes.

    Uncompressed mboxes are divided; every other file is one split. So is an mbox with Content-Length fields, whose messages can
    only be found from its start: each range of it would read everything before it once more. `roots` are local paths, or URLs that fsspec knows
    (`s3://bucket/folder`), with its options.
    """
    if size < 1:
        raise ValueError("size must be positive")
    names = [roots] if isinstance(roots, (str, os.PathLike)) else list(roots)
    options = storage_options or {}
    files = [file for name in names for file in _files(os.fspath(name), options)]
    with ThreadPoolExecutor(_PLAN_THREADS) as pool:
        parts = pool.map(lambda file: _splits_of(file[0], file[1], size, options), files)
        return [split for splits in parts for split in splits]


def grouped(splits: Sequence[Split], size: int, groups: int | None = None) -> list[list[Split]]:
    """Distributes splits over tasks.

    By default there is a task for each `size` bytes; of a folder of many small files no fewer than `LEAST_TASKS`, so that all
    workers have some.

    >>> len(grouped([Split("a", 0, 9)] * 1000, 128)), len(grouped([Split("a", 0, 128)] * 1000, 128))
    (200, 1000)
    """
    if groups is None:
        total = sum(split.end - split.start for split in splits)
        groups = min(len(splits), max(LEAST_TASKS, -(-total // size)))
    return balanced(splits, groups)


def balanced(splits: Iterable[Split], groups: int) -> list[list[Split]]:
    """Distributes splits so that the groups have about the same number of bytes, the largest splits first.

    >>> [[split.end for split in group] for group in balanced([Split("a", 0, n) for n in (5, 4, 3, 2)], 2)]
    [[5, 2], [4, 3]]
    """
    found: list[list[Split]] = [[] for _ in range(max(1, groups))]
    sizes = [(0, group) for group in range(len(found))]
    for split in sorted(splits, key=lambda split: (split.start - split.end, split.path, split.start)):
        size, smallest = sizes[0]
        found[smallest].append(split)
        heapq.heapreplace(sizes, (size + split.end - split.start, smallest))
    return [group for group in found if group]


def scan_splits(
    splits: Iterable[Split], storage_options: Mapping[str, Any] | None, options: Mapping[str, Any]
) -> Iterator[Records]:
    """Scans splits, one after the other. Each file is closed after its records are taken."""
    content = options.get("evidence")
    texts = texts_of({**options, "evidence": None}, StreamOptions)
    with _EVIDENCE_LOCK:
        evidence = content and _evidence(content, texts)
    for split in splits:
        with closing(_open(split.path, storage_options or {})) as file:
            yield _urlspool.scan_stream(file, split.path, split.start, split.end, texts, evidence)


def check_options(options: Mapping[str, Any]) -> None:
    """Raises the exception of an option that cannot be used, before workers are started."""
    if options.get("unique") == "run":
        raise ValueError("unique='run' holds within a split only; use links() or dropDuplicates")
    texts = texts_of(options, StreamOptions)
    if ("evidence", ("self",)) in texts:
        raise ValueError("evidence='self' reads the input twice; name a file of the records or URLs of an earlier scan")
    given = [option for option in texts if option[0] != "evidence"]
    _urlspool.scan_stream(EmptyFile(), "", 0, None, given).close()


def with_content(options: Mapping[str, Any], storage_options: Mapping[str, Any] | None) -> dict[str, Any]:
    """Returns options with the content of the file of evidence in place of its name, for workers that may not see the file."""
    if options.get("evidence") is None:
        return dict(options)
    name = os.fspath(options["evidence"])
    with closing(_open(name, storage_options or {})) as file:
        content = file.read()
    if content.startswith(b"SQLite format 3\0"):
        raise ValueError(f"evidence: {name} is a database, which only the program takes; name a file of records or URLs")
    if not content:
        raise ValueError(f"evidence: {name} is empty")
    return {**options, "evidence": content}


_EVIDENCE_LOCK = Lock()
"""Held while evidence is read, so that threads that need the same read it once."""


@lru_cache(maxsize=1)
def _evidence(content: bytes, options: tuple[tuple[str, tuple[str, ...]], ...]) -> _urlspool.Evidence:
    """The evidence with this content, until the process needs another. Scans that have it keep it."""
    return _urlspool.Evidence(content, options)


class EmptyFile:
    """A file without bytes."""

    def seek(self, offset: int, whence: int = 0, /) -> int:
        return 0

    def read(self, size: int = -1, /) -> bytes:
        return b""


def _is_url(path: str) -> bool:
    return "://" in path


def _open(path: str, storage_options: Mapping[str, Any]) -> Any:
    if not _is_url(path):
        return open(path, "rb")
    import fsspec

    filesystem, name = fsspec.core.url_to_fs(path, **storage_options)
    # Ranges are read in requests of their own: a cache would read ahead.
    return filesystem.open(name, "rb", cache_type="none")


def _files(root: str, storage_options: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """The files beneath a root with their sizes, in the order of their paths.

    Without those in the `tmp` of a Maildir, which may be incomplete (maildir(5)), as in a scan of a folder.
    """
    if _is_url(root):
        import fsspec

        filesystem, name = fsspec.core.url_to_fs(root, **storage_options)
        found = filesystem.find(name, detail=True)
        parents = {path.rpartition("/")[0] for path in found}
        for path in sorted(found):
            if found[path]["type"] == "file" and not _is_unfinished(path, parents):
                yield filesystem.unstrip_protocol(path), found[path]["size"]
    elif os.path.isdir(root):
        for folder, folders, names in os.walk(root):
            if {"cur", "new", "tmp"} <= set(folders):
                folders.remove("tmp")
            folders.sort()
            for name in sorted(names):
                path = os.path.join(folder, name)
                if os.path.isfile(path) and not os.path.islink(path):
                    yield path, os.path.getsize(path)
    else:
        yield root, os.path.getsize(root)


def _is_unfinished(path: str, folders: set[str]) -> bool:
    """True if a path of a store is in the `tmp` of a Maildir. Stores have no empty folders, so that `cur` or `new` may be missing."""
    maildir, _, name = path.rpartition("/")[0].rpartition("/")
    return name == "tmp" and not folders.isdisjoint((f"{maildir}/cur", f"{maildir}/new"))


def _splits_of(path: str, length: int, size: int, storage_options: Mapping[str, Any]) -> list[Split]:
    parts = 1
    if size < length:
        with closing(_open(path, storage_options)) as file:
            if _urlspool.is_splittable(cast("BinaryFile", file).read(_START_BYTES)):
                parts = -(-length // size)
    return [Split(path, length * part // parts, length * (part + 1) // parts) for part in range(parts)]
