#!/usr/bin/env python3
"""Counts hard turns of phrase per 1,000 words, by crate and page: english.py [-v] [ROOT]

Reads comments and docstrings, help and messages (strings of Rust with three words or more), and
pages. -v prints each place.
"""
import ast, collections, pathlib, re, sys

TURNS = re.compile(
    r"\b(?:that of|those of|from which on|of (?:its|their) own|in place of|beneath|stands?|whatever"
    r"|is none|what (?:it|they|is|was|are|the|has|a|follows)|gives?|leads? (?:to|back)|begins?"
    r"|of which|goes? on|of them|is said|its (?:first|last|end|beginning)|so that|told apart"
    r"|whoever|who|something|nothing|besides?|meanwhile|hardly|alike|how (?:many|much))\b")
SKIP = {"target", "node_modules", ".git", "CHANGELOG.md", "corpus", "english.md", "english.py"}
MARK = {".rs": r"[ \t]*//[/!]? ?(.*)", ".py": r"[ \t]*# ?(.*)", ".md": r"(?![ \t]*[|`$])(.*)"}


def texts(path, source):
    """Yields each text of a file with its kind."""
    for node in ast.walk(ast.parse(source)) if path.suffix == ".py" else []:
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            yield "comments", ast.get_docstring(node) or ""
    code = re.sub(r"^\s*//.*$|b?'(?:\\.[^'\n]*|[^'\\\n])'", "", source, flags=re.M)
    code = code.split("#[cfg(test)]\nmod ")[0]
    for text in re.findall(r'"((?:[^"\\]|\\.)*)"', code, re.S) if path.suffix == ".rs" else []:
        if (len(re.findall(r"\b[a-z]{2,}\b", text)) > 2
            and not re.search(r"\b(SELECT|INSERT|CREATE|FROM|UPDATE|DELETE)\b", text)):
            yield "help and messages", re.sub(r"\\\n\s*|\\n", " ", text)
    kind = "help and messages" if "cli/args" in str(path) else "comments"
    found = re.finditer(r"^" + MARK[path.suffix], source, re.M)
    yield from (("pages" if path.suffix == ".md" else kind, line[1]) for line in found)


words = [argument for argument in sys.argv[1:] if argument != "-v"]
root, sums = pathlib.Path(*words), collections.Counter()
for path in sorted(p for p in root.rglob("*") if p.suffix in MARK):
    parts = path.relative_to(root).parts
    if SKIP & set(parts):
        continue
    depth = len(parts) if path.suffix == ".md" else 2 if parts[0] in ("src", "crates") else 1
    place = "/".join(parts[:depth])
    for kind, text in texts(path, path.read_text(encoding="utf-8", errors="replace")):
        hits = TURNS.findall(text)
        for name in place, "all":
            sums[name, kind, "words"] += len(text.split())
            sums[name, kind, "turns"] += len(hits)
        if hits and "-v" in sys.argv:
            print(f"{path}: {', '.join(hits)}: {' '.join(text.split())}")
for name, kind in sorted({key[:2] for key in sums}):
    turns, words = sums[name, kind, "turns"], sums[name, kind, "words"]
    print(f"{1000 * turns / (words or 1):6.1f} of {words:6} words  {kind:18} {name}")
