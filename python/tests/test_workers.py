"""Scans in worker processes, forked and spawned."""

from __future__ import annotations

import multiprocessing
import os
from pathlib import Path

import pytest
import urlspool


def work(path: str) -> list[str]:
    ids = [record["id"] for record in urlspool.scan(path)]
    assert urlspool.urls("http://a.example/") and urlspool.extract(b"A: b\n\nhttp://a.example/\n")
    return ids


@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_workers_give_the_same_records(folder: Path, method: str) -> None:
    # The parent has used its threads before.
    expected = work(str(folder))
    with multiprocessing.get_context(method).Pool(2) as pool:
        results = pool.map_async(work, [str(folder)] * 4).get(timeout=120)
    assert results == [expected] * 4


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_scan_that_was_started_before_a_fork_says_so(folder: Path) -> None:
    records = urlspool.scan(folder)
    child = os.fork()
    if child == 0:
        try:
            next(records)
        except RuntimeError as error:
            os._exit(0 if "fork" in str(error) else 2)
        os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    assert len(list(records)) == 141
