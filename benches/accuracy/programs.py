"""The programs that are compared: one adapter for each, with its version."""

import base64
import gzip
import html
import importlib
import importlib.metadata
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Tool:
    """A program, and a function that returns its output for a file."""

    name: str
    version: str
    find: "Callable[[Path], str]"
    # Skips hosts in `example`, which must become `com`.
    knows_domains: bool = False


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


def installed(program: Path, linkify: "Path | None") -> "list[Tool]":
    """Returns urlspool and the other programs that are installed here."""
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

        found.append(Tool(name, importlib.metadata.version(name), by_module, True))
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
                True,
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
                True,
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
