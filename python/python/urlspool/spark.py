"""Scans on a Spark cluster.

    from pyspark.sql import SparkSession
    import urlspool.spark

    spark = SparkSession.builder.getOrCreate()
    scan = urlspool.spark.scan(spark, ["s3://bucket/usenet"], {"schemes": ["http", "ftp"]})
    scan.write_parquet("s3://bucket/urls")
    urlspool.spark.links(spark.read.parquet("s3://bucket/urls")).show()

The driver lists the files and plans byte ranges; each worker reads its ranges. A task that Spark
repeats returns the same records, with the same identifiers as a scan on one machine. The package
must be installed on the workers.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ._options import StrPath
from ._parts import begin_parts, end_parts, write_part
from ._splits import (
    DEFAULT_SIZE,
    Split,
    check_options,
    columns_of,
    grouped,
    plan,
    scan_splits,
    with_content,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_EVENT_SCHEMA = (
    "type string, kind string, source struct<path: string, path_b64: string, member: array<string>,"
    " member_b64: array<string>, start: bigint, end: bigint>, message string"
)


@dataclass(frozen=True)
class Written:
    """The counts of a scan written by `Scan.write_parquet`."""

    files: int
    records: int
    events: int


class Scan:
    """The result of `scan`: two DataFrames, or the files of `write_parquet`."""

    def __init__(
        self,
        tasks: DataFrame,
        found: DataFrame,
        options: Mapping[str, Any],
        given: Mapping[str, Any],
    ) -> None:
        self._tasks = tasks
        self._found = found
        self._options = options
        self._storage_options = given

    @property
    def records(self) -> DataFrame:
        """The records, with the columns of `urlspool.schema()`."""
        return self._found.where("record is not null").select("record.*")

    @property
    def events(self) -> DataFrame:
        """Limits, damage and unreadable files.

        Spark computes a DataFrame for each action. Call `cache` to read the files only once for
        records and events.
        """
        from pyspark.sql.functions import from_json

        events = self._found.where("event is not null")
        return events.select(from_json("event", _EVENT_SCHEMA).alias("event")).select("event.*")

    def write_parquet(
        self,
        folder: StrPath,
        *,
        compression: str = "zstd",
        storage_options: Mapping[str, Any] | None = None,
    ) -> Written:
        """Writes the records as Parquet files into a folder, and the events into `_events` in it.

        The result equals that of `records.write.parquet` at less than half the cost: each task
        writes its own file, so records need not be passed to the JVM and split into rows. Events
        are JSON lines. `folder` is a path that all workers can access, or a URL that fsspec
        supports; `storage_options` are fsspec's options for it, by default those of the scan.
        Raises `FileExistsError` unless the folder is empty or missing. A file gets its name when it
        is complete, and a task that Spark repeats writes the same file again. The file `_SUCCESS`
        is written last.
        """
        target = os.fspath(folder)
        place = dict(self._storage_options if storage_options is None else storage_options)
        begin_parts(target, place, compression)
        options, sources = dict(self._options), dict(self._storage_options)
        columns = columns_of(self._options)

        def write_tasks(batches: Iterator[Any]) -> Iterator[Any]:
            import pyarrow as pa

            for batch in batches:
                for text in batch.column(0).to_pylist():
                    group = [Split(*split) for split in json.loads(text)]
                    found = write_part(target, place, group, sources, options, columns, compression)
                    counts = {name: [count] for name, count in found.items()}
                    yield pa.RecordBatch.from_pydict(counts)

        columns_of_counts = "files bigint, records bigint, events bigint"
        counts = self._tasks.mapInArrow(write_tasks, columns_of_counts).collect()
        end_parts(target, place)
        names = ("files", "records", "events")
        return Written(*(sum(task[name] for task in counts) for name in names))

    def cache(self) -> Scan:
        """Keeps the result on the workers, so both DataFrames come from one pass.

        It is kept in memory, or on disk if memory is short.
        """
        from pyspark import StorageLevel

        self._found = self._found.persist(StorageLevel.MEMORY_AND_DISK)
        return self

    def unpersist(self) -> None:
        """Frees what `cache` keeps."""
        self._found.unpersist()


def scan(
    spark: SparkSession,
    roots: StrPath | Iterable[StrPath],
    options: Mapping[str, Any] | None = None,
    *,
    split_size: int = DEFAULT_SIZE,
    partitions: int | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> Scan:
    """Prepares a scan of the files below `roots`.

    `roots` are local paths that all workers can access, or URLs that fsspec supports. `options` are
    the options of `urlspool.scan_stream`. `split_size` is the size in bytes of the ranges that
    mboxes are divided into. `partitions` is the number of tasks, by default one per `split_size`
    bytes, or 200 for many small files. `storage_options` are passed to fsspec. The driver reads the
    file of the option `evidence` and sends it to the workers.
    """
    import pyarrow as pa
    from pyspark.sql.pandas.types import from_arrow_schema
    from pyspark.sql.types import StringType, StructField, StructType

    options = {"threads": 1, **(options or {})}
    check_options(options)
    options = with_content(options, storage_options)
    splits = plan(roots, split_size, storage_options)
    groups = grouped(splits, split_size, partitions)
    given = json.dumps(dict(storage_options or {}))
    fields = columns_of(options)
    columns = from_arrow_schema(fields)
    result = StructType([StructField("record", columns), StructField("event", StringType())])
    record_type = pa.struct(list(fields))

    def scan_tasks(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            for text in batch.column(0).to_pylist():
                group = [Split(*split) for split in json.loads(text)]
                yield from _batches(group, json.loads(given), options, record_type)

    tasks = [
        (json.dumps([(split.path, split.start, split.end) for split in group]),)
        for group in groups
    ]
    plans = spark.createDataFrame(tasks or [("[]",)], "splits string")
    # One task for each group.
    plans = plans.repartitionByRange(max(1, len(tasks)), "splits")
    return Scan(plans, plans.mapInArrow(scan_tasks, result), options, dict(storage_options or {}))


def links(records: DataFrame) -> DataFrame:
    """Groups records by `key`: one row with the numbers of records and messages, and the dates."""
    from pyspark.sql import functions as f

    return records.where("key is not null").groupBy("key").agg(
        f.min("url").alias("url"),
        f.min("host").alias("host"),
        f.count("*").alias("records"),
        f.countDistinct("message.digest").alias("messages"),
        f.min("message.date").alias("first"),
        f.max("message.date").alias("last"),
    )


def _batches(
    splits: Iterable[Split],
    storage_options: Mapping[str, Any],
    options: Mapping[str, Any],
    record_type: Any,
) -> Iterator[Any]:
    """Yields record batches with two columns: a record or null, and an event or null."""
    import pyarrow as pa

    with warnings.catch_warnings():
        # Warnings are returned as rows.
        warnings.simplefilter("ignore")
        for records in scan_splits(splits, storage_options, options):
            for batch in pa.RecordBatchReader.from_stream(records):
                found = pa.StructArray.from_arrays(
                    [column.cast(field.type) for column, field in zip(batch.columns, record_type)],
                    fields=list(record_type),
                )
                nulls = pa.nulls(len(batch), pa.string())
                yield pa.RecordBatch.from_arrays([found, nulls], names=["record", "event"])
            events = [json.dumps(event) for event in records.events]
            if events:
                columns = [pa.nulls(len(events), record_type), pa.array(events)]
                yield pa.RecordBatch.from_arrays(columns, names=["record", "event"])
