#!/usr/bin/env python3
"""Compares the URLs of HTML attributes with those that Python's email package and html5lib find.

    tests/tools/compare_html.py PROGRAM FOLDER          needs html5lib (pip install html5lib)

Scans the messages in FOLDER, one per file, with PROGRAM, and reads them with Python. Prints the number of absolute attribute URLs of
Python that the scan found, at most 60 that it did not find, and the time of both. White space at the ends, line ends inside, and
characters outside ASCII are ignored in the comparison. The result is for a reader: the exit code is 0 whatever was found, and 77 if
html5lib is not installed or there is no attribute URL.
"""
import email, email.policy, json, os, re, subprocess, sys, time
from collections import Counter, defaultdict

try:
    import html5lib
except ImportError:
    print("SKIPPED: html5lib is not installed")
    sys.exit(77)

ATTRIBUTES = {"href", "src", "action", "background", "cite", "data", "poster", "longdesc", "formaction", "codebase", "classid", "lowsrc", "dynsrc", "ping", "icon", "manifest", "profile"}
SCHEME = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]*:")
NO_LOCATION = re.compile(r"^(data|javascript|vbscript|about|blob):", re.I)


def comparable(text):
    text = re.sub(r"[\t\r\n]", "", text.strip(" \t\r\n\f\v"))
    return "".join(c for c in text if c.isascii())


def texts(message):
    for part in message.walk():
        if part.get_content_type() in ("text/html", "application/xhtml+xml"):
            data = part.get_payload(decode=True) or b""
            charset = part.get_content_charset() or "utf-8"
            try:
                yield data.decode(charset, "replace")
            except LookupError:
                yield data.decode("latin-1")


def links(html):
    tree = html5lib.parse(html, treebuilder="etree", namespaceHTMLElements=False)
    for element in tree.iter():
        if isinstance(element.tag, str):
            for name, value in element.attrib.items():
                if name in ATTRIBUTES and SCHEME.match(value.strip()) and not NO_LOCATION.match(value.strip()):
                    yield element.tag, name, value


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    program, folder = sys.argv[1:]
    begin = time.time()
    run = subprocess.run([program, "scan", "-q", "--progress", "never", folder], capture_output=True)
    ours = time.time() - begin
    found = defaultdict(set)
    for line in run.stdout.decode("utf-8").split("\n"):
        if line:
            record = json.loads(line)
            if record["region"].startswith("html:"):
                full = record["url"] + ("#" + record["fragment"] if record["fragment"] is not None else "")
                found[record["source"]["path"]].add(comparable(full))
    theirs = 0.0
    hit, missed, kinds = 0, [], Counter()
    for path, _, names in os.walk(folder):
        for name in sorted(names):
            file = os.path.join(path, name)
            data = open(file, "rb").read()
            begin = time.time()
            message = email.message_from_bytes(data)
            pages = list(texts(message))
            theirs += time.time() - begin
            for page in pages:
                for tag, attribute, value in links(page):
                    if comparable(value) in found[file]:
                        hit += 1
                    else:
                        kinds[tag + "." + attribute] += 1
                        missed.append((file, tag, attribute, value[:150]))
    for row in missed[:60]:
        print(*map(repr, row))
    print(f"found {hit} of {hit + len(missed)} attribute URLs ({100 * hit / max(1, hit + len(missed)):.2f} %); missed {dict(kinds)}")
    print(f"whole scan {ours:.2f} s; Python's parsing and decoding alone {theirs:.2f} s, ratio {theirs / ours:.1f}")
    if not hit and not missed:
        print("SKIPPED: no attribute URL was found")
        sys.exit(77)


main()
