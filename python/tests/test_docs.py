"""The cells of the documentation run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def cells(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """The cells of the page, in a folder where they find the corpus."""
    pytest.importorskip("pyarrow")
    (tmp_path / "corpus").symlink_to(ROOT / "corpus")
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "python.md").read_text()
    found = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    assert len(found) == 5 and "matplotlib" in found[-1]
    return found


def run(cells: list[str]) -> dict[str, Any]:
    names: dict[str, Any] = {}
    for cell in cells:
        exec(compile(cell, "docs/python.md", "exec"), names)
    return names


def test_the_cells_of_the_page_run(cells: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    names = run(cells[:-1])
    assert names["count"] > 10 and names["years"]
    assert re.search(r"^(19|20)\d\d \S+ \d+$", capsys.readouterr().out, flags=re.MULTILINE)


def test_the_plot_of_the_page_is_drawn(cells: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.setenv("MPLBACKEND", "agg")
    run(cells)
    assert Path("hosts.png").stat().st_size > 10_000
