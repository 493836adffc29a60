#!/usr/bin/env python3
"""Lists the numbers (with units), limits, exit codes, options and code of the pages of COMMIT that no page has now: page_facts.py COMMIT"""
import pathlib, re, subprocess, sys

FACT = re.compile(r"(?<![\w-])--[a-z][a-z-]+|\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b|`[^`\n]+`|\b(?:\d[\d.,:]*\d|\d)(?: ?(?:%|[KMGT]i?B|k?B|m?s\b|bytes|seconds|minutes"
                  r"|hours|days))?|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|sixteen|twenty|thirty) [a-z]+")
git = lambda *arguments: subprocess.run(["git", *arguments], check=True, capture_output=True, text=True).stdout
pages = [page for page in pathlib.Path().rglob("*.md") if page.name not in ("CHANGELOG.md", "commands.md", "english.md")]
now = " ".join(" ".join(page.read_text().replace("`", "").split()) for page in pages if "target" not in page.parts)
for name in git("ls-tree", "-r", "--name-only", sys.argv[1]).split():
    if re.fullmatch(r"(?!CHANGELOG|docs/commands)(?:[A-Z]+|docs/.*|packaging/.*)\.md", name):
        facts = {" ".join(fact.replace("`", "").split()) for fact in FACT.findall(git("show", f"{sys.argv[1]}:{name}"))}
        dropped = sorted(fact for fact in facts if fact not in now)
        print(f"{name}: {len(dropped)} dropped", *dropped, sep="\n    ")
