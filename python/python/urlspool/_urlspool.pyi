"""The native module."""

from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import final

from .records import BinaryFile, Event, Record, Url

__all__ = [
    "ArrowSchema",
    "Evidence",
    "Extractor",
    "Records",
    "ScanError",
    "ScanWarning",
    "__version__",
    "is_splittable",
    "parse",
    "scan",
    "scan_stream",
]

_Keywords = Sequence[tuple[str, Sequence[str]]]

__version__: str

class ScanError(Exception):
    """An input could not be read as a whole."""

    path: str
    offset: int | None
    kind: str

class ScanWarning(UserWarning):
    """An input could not be read as a whole."""

@final
class ArrowSchema:
    """The Arrow schema of records."""

    def __new__(cls, fields: list[str] | None) -> ArrowSchema: ...
    def __arrow_c_schema__(self) -> object: ...

@final
class Records:
    """The records of a scan, which can be taken once."""

    def __iter__(self) -> Iterator[Record]: ...
    def __next__(self) -> Record: ...
    def __enter__(self) -> Records: ...
    def __exit__(
        self,
        exception_type: type[BaseException] | None,
        exception: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> None: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def close(self) -> None:
        """Ends the scan."""
    @property
    def events(self) -> list[Event]:
        """Limits, damage and skipped input so far: the first 10,000 events."""
    @property
    def more_events(self) -> int:
        """The number of further events."""
    @property
    def summary(self) -> dict[str, object] | None:
        """The counts of the whole scan, once it has ended."""

@final
class Evidence:
    """Evidence for joins, shared by the scans of a process."""

    def __new__(cls, content: bytes, options: _Keywords) -> Evidence: ...

@final
class Extractor:
    """Prepared options, for many texts and messages."""

    def __new__(cls, options: _Keywords) -> Extractor: ...
    def urls_of_str(self, text: str) -> list[Url]: ...
    def urls_of_bytes(self, text: bytes) -> list[Url]: ...
    def explain(self, input: bytes) -> str: ...
    def extract(self, message: bytes, path: str) -> list[Record]: ...

def parse(url: str, fragment: bool) -> str: ...
def scan(paths: list[str], options: _Keywords) -> Records: ...
def scan_stream(
    file: BinaryFile,
    path: str,
    start: int,
    end: int | None,
    options: _Keywords,
    evidence: Evidence | None = None,
) -> Records: ...
def is_splittable(start: bytes) -> bool: ...
