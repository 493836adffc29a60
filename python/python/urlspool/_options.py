"""Keyword options: their names and types."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike, fspath
from typing import Any, Literal, TypedDict, Union, get_args

StrPath = Union[str, "PathLike[str]"]
Rules = Literal["wide", "rfc1738"]
Grammar = Literal["rfc1738", "rfc3986", "whatwg"]
Attachments = Literal["none", "text", "all"]
Schemeless = Literal["off", "on", "paths"]
Kind = Literal["auto", "mbox", "maildir", "mh", "news", "rnews", "mmdf", "babyl", "message", "text"]
Unique = Literal["none", "message", "run"]
Hazard = Literal[
    "odd-port",
    "encoded-control",
    "password",
    "numeric-host",
    "userinfo-like-host",
    "zero-width",
    "mixed-script",
    "latin-lookalike",
    "mismatch",
]


class ExtractOptions(TypedDict, total=False):
    """Options of `urls`, `extract`, `scan` and `scan_stream`.

    `urlspool scan --help` and `urlspool generate man urlspool.toml` describe them.
    """

    rules: Rules
    """`wide` (the default) or `rfc1738`."""
    accept: Grammar | Sequence[Grammar]
    """Grammars, one of which must accept a URL: `rfc1738`, `rfc3986`, `whatwg`."""
    schemes: str | Sequence[str]
    """Schemes of the URLs to report."""
    extra_schemes: str | Sequence[str]
    """Additional schemes to find without `//`."""
    header_fields: str | Sequence[str]
    """Header fields of the message to list in `message.fields` of its records."""
    context: int
    """Bytes of the text before and after each URL."""
    no_header_urls: bool
    no_html: bool
    attachments: Attachments
    """`none`, `text` or `all` (the default)."""
    schemeless: Schemeless
    """`off`, `on` (the default) or `paths`."""
    strip_recipient: bool
    limits: Mapping[str, int | str]
    """Limits by name."""
    config: StrPath
    """A configuration file, which the other options override."""


class RecordOptions(ExtractOptions, total=False):
    """Options of `extract`, `scan_stream` and `scan`."""

    fields: str | Sequence[str]
    """Fields of the records, such as `source.path`. Fewer fields take less time."""
    slim: bool


class StreamOptions(RecordOptions, total=False):
    """Options of `scan_stream` and `scan`."""

    host: str | Sequence[str]
    """Hosts of the URLs to report."""
    domain: str | Sequence[str]
    """Domains of the URLs to report, including the hosts below them."""
    region: str | Sequence[str]
    """Regions of the URLs to report, as in the field `region`.

    `header` and `html` include all regions that start with them.
    """
    mismatch: bool
    """Report only links whose text names another host."""
    exclude_domains: str | Sequence[str]
    """Domains whose URLs are skipped, including the hosts below them.

    A name with a `/` is a file that lists domains.
    """
    hazard: Hazard | Sequence[Hazard]
    """Hazards, one of which a reported URL must have, as in the field `hazards`."""
    list: str | Sequence[str]
    """Mailing lists, by the name in List-Id, and newsgroups whose messages are read."""
    kind: Kind
    """`auto` (the default), or the kind of all files, such as `mbox`, `maildir` or `text`."""
    since: str | int
    """A year, a month, a day or a time, in UTC. Messages without a date are read."""
    until: str | int
    evidence: StrPath
    """A file of records or URLs, one per line, used as evidence to join broken URLs.

    `scan` also accepts `self`, which reads the input twice.
    """
    unique: Unique
    """`none` (the default), `message` or `run`."""
    threads: int
    """Number of threads; by default one per core."""
    strict: bool
    """Raise `ScanError` at the first event."""


class ScanOptions(StreamOptions, total=False):
    """Options of `scan`."""

    include: str | Sequence[str]
    exclude: str | Sequence[str]
    follow_links: bool
    absolute: bool
    """Write absolute paths into the records."""


_LISTS = frozenset(
    [
        "accept",
        "schemes",
        "extra_schemes",
        "header_fields",
        "fields",
        "host",
        "domain",
        "exclude_domains",
        "region",
        "hazard",
        "list",
    ]
)
_REPEATED = frozenset(["include", "exclude"])
_NUMBERS = frozenset(["context", "threads"])
_DATES = frozenset(["since", "until"])
_VALUES = {
    "rules": get_args(Rules),
    "accept": get_args(Grammar),
    "attachments": get_args(Attachments),
    "schemeless": get_args(Schemeless),
    "kind": get_args(Kind),
    "unique": get_args(Unique),
    "hazard": get_args(Hazard),
}
_TYPES: list[tuple[Iterable[str], tuple[type, ...], str]] = [
    (_NUMBERS, (int,), "an int"),
    (_DATES, (str, int), "a str or an int"),
    (["rules", "attachments", "schemeless", "kind", "unique"], (str,), "a str"),
    (["config", "evidence"], (str, PathLike), "a str or os.PathLike"),
]
"""Options with one value, the types of the value, and the name of the types in messages."""


def texts_of(
    options: Mapping[str, Any], allowed: type[Any]
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Checks the names and types of options, and returns them with their values as texts.

    A flag that is set has no text.

    >>> texts_of({"rules": "rfc1738", "no_html": True, "include": ["*.eml", "*.mbox"]}, ScanOptions)
    (('rules', ('rfc1738',)), ('no_html', ()), ('include', ('*.eml', '*.mbox')))
    >>> texts_of({"schemes": "ftp,http"}, ScanOptions)
    (('schemes', ('ftp', 'http')),)
    """
    # Includes inherited options.
    known = allowed.__annotations__
    for name in options:
        if name not in known:
            raise TypeError(f"unknown option {name!r}; the options are {', '.join(sorted(known))}")
    given = [(name, _texts(name, value)) for name, value in options.items() if value is not None]
    return tuple((name, texts) for name, texts in given if texts is not None)


def options_of_texts(texts: Mapping[str, str]) -> dict[str, Any]:
    """Returns options that are given as texts, as Spark does.

    >>> options_of_texts({"context": "80", "no_html": "true", "limits": "url_bytes=999,depth=3"})
    {'context': 80, 'no_html': True, 'limits': {'url_bytes': '999', 'depth': '3'}}
    """
    return {name: _value_of_text(name, text) for name, text in texts.items()}


def _value_of_text(name: str, text: str) -> Any:
    if name in _NUMBERS:
        return int(text)
    if name == "limits":
        return dict(setting.split("=", 1) for setting in text.split(","))
    has_text = any(name in names for names in (_LISTS, _REPEATED, *(row[0] for row in _TYPES)))
    if has_text or name not in ScanOptions.__annotations__:
        return text
    if text.lower() not in ("true", "false"):
        raise ValueError(f"{name} must be true or false, not {text!r}")
    return text.lower() == "true"


def _texts(name: str, value: Any) -> tuple[str, ...] | None:
    """Returns the texts of an option; `None` for a flag that is not set."""
    if name == "limits":
        if not isinstance(value, Mapping):
            raise _wrong_type(name, "a mapping of names to values", value)
        return tuple(f"{limit}={size}" for limit, size in value.items())
    if name in _REPEATED:
        return tuple(_items(name, value))
    if name in _LISTS:
        # A text may be a comma-separated list.
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
    """Returns a line for each option, with its name and values, for a function's documentation.

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
            takes = {
                "limits": "a dict of names to values",
                "config": "a path",
                "evidence": "a path",
            }.get(name, "a bool")
        lines.append(f"      {name}: {takes}")
    return "\n".join(lines) + "\n    "


def _items(name: str, value: object) -> list[str]:
    if isinstance(value, str):
        items: list[Any] = [value]
    elif isinstance(value, (bytes, bytearray)):
        raise _wrong_type(name, "a str or a list of them", value)
    elif isinstance(value, (list, tuple, set, frozenset, Sequence)):
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
