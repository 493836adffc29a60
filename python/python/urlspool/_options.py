"""Keyword options: their names and types."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike, fspath
from typing import Any, Literal, TypedDict, Union, get_args

StrPath = Union[str, "PathLike[str]"]
Rules = Literal["wide", "rfc1738"]
Grammar = Literal["rfc1738", "rfc3986", "whatwg"]
Attachments = Literal["none", "text", "all"]
Kind = Literal["auto", "mbox", "maildir", "mh", "news", "rnews", "mmdf", "babyl", "message", "text"]
Unique = Literal["none", "message", "run"]
Hazard = Literal[
    "odd-port", "encoded-control", "password", "numeric-host", "userinfo-like-host", "zero-width", "mixed-script", "mismatch"
]


class ExtractOptions(TypedDict, total=False):
    """Options of `urls`, `extract`, `scan` and `scan_stream`; `urlspool scan --help` describes each."""

    rules: Rules
    """`wide` (the default) or `rfc1738`."""
    accept: Grammar | Sequence[Grammar]
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
    attachments: Attachments
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
    hazard: Hazard | Sequence[Hazard]
    """Hazards of which a URL has one, as the field `hazards` has them."""
    list: str | Sequence[str]
    """Mailing lists, by the name in List-Id, and newsgroups of the messages to read."""
    kind: Kind
    """`auto` (the default), `mbox`, `maildir`, `mh`, `news`, `rnews`, `mmdf`, `babyl`, `message` or `text`."""
    since: str | int
    """A year, a month, a day or a time, in UTC; messages without a date are read."""
    until: str | int
    evidence: StrPath
    """A file of records or of URLs, one a line, by which broken URLs are joined too; for `scan` also `self`: the input is read twice."""
    unique: Unique
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
_NUMBERS = frozenset(["context", "threads"])
_DATES = frozenset(["since", "until"])
_VALUES = {
    "rules": get_args(Rules),
    "accept": get_args(Grammar),
    "attachments": get_args(Attachments),
    "kind": get_args(Kind),
    "unique": get_args(Unique),
    "hazard": get_args(Hazard),
}
_TYPES: list[tuple[Iterable[str], tuple[type, ...], str]] = [
    (_NUMBERS, (int,), "an int"),
    (_DATES, (str, int), "a str or an int"),
    (["rules", "attachments", "kind", "unique"], (str,), "a str"),
    (["config", "evidence"], (str, PathLike), "a str or os.PathLike"),
]
"""Options that take one value, the types of the value, and their names in a message."""


def texts_of(options: Mapping[str, Any], allowed: type[Any]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Returns options with their values as texts, after a check of their names and types. A flag that is set has no text.

    >>> texts_of({"rules": "rfc1738", "no_html": True, "include": ["*.eml", "*.mbox"], "schemes": "ftp,http"}, ScanOptions)
    (('rules', ('rfc1738',)), ('no_html', ()), ('include', ('*.eml', '*.mbox')), ('schemes', ('ftp', 'http')))
    """
    # Those that it inherits are in it too.
    known = allowed.__annotations__
    for name in options:
        if name not in known:
            raise TypeError(f"unknown option {name!r}; the options are {', '.join(sorted(known))}")
    given = [(name, _texts(name, value)) for name, value in options.items() if value is not None]
    return tuple((name, texts) for name, texts in given if texts is not None)


def _texts(name: str, value: Any) -> tuple[str, ...] | None:
    """Returns the texts of an option, `None` for a flag that is not set."""
    if name == "limit":
        if not isinstance(value, Mapping):
            raise _wrong_type(name, "a mapping of names to values", value)
        return tuple(f"{limit}={size}" for limit, size in value.items())
    if name in _REPEATED:
        return tuple(_items(name, value))
    if name in _LISTS:
        # A text may be a list with commas.
        return tuple(part for item in _items(name, value) for part in item.split(","))
    for names, types, wanted in _TYPES:
        if name in names:
            if not isinstance(value, types) or isinstance(value, bool):
                raise _wrong_type(name, wanted, value)
            return (fspath(value) if isinstance(value, PathLike) else str(value),)
    if not isinstance(value, bool):
        raise _wrong_type(name, "a bool", value)
    return () if value else None


def described(allowed: type[Any]) -> str:
    """Returns the names of options with the values that each takes, one a line, for the documentation of a function.

    >>> [line] = [line for line in described(StreamOptions).splitlines() if "unique" in line]
    >>> line.strip()
    "unique: 'none', 'message' or 'run'"
    """
    lines = ["    Options, of which `urlspool scan --help` says more:", ""]
    for name in allowed.__annotations__:
        values = _VALUES.get(name)
        if values is not None:
            takes = ", ".join(map(repr, values[:-1])) + f" or {values[-1]!r}"
            if name in _LISTS:
                takes += ", or a list of them"
        elif name in _LISTS | _REPEATED:
            takes = "a str or a list of them"
        elif name in _NUMBERS:
            takes = "an int"
        elif name in _DATES:
            takes = "a str or an int"
        else:
            takes = {"limit": "a dict of names to values", "config": "a path", "evidence": "a path"}.get(name, "a bool")
        lines.append(f"      {name}: {takes}")
    return "\n".join(lines) + "\n    "


def _items(name: str, value: object) -> list[str]:
    if isinstance(value, str):
        items: list[Any] = [value]
    elif isinstance(value, (list, tuple, set, frozenset, Sequence)) and not isinstance(value, (bytes, bytearray)):
        items = list(value)
    else:
        raise _wrong_type(name, "a str or a list of them", value)
    if not items:
        raise ValueError(f"{name} is empty; leave it out for everything")
    for item in items:
        if not isinstance(item, str):
            raise _wrong_type(f"an item of {name}", "a str", item)
    return items


def _wrong_type(name: str, wanted: str, value: object) -> TypeError:
    return TypeError(f"{name} must be {wanted}, not {type(value).__name__}")
