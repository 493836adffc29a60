"""Scans with Dask.

    import urlspool.dask
    frame = urlspool.dask.scan("s3://bucket/usenet", {"schemes": ["http"]})
    frame.host.value_counts().nlargest(20).compute()
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ._options import StrPath
from ._splits import DEFAULT_SIZE, Split, check_options, plan, scan_splits


def scan(
    roots: StrPath | Iterable[StrPath],
    options: Mapping[str, Any] | None = None,
    *,
    split_size: int = DEFAULT_SIZE,
    storage_options: Mapping[str, Any] | None = None,
) -> Any:
    """Prepares a scan of the files beneath `roots`, as a Dask DataFrame with one partition for each split.

    `options` are those of `urlspool.scan_stream`. Input that cannot be read is a `ScanWarning` on the worker; with
    `strict=True` it is an exception.
    """
    import dask.dataframe

    given = {"threads": 1, **(options or {})}
    check_options(given)
    splits = plan(roots, split_size, storage_options) or [Split("/dev/null", 0, 0)]
    dataframe: Any = dask.dataframe
    return dataframe.from_map(
        _frame,
        splits,
        options=given,
        storage_options=dict(storage_options or {}),
        meta=_frame(Split("/dev/null", 0, 0), given, {}),
    )


def _frame(split: Split, options: Mapping[str, Any], storage_options: Mapping[str, Any]) -> Any:
    import pandas
    import pyarrow as pa

    [table] = [pa.table(records) for records in scan_splits([split], storage_options, options)]
    return table.to_pandas(types_mapper=pandas.ArrowDtype)
