"""The data source of Spark 4: `spark.read.format("urlspool")`.

`docs/python.md` describes its use. `urlspool.spark` has the functions for older versions.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    InputPartition,
)

from ._options import options_of_texts
from ._splits import (
    DEFAULT_SIZE,
    Split,
    check_options,
    columns_of,
    grouped,
    is_url,
    open_file,
    plan,
    scan_splits,
    with_content,
)

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

_SEGMENT = re.compile(r"(\d+)\.jsonl(\.zst)?")
"""The name of a segment: its number, and a suffix if it is compressed."""

_BLOCK_BYTES = 8 << 20
"""Bytes of a segment that are converted at once. They make a few thousand records."""


class UrlspoolDataSource(DataSource):
    """Records of mail: of files in a scan, of segments in a stream."""

    @classmethod
    def name(cls) -> str:
        return "urlspool"

    def schema(self) -> StructType:
        from pyspark.sql.pandas.types import from_arrow_schema

        return from_arrow_schema(columns_of(_Request(self.options).options))

    def reader(self, schema: StructType) -> DataSourceReader:
        request = _Request(self.options)
        if "fields" not in request.options:
            request.options = {**request.options, "slim": None, "fields": schema.fieldNames()}
        check_options(request.options)
        request.options = with_content(request.options, request.storage_options)
        return (_FilteredScan if _pushes_filters() else _Scan)(request, schema)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        return _Segments(_Request(self.options), schema)


class _Request:
    """The options of a data source: of a scan, and of its plan."""

    def __init__(self, given: Mapping[str, str]) -> None:
        texts = dict(given)
        self.roots: list[str] = json.loads(texts.pop("paths", "[]"))
        with suppress(KeyError):
            self.roots.append(texts.pop("path"))
        if not self.roots:
            raise ValueError("name files or folders: load(PATH) or load([PATH, ...])")
        self.split_size = int(texts.pop("split_size", DEFAULT_SIZE))
        self.partitions = int(texts.pop("partitions", 0)) or None
        self.storage_options: dict[str, Any] = json.loads(texts.pop("storage_options", "{}"))
        self.options: dict[str, Any] = {"threads": 1, **options_of_texts(texts)}

    def grouped(self, splits: Sequence[Split]) -> list[InputPartition]:
        """Returns a partition for each task."""
        return [_Partition(group) for group in grouped(splits, self.split_size, self.partitions)]


@dataclass
class _Partition(InputPartition):
    """The splits of a task."""

    splits: list[Split]


class _Scan(DataSourceReader):
    """A scan of files and folders."""

    def __init__(self, request: _Request, schema: StructType) -> None:
        self._request = request
        self._schema = schema

    def partitions(self) -> Sequence[InputPartition]:
        request = self._request
        splits = plan(request.roots, request.split_size, request.storage_options)
        # Spark makes a partition of an empty list.
        return request.grouped(splits) or [_Partition([])]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        import pyarrow as pa

        assert isinstance(partition, _Partition)
        columns = _arrow_schema(self._schema)
        request = self._request
        for records in scan_splits(partition.splits, request.storage_options, request.options):
            for batch in pa.RecordBatchReader.from_stream(records):
                yield _with_columns(batch, columns)


class _FilteredScan(_Scan):
    """A scan of what filters of Spark leave.

    Spark evaluates all filters again: an option of a scan is less strict than a filter, because a
    scan reads messages without a date.
    """

    def pushFilters(self, filters: list[Any]) -> Iterable[Any]:
        for pushed in filters:
            for name, value in _options_of_filter(pushed).items():
                if name not in self._request.options:
                    options = {**self._request.options, name: value}
                    # A value that cannot occur, such as a host with blanks, stays with Spark.
                    with suppress(ValueError):
                        check_options({**options, "evidence": None})
                        self._request.options = options
        return filters


def _pushes_filters() -> bool:
    """Returns `True` if Spark asks for filters in this process.

    Spark refuses a reader with `pushFilters` unless `spark.sql.python.filterPushdown.enabled` is
    set, and plans in another worker then.
    """
    worker = "pyspark.sql.worker.data_source_pushdown_filters"
    main = getattr(sys.modules.get("__main__"), "__spec__", None)
    return worker in sys.modules or getattr(main, "name", None) == worker


def _options_of_filter(pushed: Any) -> dict[str, Any]:
    """Returns the options of a scan that keep all records that pass a filter.

    >>> from datetime import datetime
    >>> from pyspark.sql.datasource import EqualTo, In, LessThan
    >>> _options_of_filter(In(("scheme",), ("ftp", "gopher")))
    {'schemes': ['ftp', 'gopher']}
    >>> _options_of_filter(EqualTo(("message", "year"), 1996))
    {'since': '1996', 'until': '1996'}
    >>> _options_of_filter(LessThan(("message", "date"), datetime(1996, 7, 1, 12)))
    {'until': '1996-07-01'}
    """
    kind = type(pushed).__name__
    column = ".".join(getattr(pushed, "attribute", ()))
    value: Any = getattr(pushed, "value", None)
    if column in ("scheme", "host") and kind in ("EqualTo", "In"):
        values = list(value) if kind == "In" else [value]
        if values and all(isinstance(text, str) and "," not in text for text in values):
            return {"schemes" if column == "scheme" else "host": values}
    if column in ("message.date", "message.year") and value is not None:
        # The whole day or year of the bound is read.
        period = f"{value:04}" if column == "message.year" else value.strftime("%Y-%m-%d").zfill(10)
        if kind in ("EqualTo", "GreaterThan", "GreaterThanOrEqual"):
            bounds = {"since": period}
        else:
            bounds = {}
        if kind in ("EqualTo", "LessThan", "LessThanOrEqual"):
            bounds["until"] = period
        return bounds
    return {}


class _Segments(DataSourceStreamReader):
    """The records of the segments in a folder, in the order of their numbers.

    Numbers only grow, and a segment never changes, so the highest number is the offset. Lines about
    messages that are gone are skipped.
    """

    def __init__(self, request: _Request, schema: StructType) -> None:
        if len(request.roots) != 1:
            raise ValueError("a stream has one folder of segments")
        self._request = request
        self._schema = schema

    def initialOffset(self) -> dict[str, int]:
        return {"segment": 0}

    def latestOffset(
        self, start: dict[str, int] | None = None, limit: Any = None
    ) -> dict[str, int]:
        # Spark before 4.2 passes no arguments.
        numbers = [number for number, _ in self._segments()]
        return {"segment": max([*numbers, (start or self.initialOffset())["segment"]])}

    def partitions(
        self, start: dict[str, int], end: dict[str, int]
    ) -> Sequence[InputPartition]:
        segments = sorted(self._segments())
        new = [part for number, part in segments if start["segment"] < number <= end["segment"]]
        return self._request.grouped(new)

    def read(self, partition: InputPartition) -> Iterator[Any]:
        assert isinstance(partition, _Partition)
        columns = _arrow_schema(self._schema)
        for split in partition.splits:
            yield from _batches_of_segment(split.path, self._request.storage_options, columns)

    def _segments(self) -> Iterator[tuple[int, Split]]:
        for path, size in _files_in(self._request.roots[0], self._request.storage_options):
            name = _SEGMENT.fullmatch(path.rpartition("/")[2])
            if name:
                yield int(name[1]), Split(path, 0, size)


def _files_in(folder: str, storage_options: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """Yields the files in a folder, without its subfolders, with their sizes."""
    if is_url(folder):
        import fsspec

        store, name = fsspec.core.url_to_fs(folder, **storage_options)
        for file in store.ls(name, detail=True):
            yield store.unstrip_protocol(file["name"]), file["size"] or 0
    else:
        for entry in os.scandir(folder):
            # A consumer may remove segments.
            with suppress(FileNotFoundError):
                yield entry.path, entry.stat().st_size


def _batches_of_segment(
    path: str, storage_options: Mapping[str, Any], columns: Any
) -> Iterator[Any]:
    """Yields the records of a segment with these columns."""
    import pyarrow as pa
    import pyarrow.compute
    import pyarrow.json

    # Lines about messages that are gone have another type.
    known = columns if "type" in columns.names else columns.append(pa.field("type", pa.string()))
    parsing = pyarrow.json.ParseOptions(explicit_schema=known, unexpected_field_behavior="ignore")
    with closing(open_file(path, storage_options)) as file:
        is_packed = path.endswith(".zst")
        for lines in _lines_of(pa.CompressedInputStream(file, "zstd") if is_packed else file):
            reading = pyarrow.json.ReadOptions(block_size=len(lines), use_threads=False)
            table = pyarrow.json.read_json(pa.BufferReader(lines), reading, parsing)
            is_record = pyarrow.compute.equal(table["type"], "url")
            for batch in table.filter(is_record).to_batches():
                yield _with_columns(batch, columns)


def _lines_of(file: Any) -> Iterator[bytes]:
    """Yields blocks of whole lines."""
    rest = b""
    while block := file.read(_BLOCK_BYTES):
        lines, newline, tail = block.rpartition(b"\n")
        if newline:
            yield rest + lines + newline
            rest = tail
        else:
            rest += block
    if rest:
        yield rest


def _arrow_schema(schema: StructType) -> Any:
    from pyspark.sql.pandas.types import to_arrow_schema

    try:
        return to_arrow_schema(schema, timezone="UTC")
    except TypeError:
        # Spark before 4.2.
        return to_arrow_schema(schema)


def _with_columns(batch: Any, columns: Any) -> Any:
    """Returns the batch with exactly these columns, which Spark compares with its own."""
    import pyarrow as pa

    arrays = [batch.column(field.name).cast(field.type) for field in columns]
    return pa.RecordBatch.from_arrays(arrays, schema=columns)
