#!/usr/bin/env python3
"""Counts hard turns of phrase per 1,000 words, by crate and page: comments and docstrings; help and messages (strings of Rust with three
words or more); pages. english.py [-v] [ROOT]; -v prints each place."""
import ast, collections, pathlib, re, sys

TURNS = re.compile(r"\b(?:that of|those of|from which on|of (?:its|their) own|in place of|beneath|stands?|whatever|is none|what (?:it|they|is|was|are"
                   r"|the|has|a|follows)|gives?|leads? (?:to|back)|begins?|of which|goes? on|of them|is said|its (?:first|last|end|beginning)|so that"
                   r"|told apart|whoever|who|something|nothing|besides?|meanwhile|hardly|alike|how (?:many|much))\b")
SKIP = {"target", "node_modules", ".git", "CHANGELOG.md", "corpus", "english.md", "english.py"}
MARK = {".rs": r"\s*//[/!]? ?(.*)", ".py": r"\s*# ?(.*)", ".md": r"(?!\s*[|`$])(.*)"}


def texts(path, source):
    """Yields each text of a file with its kind."""
    for node in ast.walk(ast.parse(source)) if path.suffix == ".py" else []:
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            yield "comments", ast.get_docstring(node) or ""
    code = re.sub(r"^\s*//.*$|b?'(?:\\.[^'\n]*|[^'\\\n])'", "", source, flags=re.M).split("#[cfg(test)]\nmod ")[0]
    for text in re.findall(r'"((?:[^"\\]|\\.)*)"', code, re.S) if path.suffix == ".rs" else []:
        if len(re.findall(r"\b[a-z]{2,}\b", text)) > 2 and not re.search(r"\b(SELECT|INSERT|CREATE|FROM|UPDATE|DELETE)\b", text):
            yield "help and messages", re.sub(r"\\\n\s*|\\n", " ", text)
    kind = "pages" if path.suffix == ".md" else "help and messages" if "cli/args" in str(path) else "comments"
    yield from ((kind, found[1]) for line in source.split("\n") if (found := re.match(MARK[path.suffix], line)))


root, sums = pathlib.Path(([argument for argument in sys.argv[1:] if argument != "-v"] or ["."])[0]), collections.Counter()
for path in sorted(p for p in root.rglob("*") if p.suffix in MARK and not SKIP & set(p.relative_to(root).parts)):
    parts = path.relative_to(root).parts
    place = "/".join(parts if path.suffix == ".md" else parts[: 2 if parts[0] in ("src", "crates") else 1])
    for kind, text in texts(path, path.read_text(encoding="utf-8", errors="replace")):
        hits = TURNS.findall(text)
        for name in place, "all":
            sums.update({(name, kind, "words"): len(text.split()), (name, kind, "turns"): len(hits)})
        if hits and "-v" in sys.argv:
            print(f"{path}: {', '.join(hits)}: {' '.join(text.split())}")
for name, kind in sorted({key[:2] for key in sums}):
    print(f"{1000 * sums[name, kind, 'turns'] / (sums[name, kind, 'words'] or 1):6.1f} of {sums[name, kind, 'words']:6} words  {kind:18} {name}")
