"""URLs in texts and messages in memory."""

from __future__ import annotations

import concurrent.futures
import io
import json
import pathlib
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable

import pytest
import urlspool
from conftest import program
from urlspool import _options


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
    url = b"http://a.example/"
    assert urlspool.urls(bytearray(url)) == urlspool.urls(url)  # type: ignore
    assert urlspool.extract(memoryview(b"A: b\n\nhttp://a.example/")) != []  # type: ignore
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


def test_options_are_those_of_the_program() -> None:
    text = "www.a.example and http://b.example/~c and ftp://d.example/"
    found = lambda **options: [url["url"] for url in urlspool.urls(text, **options)]  # noqa: E731
    assert len(found()) == 3
    assert found(schemeless="off", schemes=["ftp", "http"]) == ["http://b.example/~c",
                                                                "ftp://d.example/"]
    assert found(schemes="ftp") == ["ftp://d.example/"]
    assert found(rules="rfc1738") == ["ftp://d.example/"]
    assert found(schemeless="on") == found()


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"rules": "strict"}, ValueError, "'strict' for 'rules'"),
        ({"rules": 5}, TypeError, "rules must be a str, not int"),
        ({"schemes": []}, ValueError, "schemes is empty"),
        ({"schemes": [5]}, TypeError, "an item of schemes must be a str, not int"),
        ({"schemes": b"ftp"}, TypeError, "schemes must be a str or a list of them, not bytes"),
        ({"context": "5"}, TypeError, "context must be an int, not str"),
        ({"no_html": "no"}, TypeError, "no_html must be a bool, not str"),
        ({"limits": 5}, TypeError, "limits must be a mapping"),
        ({"rule": "wide"}, TypeError, "unknown option 'rule'"),
        ({"since": 1996}, TypeError, "unknown option 'since'"),
        ({"limits": {"none": 3}}, ValueError, "none"),
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
    mail = (b"Subject: see http://a.example/b\nDate: Mon, 01 Jan 1996 00:00:00 GMT\n\n"
            b"ftp://c.example/d#e and news:f.g\n")
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
    text = ("caf\u00e9 \U0001f600 \\ \" http://a.example:8080/%7Eb?c#d <URL:ftp://e.example/f\n"
            " g;type=a>\x01 https:h\n")
    mail = (f"Subject: \u00e9 \t\"x\"\nMessage-ID: <a@b>\n\n{text}".encode()
            + b"\xff http://b.example/\xe9?\xfe\n")
    (tmp_path / "a").write_bytes(mail)
    lines = program("scan", "--context", "10", tmp_path / "a").stdout.decode().splitlines()
    records = urlspool.extract(mail, path=tmp_path / "a", context=10)
    # As text, in which the order of the fields and the types of numbers are seen.
    assert [json.dumps(record) for record in records] == [json.dumps(json.loads(line))
                                                          for line in lines]
    assert len(records) >= 3


def test_threads_share_the_options() -> None:
    mails = [b"A: b\n\n" + b"http://a.example/%d and www.b.example\n" % number * 50
             for number in range(40)]
    expected = [urlspool.extract(mail, schemeless="off") for mail in mails]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for _ in range(5):
            assert list(pool.map(lambda mail: urlspool.extract(mail, schemeless="off"),
                                 mails)) == expected


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


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: urlspool.urls(5), "text must be str or bytes, not int"),  # type: ignore[arg-type]
        (lambda: urlspool.urls(["http://a.example/"]),  # type: ignore
         "text must be str or bytes, not list"),
        (lambda: urlspool.extract(12), "message must be bytes, not int"),  # type: ignore[arg-type]
        (lambda: urlspool.extract("http://a.example/"),  # type: ignore
         "message must be bytes, not str"),
        (lambda: urlspool.parse(5), "url must be str, not int"),  # type: ignore[arg-type]
        (lambda: urlspool.scan_stream(io.BytesIO(), start="9"),  # type: ignore
         "start must be an int, not str"),
        (lambda: urlspool.scan_stream(io.BytesIO(), end=9.5),  # type: ignore
         "end must be an int, not float"),
        (lambda: urlspool.scan(b"path"), "not bytes; os.fsdecode"),  # type: ignore[arg-type]
        (lambda: urlspool.scan([b"path"]), "not bytes; os.fsdecode"),  # type: ignore[list-item]
        (lambda: urlspool.scan(5), "a path must be str or os.PathLike, not int"),  # type: ignore
        (lambda: urlspool.scan(open(__file__)), "scan_stream reads an open file"),  # noqa: SIM115
    ],
)
def test_a_wrong_type_is_an_error_and_no_empty_list(call: Callable[[], object], words: str) -> None:
    with pytest.raises(TypeError, match=words):
        call()


def test_errors_name_keywords_and_not_flags() -> None:
    for options in [{"fields": "none"}, {"fields": "url", "slim": True},
                    {"unique": "never"}, {"threads": 0}]:
        with pytest.raises(ValueError, match=next(iter(options))) as raised:
            list(urlspool.scan(__file__, **options))  # type: ignore[arg-type]
        assert "--" not in str(raised.value)
    with pytest.raises(ValueError, match="unknown key `none`"):
        urlspool.urls("x", limits={"none": 3})


def test_help_lists_every_option_with_its_values() -> None:
    page = urlspool.scan.__doc__ or ""
    for line in ["rules: 'wide' or 'rfc1738'", "unique: 'none', 'message' or 'run'",
                 "absolute: a bool", "threads: an int"]:
        assert f"      {line}\n" in page


@pytest.mark.parametrize("name", ["rules", "accept", "attachments", "kind", "unique", "hazard"])
def test_the_literals_of_the_options_are_the_values_that_they_take(name: str) -> None:
    with pytest.raises(ValueError,
                       match=f"'none-of-them' for '{name}': possible values are ") as raised:
        urlspool.scan(".", **{name: "none-of-them"})  # type: ignore[arg-type]
    assert list(_options._VALUES[name]) == str(raised.value).split(" are ")[1].split(", ")


def test_an_input_is_explained_as_the_command_explains_it() -> None:
    mail = b"Subject: a\n\nsee <URL:http://a.example/x\n  y> and http://www.exam..\n"
    [message] = urlspool.explain(mail)["messages"]
    url, refused = message["candidates"]
    accepted = url["outcome"]["accepted"]
    assert mail[url["start"] : url["end"]] == b"http://a.example/x\n  y"
    assert accepted["record"]["url"] == urlspool.extract(mail)[0]["url"] == "http://a.example/xy"
    assert refused["outcome"]["rejected"]["name"] == "shortened"
    assert urlspool.explain(b"")["skipped"] == "empty"
    assert urlspool.explain(b"www.a.example", schemeless="off")["messages"][0]["candidates"] == []
    with pytest.raises(TypeError, match="input must be bytes, not str"):
        urlspool.explain("http://a.example/")  # type: ignore[arg-type]


@pytest.mark.parametrize("call", ["urls(text)", "urls(text.encode())",
                                  "extract(b'A: b\\n\\n' + text.encode())"])
def test_an_interrupt_ends_one_long_call(call: str) -> None:
    program = ("import urlspool\n"
               "text = 'http://a.example/x <URL:http://b.example/\\n y> ' * 1_000_000\n"
               f"print(1, flush=True)\nurlspool.{call}")
    process = subprocess.Popen([sys.executable, "-c", program],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None and process.stdout.readline() == b"1\n"
    time.sleep(0.5)
    begun = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert b"KeyboardInterrupt" in errors and process.returncode != 0
    # The promise is a second; machines that test are busy.
    assert time.monotonic() - begun < 5


def test_a_long_text_gives_what_a_short_one_gives() -> None:
    text = "see <URL:http://a.example/x\n y> \u00e9 " * 150_000
    found = urlspool.urls(text)
    assert len(found) == 150_000
    assert {url["url"] for url in found} == {"http://a.example/xy"}
    assert text[found[-1]["start"] : found[-1]["end"]] == "http://a.example/x\n y"
    records = urlspool.extract(b"A: b\n\n" + text.encode(), fields="url")
    assert len(urlspool.urls(text.encode())) == len(records) == 150_000
