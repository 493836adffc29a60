"""Parts: the files that the tasks of a scan write into one folder."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import uuid
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ._splits import Split, scan_splits

_EVENTS = "_events"
"""Subfolder of the events. Readers of Parquet folders skip names that start with an underscore."""

_SUCCESS = "_SUCCESS"
"""The empty file that marks a complete folder, with the name that Hadoop uses."""

_ROW_GROUP_ROWS = 65_536
"""Rows per row group. A task holds as many in memory, in addition to the batch that it reads."""


def begin_parts(folder: str, storage_options: Mapping[str, Any], compression: str) -> None:
    """Creates the folder.

    Raises `FileExistsError` if it is not empty, and `ValueError` if the compression is unknown.
    """
    import pyarrow as pa

    if not pa.Codec.is_available(compression):
        raise ValueError(f"pyarrow was built without the compression {compression!r}")
    store, name = _store(folder, storage_options)
    if store.exists(name) and (not store.isdir(name) or store.ls(name)):
        advice = "give a folder that is empty or does not exist"
        raise FileExistsError(f"{folder} is not empty: {advice}")
    store.makedirs(f"{name}/{_EVENTS}", exist_ok=True)


def end_parts(folder: str, storage_options: Mapping[str, Any]) -> None:
    """Marks the folder as complete."""
    store, name = _store(folder, storage_options)
    store.pipe_file(f"{name}/{_SUCCESS}", b"")


def write_part(
    folder: str,
    storage_options: Mapping[str, Any],
    splits: Sequence[Split],
    sources: Mapping[str, Any],
    options: Mapping[str, Any],
    columns: Any,
    compression: str,
) -> dict[str, int]:
    """Scans splits into a Parquet file with these columns, and their events into JSON lines.

    `sources` are fsspec's options for the input files, `storage_options` for the folder. The names
    are derived from the splits, so a repeated task replaces its own file. Returns the numbers of
    files, records and events.
    """
    import pyarrow as pa
    import pyarrow.parquet

    if not splits:
        return {"files": 0, "records": 0, "events": 0}
    store, name = _store(folder, storage_options)
    places = json.dumps([(split.path, split.start, split.end) for split in splits])
    part = "part-" + hashlib.sha256(places.encode()).hexdigest()[:20]
    records = 0
    events: list[str] = []
    with warnings.catch_warnings(), _complete(store, name, f"{name}/{part}.parquet") as file:
        # Warnings are written to the file of events.
        warnings.simplefilter("ignore")
        with pyarrow.parquet.ParquetWriter(file, columns, compression=compression) as writer:
            group: list[Any] = []
            for found in scan_splits(splits, sources, options):
                for batch in pa.RecordBatchReader.from_stream(found):
                    pairs = zip(batch.columns, columns)
                    cast = [column.cast(field.type) for column, field in pairs]
                    group.append(pa.RecordBatch.from_arrays(cast, schema=columns))
                    records += len(batch)
                    if _ROW_GROUP_ROWS <= sum(map(len, group)):
                        writer.write_table(pa.Table.from_batches(group))
                        group = []
                events += (json.dumps(event) + "\n" for event in found.events)
            writer.write_table(pa.Table.from_batches(group, columns))
    if events:
        with _complete(store, name, f"{name}/{_EVENTS}/{part}.jsonl") as file:
            file.write("".join(events).encode())
    return {"files": 1, "records": records, "events": len(events)}


@contextlib.contextmanager
def _complete(store: Any, folder: str, name: str) -> Iterator[Any]:
    """Opens a file under a temporary name. It gets its own name when it is complete."""
    # Another attempt at the same task may run at the same time.
    unfinished = f"{folder}/_{uuid.uuid4().hex}"
    try:
        with store.open(unfinished, "wb") as file:
            yield file
        store.mv(unfinished, name)
    except BaseException:
        with contextlib.suppress(OSError):
            store.rm(unfinished)
        raise


def _store(folder: str, storage_options: Mapping[str, Any]) -> tuple[Any, str]:
    import fsspec

    place = folder if "://" in folder else os.path.abspath(folder)
    store, name = fsspec.core.url_to_fs(place, **storage_options)
    return store, name.rstrip("/")
