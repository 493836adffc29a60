#!/usr/bin/env python3
"""Prints the size of the code, the limits of `budget.toml`, and the remaining lines. The exit code
is 1 if a limit is exceeded.

    tests/tools/house_figures.py [ROOT]

Lines of code are lines outside tests, in `src`, `crates` and `python/src`, that are neither blank
nor only a comment. Tests are files named `tests.rs`, files below a folder `tests/`, and items
behind `#[cfg(test)]`. All lines of test files count.
"""

import collections, pathlib, re, signal, sys

try:
    import tomllib
except ModuleNotFoundError:
    print("SKIPPED: Python 3.11 is needed")
    sys.exit(77)

TYPE = re.compile(r"^\s*(?:pub(?:\([^)]*\))?\s+)?(?:struct|enum|trait|union)\s+[A-Z]\w*", re.M)
FEATURE = re.compile(r"cfg(?:_attr)?!?\(.*feature\s*=")
CLOSURE = re.compile(r"^\s*let (?:mut )?\w+\s*=\s*(?:move )?\|", re.M)


def without_comments(text, keeps_strings=True):
    """Returns the text without comments, and without strings if asked. Line numbers stay."""
    out, at, end = [], 0, len(text)

    def put(literal):
        out.append(literal if keeps_strings else "\n" * literal.count("\n"))

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
            put(text[at:stop])
            at = stop
        elif text[at] == '"':
            stop = at + 1
            while stop < end and text[stop] != '"':
                stop += 2 if text[stop] == "\\" else 1
            put(text[at : stop + 1])
            at = stop + 1
        elif char := re.compile(r"'(?:\\.[^']*|[^\\'])'").match(text, at):
            put(char[0])
            at = char.end()
        else:
            out.append(text[at])
            at += 1
    return "".join(out)


def without_tests(code):
    """Returns code without comments, minus the items behind `#[cfg(test)]`."""
    kept, lines, at = [], code.split("\n"), 0
    # A string may span several lines and contain braces.
    bare_lines = without_comments(code, keeps_strings=False).split("\n")
    while at < len(lines):
        if re.match(r"\s*#\[cfg\((?:all\()?test\b", lines[at]):
            depth, seen = 0, False
            at += 1
            while at < len(lines):
                bare = bare_lines[at]
                depth += bare.count("{") - bare.count("}")
                seen = seen or "{" in bare
                at += 1
                if (seen and depth <= 0) or (not seen and bare.rstrip().endswith(";")):
                    break
        else:
            kept.append(lines[at])
            at += 1
    return "\n".join(kept)


def crate_of(path):
    """Returns the crate that holds a file with this path: `text`, `python`, `program`."""
    return {"crates": path.parts[1], "python": "python"}.get(path.parts[0], "program")


def figures(root):
    found = collections.Counter()
    lines = collections.Counter()
    for path in sorted(path for folder in ("src", "crates", "python/src")
                       for path in (root / folder).rglob("*.rs")):
        text, name = path.read_text(), path.relative_to(root)
        whole = text.count("\n")
        if path.name == "tests.rs" or "tests" in name.parts[:-1]:
            found["tests"] += whole
            continue
        plain = without_comments(text)
        code = without_tests(plain)
        held = [line for line in code.split("\n") if line.strip()]
        found["tests"] += sum(1 for line in plain.split("\n") if line.strip()) - len(held)
        found["files"] += 1
        found["types"] += len(TYPE.findall(code))
        found["features"] += sum(1 for line in held if FEATURE.search(line))
        found["closures"] += len(CLOSURE.findall(code))
        lines[crate_of(name)] += len(held)
    tests = [path for folder in ("tests", "benches", "fuzz", "examples")
             for path in (root / folder).rglob("*.rs") if "target" not in path.parts]
    found["tests"] += sum(path.read_text().count("\n") for path in tests)
    tools = [path for path in (root / "tests" / "tools").rglob("*")
             if path.is_file() and path.suffix not in (".tsv", ".txt", ".pyc")]
    found["tools"] = sum(path.read_text().count("\n") for path in tools)
    return lines, found


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    budget = tomllib.loads((root / "budget.toml").read_text())
    passed = 0
    lines, found = figures(root)
    print(f"{'lines of code':14}{'now':>8}{'limit':>8}{'left':>8}{'aim':>8}")
    for table, counted in [(budget["lines"], lines), (budget["others"], found)]:
        for name, row in table.items():
            left = row["limit"] - counted[name]
            passed += left < 0
            print(f"{name:14}{counted[name]:8}{row['limit']:8}{left:8}{row['aim']:8}")
    print(f"{'all code':14}{sum(lines.values()):8}")
    sys.exit(passed > 0)


if __name__ == "__main__":
    # If a reader such as `head` closes the pipe, the program ends without a traceback.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    main()
