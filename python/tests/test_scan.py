"""Scans of files and folders."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest
import urlspool
from conftest import mailbox, program


def test_records_are_those_of_the_program(folder: Path) -> None:
    lines = program("scan", folder).stdout.splitlines()
    assert len(lines) == 2 * 70 + 1
    assert list(urlspool.scan(folder)) == [json.loads(line) for line in lines]
    lines = program("scan", "--fields", "slim", folder).stdout.splitlines()
    slim = [json.loads(line) for line in lines]
    assert list(urlspool.scan([str(folder)], slim=True, threads=1)) == slim


def test_options_choose_files_messages_and_fields(folder: Path) -> None:
    found = list(urlspool.scan(folder, include="*.mbox", since=1991,
                               until="1991-06", fields=["url", "message"]))
    assert len(found) == 2 * 6
    assert {record["message"]["date"][:4] for record in found} == {"1991"}  # type: ignore[index]
    assert set(found[0]) == {"url", "message"}
    # An option takes the place of a comma-separated list.
    assert len(list(urlspool.scan(folder, exclude=["*.mbox", "*.gz"], fields="url,host"))) == 1
    hosts = {str(record["host"]) for record in urlspool.scan(folder, fields="host")
             if record["host"]}
    host = sorted(hosts)[0]
    assert {record["host"] for record in urlspool.scan(folder, host=host, fields="host")} == {host}
    scanned = urlspool.scan(folder, domain=sorted(hosts), fields="host")
    assert {record["host"] for record in scanned} == hosts


def test_filters_choose_regions_hazards_and_lists(folder: Path,
                                                  monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "list.eml").write_text(
        "From: a@b.example\nSubject: http://a.example/\nList-Id: <x.example>\n"
        "Content-Type: text/html\n\n"
        '<a href="http://evil.example:99/">http://bank.example/</a>\n'
    )

    def urls(**options: object) -> list[str]:
        records = urlspool.scan(folder, list="X.example", fields="url", **options)  # type: ignore
        return sorted(str(record["url"]) for record in records)

    assert urls() == ["http://a.example/", "http://bank.example/", "http://evil.example:99/"]
    assert urls(region=["header"]) == ["http://a.example/"]
    found = urls(hazard=["odd-port", "password"])
    assert urls(mismatch=True) == found == ["http://evil.example:99/"]
    with pytest.raises(ValueError, match="footers"):
        urls(region="footers")
    monkeypatch.chdir(folder)
    scanned = urlspool.scan("list.eml", absolute=True)
    [path] = {record["source"]["path"] for record in scanned}  # type: ignore
    assert path == str(folder / "list.eml")


def test_summary_and_events_are_there_at_the_end(folder: Path) -> None:
    (folder / "broken.gz").write_bytes((folder / "b.mbox.gz").read_bytes()[:200])
    records = urlspool.scan(folder)
    with pytest.warns(urlspool.ScanWarning, match=r"broken\.gz"):
        count = sum(1 for _ in records)
    summary = records.summary
    assert summary is not None and summary["files"] == 4
    assert count >= summary["records"]  # type: ignore[operator]
    [event] = [event for event in records.events if "broken" in event["source"]["path"]]
    assert event["kind"] == "damage" and event["message"]
    assert records.more_events == 0


def test_strict_raises_an_exception_with_path_and_offset(folder: Path) -> None:
    (folder / "a.gz").write_bytes((folder / "b.mbox.gz").read_bytes()[:200])
    with pytest.raises(urlspool.ScanError, match="damage") as raised:
        list(urlspool.scan(folder, strict=True))
    assert raised.value.path == str(folder / "a.gz")
    assert raised.value.kind == "damage"
    assert raised.value.offset is None or raised.value.offset >= 0


def test_a_path_that_does_not_exist_is_an_error_at_once(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as raised:
        urlspool.scan([tmp_path / "none"])
    assert raised.value.filename == str(tmp_path / "none")
    with pytest.raises(ValueError, match="empty"):
        urlspool.scan([])


def test_paths_that_look_like_options_are_paths(tmp_path: Path,
                                                monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ["-", "--help", "-j"]:
        Path(name).write_text("http://a.example/\n")
        assert len(list(urlspool.scan(name))) == 1


def test_paths_that_are_not_utf8_are_read(tmp_path: Path) -> None:
    name = os.fsdecode(os.fsencode(tmp_path) + b"/\xff.txt")
    Path(name).write_text("http://a.example/\n")
    [record] = urlspool.scan(name)
    assert record["source"]["path_b64"] is not None


def test_a_scan_can_be_closed_and_is_taken_once(folder: Path) -> None:
    with urlspool.scan(folder) as records:
        next(records)
    assert list(records) == []
    records = urlspool.scan(folder)
    assert iter(records) is records
    next(records)
    with pytest.raises(RuntimeError, match="dictionaries"):
        records.__arrow_c_stream__()


def test_threads_may_take_the_records_of_one_scan_in_turn(tmp_path: Path) -> None:
    path = tmp_path / "a.mbox"
    path.write_bytes(mailbox(5000))
    records, taken, refused = urlspool.scan(path, threads=2), [0, 0], [0, 0]

    def take(number: int) -> None:
        while True:
            try:
                next(records)
                taken[number] += 1
            except StopIteration:
                return
            except RuntimeError:
                # Another thread waits for the next batch.
                refused[number] += 1
                time.sleep(0.001)

    threads = [threading.Thread(target=take, args=[number]) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    assert sum(taken) == 10_000


@pytest.mark.parametrize("take",
                         ["for record in records: pass", "import pyarrow; pyarrow.table(records)"])
def test_an_interrupt_ends_a_scan(tmp_path: Path, take: str) -> None:
    if "pyarrow" in take:
        pytest.importorskip("pyarrow")
    # A pipe without an end: the scan waits for more.
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    program = textwrap.dedent(
        f"""
        import urlspool
        records = urlspool.scan({str(pipe)!r})
        print("ready", flush=True)
        try:
            {take}
        except BaseException as error:
            print(type(error).__name__)
            raise
        """
    )
    process = subprocess.Popen([sys.executable, "-c", program],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with open(pipe, "wb", buffering=0) as writer:
        writer.write(mailbox(3))
        assert process.stdout is not None and process.stdout.readline() == b"ready\n"
        time.sleep(1.0)
        begun = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=20)
        assert time.monotonic() - begun < 10
    assert b"KeyboardInterrupt" in errors
    assert process.returncode != 0


@pytest.mark.parametrize(
    "taken_by",
    ["pyarrow: pyarrow.table(records)", "polars: polars.DataFrame(records)",
     "duckdb: duckdb.sql('from records').fetchall()"],
)
def test_an_interrupt_ends_a_table_of_a_scan_that_never_waits(tmp_path: Path,
                                                              taken_by: str) -> None:
    module, _, take = taken_by.partition(": ")
    pytest.importorskip(module)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    # A program that continues after errors, such as an unreadable file, also ends.
    program = textwrap.dedent(
        f"""
        import {module}, urlspool
        records = urlspool.scan({str(pipe)!r}, fields='url')
        try:
            {take}
        except Exception as error:
            assert 'unprintable' not in str(error)
        for _ in range(10):
            pass
        """
    )
    process = subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.PIPE)
    mails = mailbox(2_000)
    taken = 0
    seconds = None
    try:
        with open(pipe, "wb", buffering=0) as writer:
            begun = time.monotonic()
            while time.monotonic() - begun < 30:
                if seconds is None and begun + 3 < time.monotonic():
                    process.send_signal(signal.SIGINT)
                    seconds = time.monotonic()
                taken += writer.write(mails)
    except BrokenPipeError:
        pass
    assert seconds is not None and time.monotonic() - seconds < 5
    assert len(mails) < taken
    _, errors = process.communicate(timeout=20)
    assert errors.splitlines()[-1] == b"KeyboardInterrupt" and process.returncode != 0
    assert b"Exception ignored" not in errors
