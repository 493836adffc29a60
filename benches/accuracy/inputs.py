"""Twelve small inputs, each with one typical change that mail makes to a URL."""

import base64
import gzip
from dataclasses import dataclass

HEAD = (
    "From: Ann <ann@list.test>\nDate: Tue, 3 Mar 1998 09:14:00 +0100\n"
    "Message-ID: <1@list.test>\nSubject: lamps\n"
)
# Hosts are in .com because some programs accept only registered top-level domains.
TEXT = HEAD + "\n"


@dataclass
class Row:
    """A row of the table: its title, the input and the expected URLs."""

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
