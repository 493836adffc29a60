"""Mailboxes for the tests."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


def program(*arguments: object, **options: Any) -> subprocess.CompletedProcess[bytes]:
    """Runs the program urlspool, which `URLSPOOL_PROGRAM` names; without it the test is skipped."""
    found = os.environ.get("URLSPOOL_PROGRAM")
    if found is None:
        pytest.skip("URLSPOOL_PROGRAM does not name the program")
    return subprocess.run([found, *map(str, arguments)], capture_output=True,
                          check=False, timeout=60, **options)


def mailbox(messages: int, body_lines: int = 3) -> bytes:
    """An mbox with two URLs in each message; message `n` has `n % 7` times as many lines."""
    parts = []
    for number in range(messages):
        lines = "no address in this line of text\n" * (body_lines * (number % 7))
        parts.append(
            "From a@b.example Mon Jan  1 00:00:00 1996\nFrom: a@b.example\n"
            f"Message-ID: <{number}@b.example>\n"
            f"Date: Mon, 01 Jan {1990 + number % 9} 00:00:00 GMT\nSubject: caf\u00e9 {number}\n\n"
            f"see <URL:http://a.example/\n{number}#f> and ftp://b.example/%7Ec/{number}.\n{lines}\n"
        )
    return "".join(parts).encode()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with an mbox, a compressed one and a text."""
    import gzip

    (tmp_path / "a.mbox").write_bytes(mailbox(50))
    (tmp_path / "b.mbox.gz").write_bytes(gzip.compress(mailbox(20)))
    (tmp_path / "c.txt").write_bytes(b"http://a.example/ in \xff text\n")
    return tmp_path


@pytest.fixture(scope="session")
def mail(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an mbox, a compressed one, and one that is cut off."""
    import gzip

    folder = tmp_path_factory.mktemp("mail")
    (folder / "a.mbox").write_bytes(mailbox(3000))
    (folder / "b.gz").write_bytes(gzip.compress(mailbox(100)))
    (folder / "c.gz").write_bytes(gzip.compress(mailbox(100))[:500])
    return folder


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    sql = pytest.importorskip("pyspark.sql", reason="Spark is not installed")
    os.environ.update(SPARK_LOCAL_IP="127.0.0.1", PYSPARK_PYTHON=sys.executable)
    builder = sql.SparkSession.builder.master(os.environ.get("URLSPOOL_SPARK_MASTER", "local[2]"))
    for key, value in {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "4",
        "spark.sql.parquet.compression.codec": "zstd",
    }.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    yield session
    session.stop()
