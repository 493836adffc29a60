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
from ._ahead import ReadAhead
from ._options import StrPath, StreamOptions, texts_of

if TYPE_CHECKING:
    from ._urlspool import Records
    from .records import BinaryFile

_START_BYTES = 64 << 10
"""Number of bytes needed to detect the format of a file."""

DEFAULT_SIZE = 128 << 20
"""Size of a split. A worker scans it in seconds."""

LEAST_TASKS = 200
"""Minimum number of tasks for many small files.

Few enough to be planned at once, and more than most clusters have cores.
"""

_PLAN_THREADS = 32
"""Threads that read the first bytes of large files.

A store answers in a few hundredths of a second, and a collection has thousands of large files.
"""


@dataclass(frozen=True, order=True)
class Split:
    """The messages of a file that start in a byte range."""

    path: str
    start: int
    end: int


def plan(
    roots: StrPath | Iterable[StrPath],
    size: int = DEFAULT_SIZE,
    storage_options: Mapping[str, Any] | None = None,
) -> list[Split]:
    """Divides the files below `roots` into splits of about `size` bytes.

    Uncompressed mboxes are divided; every other file is one split. An mbox with Content-Length
    fields is also one split: its messages can only be found from the start of the file, so each
    range would read all bytes before it again. `roots` are local paths, or URLs that fsspec
    supports (`s3://bucket/folder`); `storage_options` are fsspec's options for them.
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

    By default there is a task for each `size` bytes. Many small files get at least `LEAST_TASKS`
    tasks, which keeps all workers busy.

    >>> [len(grouped([Split("a", 0, end)] * 1000, 128)) for end in (9, 128)]
    [200, 1000]
    """
    if groups is None:
        total = sum(split.end - split.start for split in splits)
        groups = min(len(splits), max(LEAST_TASKS, -(-total // size)))
    return balanced(splits, groups)


def balanced(splits: Iterable[Split], groups: int) -> list[list[Split]]:
    """Distributes splits over groups of about equal size in bytes, largest splits first.

    >>> splits = [Split("a", 0, end) for end in (5, 4, 3, 2)]
    >>> [[split.end for split in group] for group in balanced(splits, 2)]
    [[5, 2], [4, 3]]
    """
    found: list[list[Split]] = [[] for _ in range(max(1, groups))]
    sizes = [(0, group) for group in range(len(found))]
    ordered = sorted(splits, key=lambda split: (split.start - split.end, split.path, split.start))
    for split in ordered:
        size, smallest = sizes[0]
        found[smallest].append(split)
        heapq.heapreplace(sizes, (size + split.end - split.start, smallest))
    return [group for group in found if group]


def scan_splits(
    splits: Iterable[Split], storage_options: Mapping[str, Any] | None, options: Mapping[str, Any]
) -> Iterator[Records]:
    """Scans splits one after another. Each file is closed after its records are taken."""
    content = options.get("evidence")
    texts = texts_of({**options, "evidence": None}, StreamOptions)
    with _EVIDENCE_LOCK:
        evidence = content and _evidence(content, texts)
    for split in splits:
        with closing(open_file(split.path, storage_options or {}, split.end)) as file:
            yield _urlspool.scan_stream(file, split.path, split.start, split.end, texts, evidence)


def check_options(options: Mapping[str, Any]) -> None:
    """Raises the exception for an invalid option before workers are started."""
    if options.get("unique") == "run":
        raise ValueError("unique='run' holds within a split only; use links() or dropDuplicates")
    texts = texts_of(options, StreamOptions)
    if ("evidence", ("self",)) in texts:
        raise ValueError(
            "evidence='self' reads the input twice; "
            "name a file of the records or URLs of an earlier scan"
        )
    given = [option for option in texts if option[0] != "evidence"]
    _urlspool.scan_stream(EmptyFile(), "", 0, None, given).close()


def with_content(
    options: Mapping[str, Any], storage_options: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Returns options with the name of the evidence file replaced by its content.

    Workers may not be able to access the file.
    """
    if options.get("evidence") is None:
        return dict(options)
    name = os.fspath(options["evidence"])
    with closing(open_file(name, storage_options or {})) as file:
        content = file.read()
    if content.startswith(b"SQLite format 3\0"):
        raise ValueError(
            f"evidence: {name} is a database, which only the program takes; "
            "name a file of records or URLs"
        )
    if not content:
        raise ValueError(f"evidence: {name} is empty")
    return {**options, "evidence": content}


_EVIDENCE_LOCK = Lock()
"""Held while evidence is read, so threads that need the same evidence read it once."""


@lru_cache(maxsize=1)
def _evidence(
    content: bytes, options: tuple[tuple[str, tuple[str, ...]], ...]
) -> _urlspool.Evidence:
    """Returns the evidence with this content. The cache keeps only the last one."""
    return _urlspool.Evidence(content, options)


class EmptyFile:
    """A file without bytes."""

    def seek(self, offset: int, whence: int = 0, /) -> int:
        return 0

    def read(self, size: int = -1, /) -> bytes:
        return b""


def columns_of(options: Mapping[str, Any]) -> Any:
    """Returns the Arrow schema of records with these options. Spark needs times in microseconds."""
    import pyarrow as pa

    texts = texts_of({**options, "threads": 1, "evidence": None}, StreamOptions)
    fields = pa.schema(_urlspool.scan_stream(EmptyFile(), "", 0, None, texts))
    return pa.schema([_in_microseconds(field) for field in fields])


def _in_microseconds(field: Any) -> Any:
    import pyarrow as pa

    if pa.types.is_timestamp(field.type):
        return field.with_type(pa.timestamp("us", tz="UTC"))
    if pa.types.is_struct(field.type):
        return field.with_type(pa.struct([_in_microseconds(child) for child in field.type]))
    return field


def is_url(path: str) -> bool:
    return "://" in path


def open_file(path: str, storage_options: Mapping[str, Any], ahead_to: int = 0) -> Any:
    """Opens a file. If its store has an asynchronous client, as those of S3, Google Cloud, Azure
    and HTTP have, the bytes before `ahead_to` are read ahead.
    """
    if not is_url(path):
        return open(path, "rb")
    import fsspec

    store, name = fsspec.core.url_to_fs(path, **storage_options)
    # Each range is a separate request; a cache would read ahead by one request at a time.
    file = store.open(name, "rb", cache_type="none")
    return ReadAhead(file, store, name, ahead_to) if ahead_to and store.async_impl else file


def _files(root: str, storage_options: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """Yields the files below a root with their sizes, ordered by path.

    Like a scan of a folder, omits files in the `tmp` of a Maildir, which may be incomplete
    (maildir(5)).
    """
    if is_url(root):
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
    """Returns `True` if a path of a store is in the `tmp` of a Maildir.

    Stores have no empty folders, so `cur` or `new` may be missing.
    """
    maildir, _, name = path.rpartition("/")[0].rpartition("/")
    return name == "tmp" and not folders.isdisjoint((f"{maildir}/cur", f"{maildir}/new"))


def _splits_of(
    path: str, length: int, size: int, storage_options: Mapping[str, Any]
) -> list[Split]:
    parts = 1
    if size < length:
        with closing(open_file(path, storage_options)) as file:
            if _urlspool.is_splittable(cast("BinaryFile", file).read(_START_BYTES)):
                parts = -(-length // size)
    bounds = [length * part // parts for part in range(parts + 1)]
    return [Split(path, bounds[part], bounds[part + 1]) for part in range(parts)]
