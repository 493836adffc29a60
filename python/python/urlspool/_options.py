"""Keyword options as the command line has them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, TypedDict, Union

StrPath = Union[str, "PathLike[str]"]


class ExtractOptions(TypedDict, total=False):
    """Options of `urls`, `extract`, `scan` and `scan_stream`; `urlspool scan --help` describes each."""

    rules: str
    """`wide` (the default) or `rfc1738`."""
    accept: str | Sequence[str]
    """Grammars, one of which must accept a URL: `rfc1738`, `rfc3986`, `whatwg`."""
    schemes: str | Sequence[str]
    """Schemes of the URLs to report."""
    extra_schemes: str | Sequence[str]
    """Further schemes that need no `//`."""
    header_fields: str | Sequence[str]
    """Header fields of the message that `message.fields` of its records lists."""
    context: int
    """Bytes of the text before and after each URL."""
    no_header_urls: bool
    no_html: bool
    attachments: str
    """`none`, `text` or `all` (the default)."""
    no_schemeless: bool
    strip_recipient: bool
    limit: Mapping[str, int | str]
    """Limits by their names."""
    config: StrPath
    """A configuration file, which the other options override."""


class RecordOptions(ExtractOptions, total=False):
    """Options of `extract`, `scan_stream` and `scan`."""

    fields: str | Sequence[str]
    """Fields of the records, dotted: `source.path`. Without the others, records are made in less time."""
    slim: bool


class StreamOptions(RecordOptions, total=False):
    """Options of `scan_stream` and `scan`."""

    host: str | Sequence[str]
    """Hosts of the URLs to report."""
    domain: str | Sequence[str]
    """Domains of the URLs to report, with the hosts beneath them."""
    region: str | Sequence[str]
    """Regions of the URLs to report, as the field `region` has them; `header` and `html` stand for all that begin so."""
    mismatch: bool
    """Only links whose text names another host than the link has."""
    hazard: str | Sequence[str]
    """Hazards of which a URL has one, as the field `hazards` has them."""
    list: str | Sequence[str]
    """Mailing lists, by the name in List-Id, and newsgroups of the messages to read."""
    kind: str
    """`auto` (the default), `mbox`, `maildir`, `mh`, `news`, `rnews`, `mmdf`, `babyl`, `message` or `text`."""
    since: str | int
    """A year, a month, a day or a time, in UTC; messages without a date are read."""
    until: str | int
    unique: str
    """`none` (the default), `message` or `run`."""
    threads: int
    """Number of threads; one for each core by default."""
    strict: bool
    """Raise `ScanError` at the first event."""


class ScanOptions(StreamOptions, total=False):
    """Options of `scan`."""

    include: str | Sequence[str]
    exclude: str | Sequence[str]
    follow: bool
    absolute: bool
    """Absolute paths in the records."""


_LISTS = frozenset(["accept", "schemes", "extra_schemes", "header_fields", "fields", "host", "domain", "region", "hazard", "list"])
_REPEATED = frozenset(["include", "exclude"])


def arguments(options: Mapping[str, Any], allowed: type[Any]) -> list[str]:
    """Returns options as arguments of the command line.

    >>> arguments({"rules": "rfc1738", "no_html": True, "include": ["*.eml", "*.mbox"]}, ScanOptions)
    ['--rules=rfc1738', '--no-html', '--include=*.eml', '--include=*.mbox']
    """
    # Those that it inherits are in it too.
    known = allowed.__annotations__
    found: list[str] = []
    for name, value in options.items():
        if name not in known:
            raise TypeError(f"unknown option {name!r}; the options are {', '.join(sorted(known))}")
        flag = "--" + name.replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            found.append(flag)
        elif name == "limit":
            found.extend(f"{flag}={limit}={size}" for limit, size in value.items())
        elif name in _REPEATED:
            found.extend(f"{flag}={item}" for item in _items(value))
        elif name in _LISTS:
            found.append(f"{flag}={','.join(_items(value))}")
        else:
            found.append(f"{flag}={value}")
    return found


def _items(value: str | Iterable[str]) -> list[str]:
    return [value] if isinstance(value, str) else list(value)
