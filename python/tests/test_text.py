"""URLs in texts and messages in memory."""

from __future__ import annotations

import threading
import time

import pytest
import urlspool


def test_offsets_count_characters_in_str_and_bytes_in_bytes() -> None:
    text = "caf\u00e9 \U0001f600 http://a.example/x, \u00e9 <URL:http://b.example/\n y>"
    for url, shown in zip(urlspool.urls(text), ["http://a.example/x", "http://b.example/\n y"]):
        assert text[url["start"] : url["end"]] == shown
    raw = text.encode()
    for url, shown in zip(urlspool.urls(raw), [b"http://a.example/x", b"http://b.example/\n y"]):
        assert raw[url["start"] : url["end"]] == shown
    assert len(urlspool.urls(text)) == len(urlspool.urls(raw)) == 2


def test_a_str_with_surrogates_keeps_its_offsets() -> None:
    text = b"\xff\xfe http://a.example/".decode("utf-8", "surrogateescape")
    [url] = urlspool.urls(text)
    assert text[url["start"] : url["end"]] == "http://a.example/"


def test_bytes_like_objects_are_read() -> None:
    assert urlspool.urls(bytearray(b"http://a.example/")) == urlspool.urls(b"http://a.example/")  # type: ignore[arg-type]
    assert urlspool.extract(memoryview(b"A: b\n\nhttp://a.example/")) != []  # type: ignore[arg-type]
    assert urlspool.urls("") == urlspool.extract(b"") == []


def test_a_url_has_its_fragment_and_repairs() -> None:
    [url] = urlspool.urls("<URL:http://a.example/x\n  y#f>")
    assert url == {
        "url": "http://a.example/xy",
        "fragment": "f",
        "start": 5,
        "end": 29,
        "wrapper": "<URL:>",
        "repairs": ["line-break"],
        "confidence": 1.0,
    }


def test_options_are_those_of_the_command_line() -> None:
    text = "www.a.example and http://b.example/~c and ftp://d.example/"
    found = lambda **options: [url["url"] for url in urlspool.urls(text, **options)]  # noqa: E731
    assert len(found()) == 3
    assert found(no_schemeless=True, schemes=["ftp", "http"]) == ["http://b.example/~c", "ftp://d.example/"]
    assert found(schemes="ftp") == ["ftp://d.example/"]
    assert found(rules="rfc1738") == ["ftp://d.example/"]
    assert found(no_schemeless=False) == found()


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"rules": "strict"}, ValueError, "strict"),
        ({"rule": "wide"}, TypeError, "unknown option 'rule'"),
        ({"since": 1996}, TypeError, "unknown option 'since'"),
        ({"limit": {"none": 3}}, ValueError, "none"),
        ({"config": "/none.toml"}, ValueError, "/none.toml"),
    ],
)
def test_an_option_that_cannot_be_used_is_named(
    options: dict[str, object], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        urlspool.urls("x", **options)  # type: ignore[arg-type]


def test_a_message_is_decoded() -> None:
    mail = (
        b"Subject: =?utf-8?q?http=3A//s=2Eexample/?=\nContent-Type: text/plain; charset=latin1\n"
        b"Content-Transfer-Encoding: quoted-printable\n\nhttp://a.example/=\nb=E9\n"
    )
    header, body = urlspool.extract(mail, path="a/1")
    assert header["url"] == "http://s.example/" and header["region"] == "header:Subject"
    assert body["url"] == "http://a.example/b\u00e9"
    assert body["source"]["path"] == "a/1"
    source = body["source"]
    assert mail[source["start"] : source["end"]] == b"http://a.example/=\nb=E9"
    assert [record["region"] for record in urlspool.extract(mail, no_headers=True)] == ["body"]


def test_the_interpreter_lock_is_released() -> None:
    # A message that takes a while.
    mail = b"A: b\n\n" + b"http://a.example/b and www.c.example are here\n" * 20_000
    done = threading.Event()
    steps = 0

    def extract() -> None:
        urlspool.urls(mail)
        done.set()

    thread = threading.Thread(target=extract)
    begun = time.monotonic()
    thread.start()
    while not done.is_set():
        steps += 1
    thread.join()
    assert steps > 100, f"{steps} steps in {time.monotonic() - begun} s"
