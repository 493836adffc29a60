"""Types of records, for type checkers. The fields are described in docs/record.md."""

from __future__ import annotations

from typing import Any, Optional, Protocol, TypedDict


class BinaryFile(Protocol):
    """A seekable binary file object."""

    def seek(self, offset: int, whence: int = ..., /) -> Any: ...

    def read(self, size: int = ..., /) -> bytes: ...


class Url(TypedDict):
    """A URL in a text."""

    url: str
    fragment: Optional[str]
    start: int
    end: int
    wrapper: str
    repairs: list[str]
    confidence: float


class GrammarError(TypedDict):
    """The reason why RFC 1738 rejects a URL."""

    offset: int
    part: str
    kind: str
    message: str


class Part(TypedDict):
    """A part of a URL, with its name in the grammar."""

    name: str
    value: str


class Alternate(TypedDict):
    """Another reading of the same place."""

    url: str
    fragment: Optional[str]
    why: str
    confidence: float


class Source(TypedDict):
    """The place of a URL in the input."""

    path: str
    path_b64: Optional[str]
    mailbox: str
    mailbox_b64: Optional[str]
    member: Optional[list[str]]
    member_b64: Optional[list[str]]
    kind: str
    start: int
    end: int
    line: int
    exact: bool


class HeaderField(TypedDict):
    """A header field requested by `header_fields`."""

    name: str
    value: str


Message = TypedDict(
    "Message",
    {
        "start": int,
        "end": int,
        "id": Optional[str],
        "digest": str,
        "date": Optional[str],
        "year": Optional[int],
        "date_raw": Optional[str],
        "from": Optional[str],
        "subject": Optional[str],
        "newsgroups": list[str],
        "list_id": Optional[str],
        "references": list[str],
        "fields": Optional[list[HeaderField]],
    },
)
"""The message that contains a URL."""


Author = TypedDict(
    "Author",
    {
        "from": Optional[str],
        "subject": Optional[str],
        "date": Optional[str],
        "message_id": Optional[str],
        "by": str,
    },
)
"""The innermost message that holds a URL."""


class MimePart(TypedDict):
    """The MIME part that contains a URL."""

    path: str
    type: str
    charset: Optional[str]
    encoding: str
    message_id: Optional[str]
    member: Optional[list[str]]


class Context(TypedDict):
    """The text around a URL."""

    before: str
    after: str


class Record(TypedDict):
    """The record of a URL."""

    schema: int
    type: str
    id: str
    url: str
    fragment: Optional[str]
    scheme: str
    host: Optional[str]
    domain: Optional[str]
    port: Optional[int]
    path: Optional[str]
    query: Optional[str]
    key: Optional[str]
    href: Optional[str]
    conforms: list[str]
    error: Optional[GrammarError]
    warnings: list[str]
    hazards: list[str]
    form: Optional[str]
    parts: list[Part]
    wrapper: str
    raw: str
    raw_b64: Optional[str]
    repairs: list[str]
    alternates: list[Alternate]
    confidence: float
    truncated: bool
    full_length: Optional[int]
    full_hash: Optional[str]
    region: str
    quote_depth: int
    anchor: Optional[str]
    mismatch: Optional[bool]
    unwrapped_from: Optional[str]
    unwrapped_by: Optional[str]
    source: Source
    message: Message
    author: Author
    part: Optional[MimePart]
    context: Optional[Context]
    truncated_tail: bool
    count: Optional[int]


class EventSource(TypedDict):
    """The place of an event."""

    path: str
    path_b64: Optional[str]
    member: Optional[list[str]]
    member_b64: Optional[list[str]]
    start: Optional[int]
    end: Optional[int]


class Event(TypedDict):
    """A limit, damage, or skipped input."""

    type: str
    kind: str
    source: EventSource
    message: str
