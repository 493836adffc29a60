"""The cells of the documentation run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_the_cells_of_the_page_run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pyarrow")
    page = (ROOT / "docs" / "python.md").read_text()
    cells = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    assert len(cells) == 4
    monkeypatch.chdir(ROOT)
    names: dict[str, Any] = {}
    for cell in cells:
        exec(compile(cell, "docs/python.md", "exec"), names)
    assert names["count"] > 10 and names["years"]
    assert re.search(r"^(19|20)\d\d \S+ \d+$", capsys.readouterr().out, flags=re.MULTILINE)
