#!/usr/bin/env python3
"""Checks a site: every internal link and anchor has a target, no page loads a resource from another
host, and every page of docs/ is present.

    packaging/site_check.py FOLDER
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADING = {("img", "src"), ("script", "src"), ("link", "href"),
           ("iframe", "src"), ("source", "src")}


class Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.resources: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if value is None:
                continue
            if name == "id" or (tag, name) == ("a", "name"):
                self.anchors.add(value)
            elif (tag, name) in LOADING:
                self.resources.append(value)
            elif (tag, name) == ("a", "href"):
                self.links.append(value)


def check(site: Path) -> list[str]:
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    faults = []
    for path, page in pages.items():
        name = path.relative_to(site)
        faults += [f"{name} loads {url}" for url in page.resources if urlsplit(url).netloc]
        # Links of the error page are relative to the root of a server.
        if name.name == "404.html":
            continue
        for link in page.links + page.resources:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path.resolve()
            if target.is_dir():
                target /= "index.html"
            if not target.exists():
                faults.append(f"{name} links to {link}, which does not exist")
            elif (parts.fragment and target.suffix == ".html"
                  and name.name not in ("print.html", "toc.html")):
                place = site.resolve() / target.relative_to(site.resolve())
                if unquote(parts.fragment) not in pages[place].anchors:
                    faults.append(f"{name} links to {link}, but there is no such anchor")
    for source in sorted((Path(__file__).resolve().parent.parent / "docs").glob("*.md")):
        built = site / source.with_suffix(".html").name
        if source.name not in ("SUMMARY.md", "README.md") and not built.exists():
            faults.append(f"docs/{source.name} is not in SUMMARY.md")
    if len(pages) < 10:
        faults.append(f"only {len(pages)} pages in {site}")
    return faults


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    found = check(Path(sys.argv[1]).resolve())
    for fault in found:
        print(f"site_check.py: {fault}", file=sys.stderr)
    print(f"{len(found)} faults")
    sys.exit(1 if found else 0)
