#!/usr/bin/env python3
"""Writes the seed corpora of the fuzz targets into fuzz/corpus/.

usage: fuzz/seeds.py

The seeds are fixtures of the tests and small hostile inputs.
"""

import base64
import bz2
import gzip
import hashlib
import io
import lzma
import pathlib
import tarfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
FIXTURES = ROOT / "corpus"


def put(target, data):
    folder = ROOT / "fuzz" / "corpus" / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / hashlib.sha1(data).hexdigest()).write_bytes(data)


def fixtures(*folders):
    for folder in folders:
        for path in sorted((FIXTURES / folder).rglob("*")):
            if path.is_file() and path.stat().st_size < 32768:
                yield path, path.read_bytes()


def nested(levels):
    parts = "".join(
        f"Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n" for n in range(levels)
    )
    return parts.encode() + b"\nhttp://deep.example/\n"


def hostile():
    """Yields messages like those in tests/hostile.rs."""
    head = b"From: a@b.example\nMIME-Version: 1.0\n"
    word = base64.b64encode(b"see http://a.example/b now")
    yield head + nested(8)
    yield head + b"Content-Type: message/rfc822\n\n" * 8 + b"\nhttp://a.example/\n"
    yield head + b"Content-Type: multipart/mixed; boundary=b\n\n" + b"--b\n\nx\n" * 30 + b"--b--\n"
    yield head + b"X-A: b\n" * 200 + b"\nhttp://a.example/\n"
    for encoding, body in (
        (b"base64", word),
        (b"base64", word[:9] + b"!\n*" + word[9:]),
        (b"quoted-printable", b"see http://a.exam=\nple/b=3Dc now"),
        (b"quoted-printable", b"=ZZ http://a.example/b= \t\nc =4"),
        (b"x-unknown", b"http://a.example/b"),
    ):
        yield head + b"Content-Transfer-Encoding: " + encoding + b"\n\n" + body + b"\n"
    yield (
        head + b"Content-Type: multipart/mixed; boundary=a; boundary=b\n\n"
        b"--a\n\nhttp://1.example/\n--b\n\nx\n--a--\n"
    )
    yield head + b"Subject: " + b"=?utf-8?q?a?= =?utf-8?b?aHR0cDovL2EuYi8=?=\n " * 4 + b"\n\nx\n"
    yield (
        head + b"Content-Type: text/plain; format=flowed; delsp=yes\n\n"
        b"http://a.example/ \nb > x\n> y \n> z\n"
    )
    yield (
        head + b'Content-Type: text/html\n\n<base href="http://a.example/"><a href=x>y</a>'
        b'<img srcset="a 1x, b 2x">'
    )
    yield (
        head
        + b'Content-Type: text/plain; charset=iso-2022-jp\n\n\x1b$B$"\x1b(B http://a.example/\n'
    )
    yield b"Received:\n\t"
    yield b"Date: " + b"(" * 50 + b'\nTo: "\n\n<URL:http://a.ex\n   ample/-\n  b>\n'


def edits(data):
    """Cuts a fixture into small inputs for the fuzz targets."""
    for at in range(0, len(data), 700):
        yield data[at : at + 900]


def main():
    for line in (FIXTURES / "url/accept.txt").read_bytes().splitlines():
        put("grammar", line)
    for line in (FIXTURES / "url/gaps.txt").read_bytes().splitlines():
        put("grammar", line)
    mails = [data for _, data in fixtures("mail", "news")] + list(hostile())
    for data in mails:
        put("message", data[:8192])
        put("mime", data[:4096])
        for piece in edits(data):
            put("repair", b"\0" + piece)
            put("charset", b"\x10" + piece)
            put("transfer", piece)
        for number in range(10):
            put("split", bytes([number, 0]) + data[:3000])
            put("split", bytes([number, 255]) + data[:700])
    for _, data in fixtures("text"):
        for piece in edits(data):
            put("repair", b"\0" + piece)
            put("repair", b"\1" + piece)
            put("message", b"Subject: x\n\n" + piece)
    for path, data in fixtures("text", "mail"):
        if path.suffix == ".html" or b"<a " in data:
            for piece in edits(data):
                put("html", piece)
    for data in (b"BEGIN:VCARD\nURL:http\\://a.b/\\n\\,\n c\n", b"N;QUOTED-PRINTABLE:a=\nb=3D\n",
                 b"<a>&amp;amp;lt;&#x41;</a>", b'["\\ud83d\\u0026\\n"]', b'a,"b"",c";d\n'):
        for kind in range(5):
            put("forms", bytes([kind]) + data)
    for marks in (b"", b"> "):
        for body in (
            b"Content-Transfer-Encoding: quoted-printable\n\nhttp://p.example/q\na=\nb=3D1\n",
            b"Content-Transfer-Encoding: base64\n\naHR0cDovL2EuYi8K\n",
            b"Content-Type: text/html\nContent-transfer-encoding: quoted-printable\n\n"
            b"<!-- http://p.example/q -->=3D\n",
        ):
            quoted = b"".join(marks + line for line in body.splitlines(True))
            put("bodies", quoted + b"http://p.example/q\n")
    one = b"From a@b Mon Jan  1 10:00:00 1996\nFrom: a\n\nhttp://a.example/\n\n"
    put("split", b"\0\0" + one * 3)
    put("split", b"\0\xff" + one + b"x\n\n" + one)
    letter = b"From a Mon Jan  1 10:00:00 1996\nFrom: a\n\nhttp://a.example/\n"
    put("split", b"\2\0" + b"\1\1\1\1\n" + letter + b"\1\1\1\1\n")
    put(
        "split",
        b"\3\0" + b"BABYL OPTIONS:\nVersion: 5\n\x1f\x0c\n0,,\n*** EOOH ***\n" + letter + b"\x1f",
    )
    put("split", b"\4\0" + b"#! rnews %d\n" % len(letter) + letter + b"#! rnews 9\nx")
    put("split", b"\5\0" + b"%d\n" % len(letter) + letter + b"<plist/>")
    put("split", b"\1\0" + b"From a Mon Jan  1 10:00:00 1996\nContent-Length: 3\n\nabc\n" + letter)
    for raw in (
        b"..a\r\n..b",
        b"a\r\n b\n\tc",
        b"aHR0\r\ncDov!L2E=",
        b"YQ==YmM=",
        b"a=\r\nb=3D \t\nc= ",
    ):
        put("transfer", raw)
    for label in range(17):
        for raw in (
            b"http://a.example/",
            b"\xff\xfeh\0t\0",
            b'\x1b$B$"\x1b(B x',
            b"~{VPND~} x",
            b"+AGg-ttp://",
            b"=?utf-8?q?=C3=BC?=",
        ):
            put("charset", bytes([label]) + raw)
    tar = io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w") as archive:
        for name in ("a", "b/" * 60 + "c"):
            info = tarfile.TarInfo(name)
            info.size = len(letter)
            archive.addfile(info, io.BytesIO(letter))
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a", letter * 20)
        archive.writestr("b", gzip.compress(letter))
    for data in (tar.getvalue(), packed.getvalue(), letter * 50):
        put("containers", data[:16384])
        for pack in (gzip.compress, bz2.compress, lzma.compress):
            put("containers", pack(data))
    put("containers", gzip.compress(gzip.compress(letter)) + gzip.compress(letter))
    for _, data in fixtures("containers"):
        put("containers", data)
    put("warc", (FIXTURES / "containers/pages.warc").read_bytes()[10:])
    for path, data in fixtures("documents"):
        put({".tnef": "tnef", ".p7m": "signed"}.get(path.suffix, "documents"), data)
        put("documents", data)
    default = (ROOT / "config/urlspool.toml").read_bytes()
    put("config", default)
    for piece in default.split(b"\n["):
        put("config", b"[" + piece)
    put(
        "config",
        b'[[spool]]\npath = "/a"\nkind = "maildir"\ndedupe = "spool"\n[limits]\nurl_bytes = 9\n',
    )
    put("state", b"")
    for file in range(12):
        for place in (0, 24, 100, 4096, 5000, 8192):
            for kind in range(3):
                put("state", bytes([file << 2 | kind, place >> 8, place & 255, 1, 255]))


main()
