"""Scans with Dask.

    import urlspool.dask
    frame = urlspool.dask.scan("s3://bucket/usenet", {"schemes": ["http"]})
    frame.host.value_counts().nlargest(20).compute()
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from ._options import StrPath
from ._splits import DEFAULT_SIZE, Split, check_options, grouped, plan, scan_splits, with_content


def scan(
    roots: StrPath | Iterable[StrPath],
    options: Mapping[str, Any] | None = None,
    *,
    split_size: int = DEFAULT_SIZE,
    partitions: int | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> Any:
    """Prepares a scan of the files below `roots`, as a Dask DataFrame.

    `split_size` is the size in bytes of the ranges that mboxes are divided into. `partitions` is
    the number of tasks, by default one per `split_size` bytes, or 200 for many small files.
    `options` are the options of `urlspool.scan_stream`. Unreadable input causes a `ScanWarning` on
    the worker, or an exception with `strict=True`.
    """
    import dask.dataframe

    given = {"threads": 1, **(options or {})}
    check_options(given)
    given = with_content(given, storage_options)
    splits = plan(roots, split_size, storage_options) or [_NO_MAIL]
    dataframe: Any = dask.dataframe
    return dataframe.from_map(
        _frame,
        grouped(splits, split_size, partitions),
        options=given,
        storage_options=dict(storage_options or {}),
        meta=_frame([_NO_MAIL], {**given, "evidence": None}, {}),
    )


_NO_MAIL = Split(os.devnull, 0, 0)


def _frame(
    splits: Iterable[Split], options: Mapping[str, Any], storage_options: Mapping[str, Any]
) -> Any:
    import pandas
    import pyarrow as pa

    tables = [pa.table(records) for records in scan_splits(splits, storage_options, options)]
    return pa.concat_tables(tables).to_pandas(types_mapper=pandas.ArrowDtype)
