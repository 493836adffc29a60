"""URLs in texts and messages in memory."""

from __future__ import annotations

import concurrent.futures
import json
import pathlib
import subprocess
import sys
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
    assert [record["region"] for record in urlspool.extract(mail, no_header_urls=True)] == ["body"]


def test_records_have_the_fields_that_are_chosen() -> None:
    mail = b"Subject: see http://a.example/b\nDate: Mon, 01 Jan 1996 00:00:00 GMT\n\nftp://c.example/d#e and news:f.g\n"
    whole = urlspool.extract(mail)
    assert len(whole) == 3
    assert urlspool.extract(mail, fields="url") == [{"url": record["url"]} for record in whole]
    assert urlspool.extract(mail, fields=["source.line", "id", "part.type", "message.date"]) == [
        {
            "id": record["id"],
            "source": {"line": record["source"]["line"]},
            "message": {"date": "1996-01-01T00:00:00Z"},
            "part": record["part"] and {"type": record["part"]["type"]},
        }
        for record in whole
    ]
    assert urlspool.extract(mail, slim=True)[0]["url"] == "http://a.example/b"
    with pytest.raises(ValueError, match="nothing"):
        urlspool.extract(mail, fields=["nothing"])


def test_dictionaries_are_those_of_json(tmp_path: pathlib.Path) -> None:
    text = "caf\u00e9 \U0001f600 \\ \" http://a.example:8080/%7Eb?c#d <URL:ftp://e.example/f\n g;type=a>\x01 https:h\n"
    mail = f"Subject: \u00e9 \t\"x\"\nMessage-ID: <a@b>\n\n{text}".encode() + b"\xff http://b.example/\xe9?\xfe\n"
    (tmp_path / "a").write_bytes(mail)
    command = [sys.executable, "-m", "urlspool", "scan", "--context", "10", str(tmp_path / "a")]
    lines = subprocess.run(command, capture_output=True, check=True).stdout.decode().splitlines()
    records = urlspool.extract(mail, path=tmp_path / "a", context=10)
    # As text, in which the order of the fields and the types of numbers are seen.
    assert [json.dumps(record) for record in records] == [json.dumps(json.loads(line)) for line in lines]
    assert len(records) >= 3


def test_threads_share_the_options() -> None:
    mails = [b"A: b\n\n" + b"http://a.example/%d and www.b.example\n" % number * 50 for number in range(40)]
    expected = [urlspool.extract(mail, no_schemeless=True) for mail in mails]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for _ in range(5):
            assert list(pool.map(lambda mail: urlspool.extract(mail, no_schemeless=True), mails)) == expected


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
