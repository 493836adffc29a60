#!/usr/bin/env python3
"""Rates of `urlspool.extract`, of a regex over Python's `email`, and of urlextract, on the same messages.

usage: python_rates.py MESSAGES [--rounds N] [--score-gold PROGRAM]

MESSAGES is a folder of messages, one in each file. All finders read the same bytes in the same process, in turns; the fastest round
counts, in processor time. With PROGRAM, which scores a finder against labelled messages, each finder is scored as well.
Exits with 1 if `extract` is less than 8 times as fast as the regex, or less than 50 times as fast as urlextract.

Needs the package urlspool, and urlextract (`pip install urlextract`; without it the exit code is 77).
"""

from __future__ import annotations

import argparse
import email
import email.message
import functools
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator

import urlspool

Finder = Callable[[bytes], "list[str]"]

REGEX = re.compile(r"""(?:https?|ftp|gopher|telnet|wais|nntp|file)://[^\s<>"]+|(?:mailto|news):[^\s<>"]+|www\.[^\s<>"]+""", re.I)


def texts(message: bytes) -> Iterator[str]:
    """The header fields and the decoded text parts of a message."""
    parsed = email.message_from_bytes(message)
    yield from map(str, parsed.values())
    for part in parsed.walk():
        if part.get_content_maintype() == "text":
            body = part.get_payload(decode=True)
            charset = part.get_content_charset("latin-1")
            try:
                yield body.decode(charset, "replace")  # type: ignore[union-attr]
            except LookupError:
                yield body.decode("latin-1")  # type: ignore[union-attr]


def by_regex(message: bytes) -> list[str]:
    return [url.rstrip(".,;:!?)]}'") for text in texts(message) for url in REGEX.findall(text)]


@functools.lru_cache(maxsize=None)
def url_extract() -> object:
    from urlextract import URLExtract

    return URLExtract()


def by_urlextract(message: bytes) -> list[str]:
    finder = url_extract()
    return [url for text in texts(message) for url in finder.find_urls(text)]  # type: ignore[attr-defined]


def full_url(record: dict[str, object]) -> str:
    fragment = record["fragment"]
    return f"{record['url']}" if fragment is None else f"{record['url']}#{fragment}"


def by_records(message: bytes) -> list[str]:
    return [full_url(record) for record in urlspool.extract(message) if record["unwrapped_from"] is None]


def by_fields(message: bytes) -> list[str]:
    records = urlspool.extract(message, fields=("url", "fragment", "unwrapped_from"))
    return [full_url(record) for record in records if record["unwrapped_from"] is None]


FINDERS: dict[str, Finder] = {
    "extract": by_records,
    "extract-fields": by_fields,
    "regex": by_regex,
    "urlextract": by_urlextract,
}
"""In the order of the turns. The last two read the texts that `email` decodes."""


def best_times(messages: list[bytes], rounds: int) -> dict[str, float]:
    """Seconds of processor time of the fastest round of each finder. urlextract takes one turn in ten."""
    best = dict.fromkeys(FINDERS, float("inf"))
    for turn in range(rounds):
        for name, find in FINDERS.items():
            if name == "urlextract" and turn % 10:
                continue
            begun = time.process_time()
            for message in messages:
                find(message)
            best[name] = min(best[name], time.process_time() - begun)
    return best


def print_records(name: str, kind: str, folder: pathlib.Path) -> None:
    """Prints what a finder finds, as lines that the scoring program reads."""
    find = FINDERS[name]
    for path in sorted(folder.iterdir()):
        content = path.read_bytes()
        # A text has no header.
        message = b"Content-Type: text/plain; charset=utf-8\n\n" + content if kind == "text" else content
        for url in find(message):
            url, _, fragment = url.partition("#")
            print(json.dumps({"url": url, "fragment": fragment or None, "source": {"path": str(path)}}))


def score(name: str, program: str) -> str:
    """Recall and precision of a finder by the scoring program, which runs it as a command."""
    with tempfile.TemporaryDirectory() as folder:
        command = pathlib.Path(folder, "finder")
        arguments = [sys.executable, str(pathlib.Path(__file__).resolve()), "--finder", name]
        command.write_text(f'#!/bin/sh\nexec {shlex.join(arguments)} "$@"\n')
        command.chmod(0o755)
        scored = subprocess.run([sys.executable, program, str(command)], capture_output=True, check=True, text=True)
    result = json.loads(scored.stdout)
    return f"recall {result['recall']:.3f}, precision {result['precision']:.3f}, F1 {result['f1']:.3f}"


def main() -> int:
    if sys.argv[1:2] == ["--finder"]:
        _, _, name, _, _, kind, folder = sys.argv
        print_records(name, kind, pathlib.Path(folder))
        return 0
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("messages", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--score-gold", metavar="PROGRAM")
    options = parser.parse_args()
    try:
        url_extract()
    except ImportError:
        print("SKIPPED: urlextract is not installed")
        return 77
    messages = [path.read_bytes() for path in sorted(options.messages.iterdir())]
    size = sum(map(len, messages))
    print(f"{len(messages)} messages, {size} bytes, {options.rounds} rounds")
    best = best_times(messages, options.rounds)
    for name, find in FINDERS.items():
        found = sum(len(find(message)) for message in messages)
        rate = f"{best[name] * 1e3:8.1f} ms {size / best[name] / 1e6:7.2f} MB/s {found:5} URLs"
        print(f"{name:15} {rate}", f"  {score(name, options.score_gold)}" if options.score_gold else "")
    failed = 0
    for name, least in (("regex", 8), ("urlextract", 50)):
        for ours in ("extract", "extract-fields"):
            times = best[name] / best[ours]
            print(f"{ours} is {times:.1f} times as fast as {name}")
            failed += ours == "extract" and times < least
    print(f"{2 - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
