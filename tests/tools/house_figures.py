#!/usr/bin/env python3
"""Prints the size of the code in src/: lines, files, types, public items, imports, long functions.

    tests/tools/house_figures.py [ROOT]

Lines of code are lines outside tests that hold more than a comment. Tests are files named `tests.rs` or below a folder
`tests/`, and modules behind `#[cfg(test)]`. The public items are
those that docs.rs lists, from the pages in target/doc: run `cargo doc --no-deps` first.
"""

import os
import pathlib
import re
import signal
import sys

TYPE = re.compile(r"^\s*(?:pub(?:\([^)]*\))?\s+)?(?:struct|enum|trait|union)\s+[A-Z]\w*", re.M)
PUBLIC = re.compile(r"^\s*pub\s+(?:const\s+fn|fn|struct|enum|trait|const|static|type|mod|use)\b", re.M)
FUNCTION = re.compile(r"^(\s*)(?:pub(?:\([^)]*\))?\s+)?(?:const\s+)?fn\s+(\w+)")
LISTED = re.compile(r'<li><a href="(?:[\w-]+/)*(?:struct|enum|trait|fn|constant|type|macro|static)\.')


def without_comments(text):
    """Returns the text with comments blanked and the content of strings kept, line by line."""
    out, at, end = [], 0, len(text)
    while at < end:
        two = text[at : at + 2]
        if two == "//":
            stop = text.find("\n", at)
            at = end if stop < 0 else stop
        elif two == "/*":
            depth, at = 1, at + 2
            while at < end and depth:
                if text.startswith("/*", at):
                    depth, at = depth + 1, at + 2
                elif text.startswith("*/", at):
                    depth, at = depth - 1, at + 2
                else:
                    out.append("\n" if text[at] == "\n" else "")
                    at += 1
        elif (raw := re.compile(r'b?r(#*)"').match(text, at)) and not text[at - 1 : at].isalnum():
            close = text.find('"' + raw[1], raw.end())
            stop = end if close < 0 else close + 1 + len(raw[1])
            out.append(text[at:stop])
            at = stop
        elif text[at] == '"':
            stop = at + 1
            while stop < end and text[stop] != '"':
                stop += 2 if text[stop] == "\\" else 1
            out.append(text[at : stop + 1])
            at = stop + 1
        elif char := re.compile(r"'(?:\\.[^']*|[^\\'])'").match(text, at):
            out.append(char[0])
            at = char.end()
        else:
            out.append(text[at])
            at += 1
    return "".join(out)


def without_tests(code):
    """Returns the code without the items behind `#[cfg(test)]`."""
    kept, lines, at = [], code.split("\n"), 0
    while at < len(lines):
        if re.match(r"\s*#\[cfg\((?:all\()?test\b", lines[at]):
            depth, seen = 0, False
            at += 1
            while at < len(lines):
                bare = re.sub(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])\'', "", lines[at])
                depth += bare.count("{") - bare.count("}")
                seen = seen or "{" in bare
                at += 1
                if (seen and depth <= 0) or (not seen and bare.rstrip().endswith(";")):
                    break
        else:
            kept.append(lines[at])
            at += 1
    return "\n".join(kept)


def function_lengths(code):
    """Yields the name and the number of lines of each function."""
    lines = code.split("\n")
    for at, line in enumerate(lines):
        if found := FUNCTION.match(line):
            for stop in range(at, len(lines)):
                if lines[stop].startswith(found[1] + "}") or (stop == at and line.rstrip().endswith((";", "}"))):
                    yield found[2], stop - at + 1
                    break


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    files = sorted((root / "src").rglob("*.rs"))
    if not files:
        sys.exit(f"no sources below {root / 'src'}")
    lines = imports = types = public = short = 0
    rooms, functions, code_files = {}, [], 0
    for path in files:
        if path.name == "tests.rs" or "tests" in path.relative_to(root).parts[:-1]:
            continue
        code = without_tests(without_comments(path.read_text()))
        held = [line for line in code.split("\n") if line.strip()]
        code_files += 1
        lines += len(held)
        short += len(held) < 60
        inside = False
        for line in held:
            starts = re.match(r"(?:pub(?:\([^)]*\))?\s+)?(?:use|mod)\b", line)
            if starts or inside:
                imports += 1
                inside = ";" not in line and "{" not in line.replace("::{", "") or (inside or "::{" in line) and ";" not in line
        types += len(TYPE.findall(code))
        public += len(PUBLIC.findall(code))
        room = path.relative_to(root / "src").parts[0].removesuffix(".rs")
        count = rooms.setdefault(room, [0, 0])
        count[0] += 1
        count[1] += len(held)
        functions += [(length, f"{path.relative_to(root)}: {name}") for name, length in function_lengths(code)]
    print(f"lines of code       {lines}")
    print(f"files               {code_files} ({len(files)} with tests); {short} under 60 lines")
    print(f"types               {types}")
    print(f"pub items           {public}")
    print(f"use and mod         {imports} lines, {100 * imports / lines:.1f} %")
    docs = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", root / "target")) / "doc" / "urlspool"
    if docs.is_dir():
        print(f"items in the docs   {len(LISTED.findall((docs / 'all.html').read_text()))}")
    else:
        print("items in the docs   not counted: no target/doc/urlspool; run `cargo doc --no-deps`")
    for length, name in sorted(functions, reverse=True)[:5]:
        print(f"longest function    {length:4} lines  {name}")
    for room, (count, held) in sorted(rooms.items(), key=lambda item: -item[1][1]):
        print(f"{room:12} {count:4} files {held:6} lines")


if __name__ == "__main__":
    # A reader such as `head` that closes the pipe ends the program without a traceback.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    main()
