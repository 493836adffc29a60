"""Record batches in the libraries that take them."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pytest
import urlspool
from conftest import program

pa = pytest.importorskip("pyarrow")


def plain(record: dict[str, Any]) -> dict[str, Any]:
    """A record from JSON with its dates as Arrow has them."""
    for holder in record["message"], record["author"]:
        date = holder["date"]
        if date is not None:
            holder["date"] = datetime.datetime.fromisoformat(date.replace("Z", "+00:00"))
    return record


def test_a_table_holds_the_records(folder: Path) -> None:
    table = pa.table(urlspool.scan(folder))
    assert table.num_rows == 141
    table.validate(full=True)
    assert table.to_pylist() == [plain(dict(record)) for record in urlspool.scan(folder)]


def test_the_schema_is_the_one_that_the_program_prints(folder: Path) -> None:
    expected = eval(program("generate", "schema", "--format", "arrow").stdout, {"pa": pa})
    assert pa.schema(urlspool.schema()).equals(expected)
    assert pa.table(urlspool.scan(folder)).schema.equals(expected)


def test_types_of_dictionaries_have_the_fields_of_the_schema() -> None:
    from urlspool import records

    types = {
        "": records.Record,
        "error": records.GrammarError,
        "parts": records.Part,
        "alternates": records.Alternate,
        "source": records.Source,
        "message": records.Message,
        "part": records.MimePart,
        "context": records.Context,
    }
    schema = pa.schema(urlspool.schema())
    assert list(types[""].__annotations__) == schema.names
    for name, annotated in types.items():
        if name:
            field = schema.field(name).type
            field = field.value_type if pa.types.is_list(field) else field
            assert list(annotated.__annotations__) == [child.name for child in field]


def test_chosen_fields_are_the_columns(folder: Path) -> None:
    names = ["source.start", "url", "message.date"]
    table = pa.table(urlspool.scan(folder, fields=names))
    assert table.schema.equals(pa.schema(urlspool.schema(names)))
    assert table.schema.names == ["url", "source", "message"]
    with pytest.raises(ValueError, match="nothing"):
        urlspool.schema(["nothing"])


def test_no_records_are_an_empty_table(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("no address\n")
    table = pa.table(urlspool.scan(tmp_path))
    assert table.num_rows == 0 and table.num_columns == len(pa.schema(urlspool.schema()))


def test_batches_are_read_as_a_stream(folder: Path) -> None:
    reader = pa.RecordBatchReader.from_stream(urlspool.scan(folder))
    assert sum(batch.num_rows for batch in reader) == 141


def test_records_are_taken_once(folder: Path) -> None:
    records = urlspool.scan(folder)
    pa.table(records)
    with pytest.raises(RuntimeError, match="start another scan"):
        pa.table(records)
    assert list(records) == []


def test_an_event_of_a_strict_scan_is_an_error_of_the_table(folder: Path) -> None:
    (folder / "a.gz").write_bytes((folder / "b.mbox.gz").read_bytes()[:200])
    with pytest.raises(Exception, match=r"a\.gz.*damage"):
        pa.table(urlspool.scan(folder, strict=True))


def test_an_exception_of_a_file_is_an_error_of_the_table() -> None:
    class Broken:
        def seek(self, offset: int, whence: int = 0) -> int:
            return 100

        def read(self, size: int = -1) -> bytes:
            raise ConnectionResetError("the store is gone")

    with pytest.raises(Exception, match="the store is gone"):
        pa.table(urlspool.scan_stream(Broken()))


def test_polars_takes_the_records(folder: Path) -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(urlspool.scan(folder))
    assert frame.height == 141
    assert frame["url"].to_list() == [record["url"] for record in urlspool.scan(folder)]


def test_pandas_takes_the_records(folder: Path) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame.from_arrow(urlspool.scan(folder, fields=["url", "host"]))
    assert len(frame) == 141 and list(frame.columns) == ["url", "host"]


def test_duckdb_takes_the_records(folder: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    records = urlspool.scan(folder)
    [[count, first]] = duckdb.sql(
        "select count(*), year(min(message.date)) from records").fetchall()
    assert (count, first) == (141, 1990)
