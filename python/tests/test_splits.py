"""Plans of splits, and their scans through fsspec."""

from __future__ import annotations

import io
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import urlspool
from conftest import mailbox
from urlspool._splits import (
    LEAST_TASKS, Split, _evidence, check_options, grouped, plan, scan_splits, with_content)


def test_an_mbox_is_divided_and_other_files_are_not(folder: Path) -> None:
    (folder / "sub").mkdir()
    (folder / "sub" / "d.mbox").write_bytes(mailbox(1000))
    splits = plan(folder, size=50_000)
    assert [Path(split.path).name for split in splits[:3]] == ["a.mbox", "b.mbox.gz", "c.txt"]
    parts = [split for split in splits if split.path.endswith("d.mbox")]
    assert len(parts) > 5
    assert [part.start for part in parts[1:]] == [part.end for part in parts[:-1]]
    found = [record["id"] for records in scan_splits(splits, None, {}) for record in records]
    whole = [record["id"] for record in urlspool.scan(folder)]
    assert len(found) == len(whole) and sorted(found) == sorted(whole)


def test_an_mbox_with_content_length_is_one_split(tmp_path: Path) -> None:
    message = (b"From x Mon Jan  1 00:00:00 1996\nSubject: a\nContent-Length: 18\n\n"
               b"http://a.example/\n\n")
    (tmp_path / "a").write_bytes(message * 1000)
    [split] = plan(tmp_path, size=10_000)
    assert (split.start, split.end) == (0, len(message) * 1000)


def test_unfinished_messages_of_a_maildir_are_not_planned(tmp_path: Path) -> None:
    for place in ("cur", "new", "tmp"):
        (tmp_path / "box" / place).mkdir(parents=True)
        (tmp_path / "box" / place / place).write_bytes(mailbox(1))
    (tmp_path / "tmp").mkdir()
    (tmp_path / "tmp" / "a").write_bytes(mailbox(1))
    assert [Path(split.path).name for split in plan(tmp_path)] == ["cur", "new", "a"]
    fsspec = pytest.importorskip("fsspec")
    store = fsspec.filesystem("memory")
    for name in ("box/cur/cur", "box/tmp/tmp", "tmp/a"):
        store.pipe_file(f"/maildir/{name}", mailbox(1))
    assert [split.path.rpartition("/")[2] for split in plan("memory://maildir")] == ["cur", "a"]
    store.rm("/maildir", recursive=True)


def test_small_files_share_tasks(tmp_path: Path) -> None:
    for number in range(500):
        (tmp_path / f"{number}").write_bytes(b"http://a.example/\n")
    splits = plan(tmp_path)
    assert len(splits) == 500
    groups = grouped(splits, 128 << 20)
    assert len(groups) == LEAST_TASKS
    assert sorted(split for group in groups for split in group) == sorted(splits)
    assert len(grouped(splits, 128 << 20, groups=7)) == 7
    assert grouped([], 128 << 20) == []


def test_splits_share_evidence_that_is_read_once(tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_bytes(b"Subject: x\n\nhttp://a.example/lamp\nwick burns and the oil\n")
    for name in ("lampwick", "lampshade"):
        (tmp_path / name).write_text(f"http://a.example/{name}\n")
    options = [with_content({"evidence": tmp_path / name}, None)
               for name in ("lampwick", "lampshade")]

    def urls(number: int) -> list[str]:
        # Each task has a copy of the content.
        given = {"evidence": bytes(bytearray(options[number % 2]["evidence"]))}
        return [record["url"] for records in scan_splits(plan(broken) * 3, None, given)
                for record in records]

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(urls, range(64)))
    assert found == [["http://a.example/lampwick"] * 3, ["http://a.example/lamp"] * 3] * 32
    _evidence.cache_clear()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(urls, [0] * 64))
    assert _evidence.cache_info().misses == 1


def test_evidence_that_splits_cannot_use_is_refused_on_the_driver(tmp_path: Path) -> None:
    for name in ("self", Path("self")):
        with pytest.raises(ValueError, match="twice"):
            check_options({"evidence": name})
    for content, reason in ((b"SQLite format 3\0...", "evidence is a database"),
                            (b"", "evidence is empty")):
        (tmp_path / "evidence").write_bytes(content)
        with pytest.raises(ValueError, match=reason):
            with_content({"evidence": tmp_path / "evidence"}, None)
    with pytest.raises(ValueError, match="line 1 is neither a record nor a URL"):
        next(scan_splits([Split("/dev/null", 0, 0)], None, {"evidence": b"a table"}))
    (tmp_path / "evidence").write_bytes(b"SQLite format 3\0")
    with pytest.raises(OSError, match="starts a database"):
        urlspool.scan_stream(io.BytesIO(b""), evidence=tmp_path / "evidence")


def test_options_are_checked_before_workers_start() -> None:
    check_options({"rules": "rfc1738"})
    with pytest.raises(ValueError, match="within a split"):
        check_options({"unique": "run"})
    with pytest.raises(TypeError, match="unknown option"):
        check_options({"include": "x"})


def test_urls_of_fsspec_are_listed_and_read() -> None:
    fsspec = pytest.importorskip("fsspec")
    memory = fsspec.filesystem("memory")
    data = mailbox(500)
    memory.pipe("/mail/a.mbox", data)
    splits = plan("memory://mail", size=20_000)
    assert len(splits) > 3 and splits[0].path.startswith("memory://")
    found = [record["id"] for records in scan_splits(splits, None, {}) for record in records]
    assert found == [record["id"] for record in urlspool.scan_stream(io.BytesIO(data))]


def test_splits_are_values() -> None:
    assert Split("a", 0, 1) == Split("a", 0, 1)
