#!/usr/bin/env python3
"""Lists facts of the pages of COMMIT that no page has now: page_facts.py COMMIT

Facts are numbers with their units, limits, exit codes, options and code.
"""
import pathlib, re, subprocess, sys

OPTION, CODE = r"(?<![\w-])--[a-z][a-z-]+", r"`[^`\n]+`"
LIMIT = r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b"
UNIT = r"(?: ?(?:%|[KMGT]i?B|k?B|m?s\b|bytes|seconds|minutes|hours|days))?"
NUMBER = r"\b(?:\d[\d.,:]*\d|\d)" + UNIT
WORD = "two three four five six seven eight nine ten eleven twelve sixteen twenty thirty"
FACT = re.compile("|".join([OPTION, LIMIT, CODE, NUMBER,
                            rf"\b(?:{WORD.replace(' ', '|')}) [a-z]+"]))


def git(*arguments):
    return subprocess.run(["git", *arguments], check=True, capture_output=True, text=True).stdout


def plain(text):
    return " ".join(text.replace("`", "").split())


pages = [page for page in pathlib.Path().rglob("*.md") if "target" not in page.parts
         and page.name not in ("CHANGELOG.md", "commands.md", "english.md")]
now = " ".join(plain(page.read_text()) for page in pages)
for name in git("ls-tree", "-r", "--name-only", sys.argv[1]).split():
    if re.fullmatch(r"(?!CHANGELOG|docs/commands)(?:[A-Z]+|docs/.*|packaging/.*)\.md", name):
        facts = {plain(fact) for fact in FACT.findall(git("show", f"{sys.argv[1]}:{name}"))}
        dropped = sorted(fact for fact in facts if fact not in now)
        print(f"{name}: {len(dropped)} dropped", *dropped, sep="\n    ")
