"""The functions of the package."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

from . import _urlspool
from ._options import (
    ExtractOptions,
    RecordOptions,
    ScanOptions,
    StreamOptions,
    StrPath,
    described,
    texts_of,
)
from .records import Record, Url

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._urlspool import ArrowSchema, Records
    from .records import BinaryFile


@lru_cache(maxsize=64)
def _extractor(options: tuple[tuple[str, tuple[str, ...]], ...]) -> _urlspool.Extractor:
    return _urlspool.Extractor(options)


_DEFAULT = _extractor(())


def _prepared(options: Mapping[str, Any], allowed: type[Any]) -> _urlspool.Extractor:
    if not options:
        return _DEFAULT
    return _extractor(texts_of(options, allowed))


def _bytes(value: Any, expected: str) -> bytes:
    if isinstance(value, bytes):
        return value
    try:
        return memoryview(value).tobytes()
    except TypeError:
        raise TypeError(f"{expected}, not {type(value).__name__}") from None


def _path(value: Any) -> str:
    if isinstance(value, (str, os.PathLike)):
        path = os.fspath(value)
        if isinstance(path, str):
            return path
    way_out = "; os.fsdecode makes a str of it" if isinstance(value, bytes) else ""
    raise TypeError(f"a path must be str or os.PathLike, not {type(value).__name__}{way_out}")


def urls(text: str | bytes, **options: Unpack[ExtractOptions]) -> list[Url]:
    r"""Finds the URLs in a text.

    Offsets in a `str` count characters (code points), offsets in `bytes` count bytes.

    >>> [url] = urls("caf\u00e9: http://a.example/x.")
    >>> url["url"], url["start"], url["end"]
    ('http://a.example/x', 6, 24)
    >>> urls("caf\u00e9: http://a.example/x.".encode())[0]["start"]
    7
    >>> [url["url"] for url in urls("www.a.example, http://b.example/", schemeless="off")]
    ['http://b.example/']
    """
    extractor = _prepared(options, ExtractOptions)
    if isinstance(text, str):
        try:
            return extractor.urls_of_str(text)
        except UnicodeEncodeError:
            # Surrogates from `open(..., errors="surrogateescape")` count as one character each.
            return extractor.urls_of_str(text.encode("utf-8", "replace").decode("utf-8"))
    return extractor.urls_of_bytes(_bytes(text, "text must be str or bytes"))


def extract(
    message: bytes, *, path: StrPath = "", **options: Unpack[RecordOptions]
) -> list[Record]:
    r"""Finds the URLs in a mail message or news article that starts with its header.

    Returns records like those of `urlspool scan`, with `path` as their `source.path`.

    >>> [record] = extract(b"Subject: a\n\nsee http://a.example/%7Eb\n")
    >>> record["url"], record["key"], record["message"]["subject"], record["source"]["start"]
    ('http://a.example/%7Eb', 'http://a.example/~b', 'a', 16)

    With `fields`, records contain only these fields, which takes less than half the time:

    >>> extract(b"Subject: a\n\nsee http://a.example/%7Eb\n", fields=["url", "source.start"])
    [{'url': 'http://a.example/%7Eb', 'source': {'start': 16}}]
    """
    return _prepared(options, RecordOptions).extract(
        _bytes(message, "message must be bytes"), _path(path)
    )


def explain(input: bytes, **options: Unpack[ExtractOptions]) -> dict[str, Any]:
    r"""Explains a message, a mailbox or a text like `urlspool explain`.

    Returns the format and, for each message, the header, the parts and the candidates for URLs,
    each with its byte range and its outcome.

    >>> [message] = explain(b"see <URL:http://a.example/x\n y> and http://www.exam..")["messages"]
    >>> url, refused = message["candidates"]
    >>> url["text"], [repair["name"] for repair in url["outcome"]["accepted"]["repairs"]]
    ('http://a.example/xy', ['line-break'])
    >>> refused["start"], refused["outcome"]["rejected"]["name"]
    (36, 'shortened')
    """
    explained = _prepared(options, ExtractOptions).explain(_bytes(input, "input must be bytes"))
    return cast("dict[str, Any]", json.loads(explained))


def parse(url: str, *, fragment: bool = False) -> dict[str, Any]:
    """Parses a URL by RFC 1738 and the other grammars, like `urlspool parse`.

    With `fragment`, the text after the first `#` is split off first.

    >>> reading = parse("ftp://a.example/b;type=i")
    >>> reading["ok"], reading["form"], reading["conforms"]
    (True, 'ftpurl', ['rfc1738', 'rfc3986', 'whatwg'])
    >>> parse("http://a.example/~b")["error"]["part"]
    'path'
    """
    if not isinstance(url, str):
        raise TypeError(f"url must be str, not {type(url).__name__}")
    return cast("dict[str, Any]", json.loads(_urlspool.parse(url, fragment)))


def scan(paths: StrPath | Iterable[StrPath], **options: Unpack[ScanOptions]) -> Records:
    """Scans files and folders: mailboxes, spools, compressed files, archives.

    The records can be taken once, in the order of the input: as dictionaries by iteration, or as
    Arrow record batches by any library that supports the Arrow PyCapsule interface. The scan runs
    in the background, on all cores.

    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> mail = "From x Mon Jan  1 00:00:00 1996\\nSubject: a\\n\\nhttp://a.example/\\n"
    >>> written = (folder / "a.mbox").write_text(mail)
    >>> [record["url"] for record in scan(folder)]
    ['http://a.example/']
    >>> records = scan([folder / "a.mbox"], fields=["url", "source.start"], accept="rfc1738")
    >>> next(records)
    {'url': 'http://a.example/', 'source': {'start': 44}}

    Unreadable input is skipped with a `ScanWarning`; `events` of the result lists it with its path
    and offset. With `strict=True` it raises `ScanError`. A path that does not exist raises
    `FileNotFoundError`.
    """
    if hasattr(paths, "read"):
        raise TypeError(
            f"paths must be a path or several, not {type(paths).__name__}; "
            "scan_stream reads an open file"
        )
    if isinstance(paths, (str, bytes, os.PathLike)) or not isinstance(paths, Iterable):
        found = [_path(paths)]
    else:
        found = [_path(name) for name in paths]
    for name in found:
        os.stat(name)
    if not found:
        raise ValueError("paths is empty; name a file or folder")
    # `-` would mean standard input.
    found = ["./-" if name == "-" else name for name in found]
    return _urlspool.scan(found, texts_of(options, ScanOptions))


def scan_stream(
    file: BinaryFile,
    *,
    start: int = 0,
    end: int | None = None,
    path: StrPath | None = None,
    **options: Unpack[StreamOptions],
) -> Records:
    r"""Scans the messages of a seekable file object that start at `start` or later, before `end`.

    `file` must have `seek` and `read`, like files of fsspec, pyarrow or `open(path, "rb")`. For an
    mbox, only the range, the rest of its last message and 64 KiB are read. Any other file is read
    as a whole by the range that starts at 0. `path` is the `source.path` of the records; by
    default, the name of the file.

    >>> import io
    >>> mail = b"From x Mon Jan  1 00:00:00 1996\nSubject: a\n\nhttp://%d.example/\n\n"
    >>> box = b"".join(mail % n for n in range(4))
    >>> half = len(box) // 2
    >>> [record["url"] for record in scan_stream(io.BytesIO(box), start=half)]
    ['http://2.example/', 'http://3.example/']
    """
    for method in ("seek", "read"):
        if not hasattr(file, method):
            kind = type(file).__name__
            raise TypeError(f"file must be a binary file object, but {kind} has no {method}")
    if isinstance(file, io.TextIOBase):
        raise TypeError('file must be in binary mode; open it with "rb"')
    for bound, offset in (("start", start), ("end", end)):
        if not isinstance(offset, int) and not (bound == "end" and offset is None):
            raise TypeError(f"{bound} must be an int, not {type(offset).__name__}")
    if start < 0 or (end is not None and end < start):
        raise ValueError("start must not be negative, and end not less than start")
    if path is None:
        name = getattr(file, "name", None) or getattr(file, "path", None)
        path = name if isinstance(name, (str, os.PathLike)) else ""
    return _urlspool.scan_stream(file, _path(path), start, end, texts_of(options, StreamOptions))


def schema(fields: Sequence[str] | None = None) -> ArrowSchema:
    """Returns the Arrow schema of records, for libraries with the Arrow PyCapsule interface.

    >>> import pyarrow
    >>> pyarrow.schema(schema(["url", "message.date"])).names
    ['url', 'message']
    """
    return _urlspool.ArrowSchema(None if fields is None else list(fields))


# `help(urlspool.scan)` lists the options.
for _function, _options in [
    (urls, ExtractOptions),
    (explain, ExtractOptions),
    (extract, RecordOptions),
    (scan, ScanOptions),
    (scan_stream, StreamOptions),
]:
    if _function.__doc__ is not None:
        _function.__doc__ = f"{_function.__doc__.rstrip()}\n\n{described(_options)}"
