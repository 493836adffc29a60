"""Plans of splits, and their scans through fsspec."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
import urlspool
from conftest import mailbox
from urlspool._splits import LEAST_TASKS, Split, check_options, grouped, plan, scan_splits


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
    message = b"From x Mon Jan  1 00:00:00 1996\nSubject: a\nContent-Length: 18\n\nhttp://a.example/\n\n"
    (tmp_path / "a").write_bytes(message * 1000)
    assert [(split.start, split.end) for split in plan(tmp_path, size=10_000)] == [(0, len(message) * 1000)]


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
    assert len(groups) == LEAST_TASKS and sorted(split for group in groups for split in group) == sorted(splits)
    assert len(grouped(splits, 128 << 20, groups=7)) == 7
    assert grouped([], 128 << 20) == []


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
