#!/usr/bin/env python3
"""Scores what tools find in the fixtures of corpus/.

    benches/accuracy/score.py [--program URLSPOOL] [--tool NAME=COMMAND]... [--folder FOLDER]...

FOLDER is `mail`, `news` or `text`. The reference is corpus/EXPECTED.tsv, the URLs that a careful
reader finds there. A COMMAND runs once for each file, with the path as its last argument, and
prints one URL on each line. urlextract and iocextract are scored if Python can import them (`pip
install urlextract iocextract`). They and `grep` read the raw bytes of the file, since none of them
parses mail. A URL counts as found, once for each file, if it is equal without its fragment."""

import argparse
import importlib
import importlib.metadata
import json
import shlex
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

CORPUS = Path(__file__).resolve().parents[2] / "corpus"
PATTERN = r"(https?|ftp|gopher|news|nntp|telnet|wais|file|mailto)://?[^[:space:]<>\"]+"
Finder = Callable[[Path], "set[str]"]


def expected(folders: list[str]) -> dict[str, set[str]]:
    """Returns the URLs of each fixture in these folders."""
    found: dict[str, set[str]] = defaultdict(set)
    for line in (CORPUS / "EXPECTED.tsv").read_text(encoding="utf-8").splitlines():
        cells = line.split("\t")
        if not line.startswith("# ") and 2 <= len(cells) and cells[0].split("/")[0] in folders:
            if (CORPUS / cells[0]).is_file():
                found[cells[0]].add(cells[1].partition("#")[0])
    return found


def lines_of(command: list[str]) -> Finder:
    def find(path: Path) -> set[str]:
        done = subprocess.run(
            [*command, path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=60
        )
        lines = (line.strip() for line in done.stdout.decode("utf-8", "replace").splitlines())
        return {line.partition("#")[0] for line in lines if line}

    return find


def urlspool(program: str) -> Finder:
    def find(path: Path) -> set[str]:
        command = [program, "scan", "--fields", "url", path]
        done = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=60
        )
        return {json.loads(line)["url"] for line in done.stdout.splitlines()}

    return find


def python_tools() -> Iterator[tuple[str, Finder]]:
    # urlextract accepts only registered top-level domains, and `example` is not registered.
    def text(path: Path) -> str:
        return path.read_bytes().decode("utf-8", "replace").replace(".example", ".com")

    def urls_of(found: "set[str]") -> "set[str]":
        return {url.partition("#")[0] for url in found}

    for name in ("urlextract", "iocextract"):
        try:
            module = importlib.import_module(name)
        except ImportError as error:
            print(f"SKIPPED: {name}: {error}", file=sys.stderr)
            continue
        if name == "urlextract":
            extractor = module.URLExtract()
            find: Callable[[str], set[str]] = lambda text, extractor=extractor: set(
                extractor.find_urls(text)
            )  # noqa: E731
        else:
            find = lambda text, module=module: set(module.extract_urls(text))  # noqa: E731
        label = f"{name} {importlib.metadata.version(name)}"
        yield label, lambda path, find=find: urls_of(find(text(path)))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--program", default="target/release/urlspool")
    parser.add_argument("--tool", action="append", default=[], metavar="NAME=COMMAND")
    parser.add_argument("--folder", action="append", choices=["mail", "news", "text"])
    arguments = parser.parse_args()
    wanted = expected(arguments.folder or ["mail", "news", "text"])
    if not wanted:
        print("score.py: corpus/EXPECTED.tsv names no URL here", file=sys.stderr)
        return 1
    version = subprocess.run(
        [arguments.program, "--version"], check=True, stdout=subprocess.PIPE, text=True
    ).stdout.split()[1]
    tools: list[tuple[str, Finder]] = [(f"urlspool {version}", urlspool(arguments.program))]
    tools.append(("grep -aoE with nine schemes", lines_of(["grep", "-aoE", "-e", PATTERN, "--"])))
    tools += python_tools()
    for tool in arguments.tool:
        name, _, command = tool.partition("=")
        tools.append((name, lines_of(shlex.split(command))))
    total = sum(map(len, wanted.values()))
    print(f"{total} URLs in {len(wanted)} files\n")
    print("| tool | found | of all | reported | of them right |\n|---|---|---|---|---|")
    for name, find in tools:
        right = reported = 0
        for path, urls in wanted.items():
            found = {url.replace(".example", ".com") for url in find(CORPUS / path)}
            right += len(found & {url.replace(".example", ".com") for url in urls})
            reported += len(found)
        print(
            f"| {name} | {right} | {right / total:.1%} | {reported} "
            f"| {right / max(1, reported):.1%} |",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
