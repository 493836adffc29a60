"""Reports and indicators that other programs take, against the libraries of their formats."""

from __future__ import annotations

import base64
import json
import re
import subprocess
import sys
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
from conftest import program

ROOT = Path(__file__).resolve().parents[2]
MAIL = ROOT / "corpus" / "mail"


def script(name: str) -> str:
    """The script of a recipe."""
    page = (ROOT / "docs" / "recipes.md").read_text()
    [lines] = re.findall(rf"\$ cat > {name} <<'END'\n(.*?)> END\n", page, flags=re.DOTALL)
    code = "".join(line.removeprefix("> ") for line in lines.splitlines(keepends=True))
    assert len(code.splitlines()) <= 15
    return code


def run(name: str, lines: bytes) -> Any:
    command = [sys.executable, "-c", script(name)]
    return json.loads(subprocess.run(command, input=lines, capture_output=True, check=True).stdout)


@pytest.fixture(scope="module")
def records() -> bytes:
    """The records of the corpus, and of a URL that needs escapes."""
    odd = b"Date: Mon, 01 Jan 1996 00:00:00 GMT\n\n<a href=\"http://a.example/it's?a=\\\">b</a>\n"
    return program("scan", MAIL).stdout + program("scan", "-", input=odd).stdout


def test_urls_become_indicators_of_stix(records: bytes) -> None:
    stix2 = pytest.importorskip("stix2", reason="stix2 is not installed")
    bundle = run("stix.py", records)
    found = stix2.parse(bundle, version="2.1").objects
    lines = [json.loads(line) for line in records.splitlines()]
    urls = {line["url"] for line in lines if line["message"]["date"]}
    assert len(found) == len(urls) > 100
    for indicator in found:
        pattern = stix2.pattern_visitor.create_pattern_object(indicator.pattern)
        assert re.sub(r"\\(.)", r"\1", pattern.operand.rhs.value) in urls
    again = run("stix.py", records)["objects"]
    assert [one["id"] for one in bundle["objects"]] == [one["id"] for one in again]


def test_urls_become_attributes_of_misp(records: bytes) -> None:
    pymisp = pytest.importorskip("pymisp", reason="pymisp is not installed")
    event = pymisp.MISPEvent()
    event.load(run("misp.py", records))
    urls = {line["url"] for line in map(json.loads, records.splitlines())}
    assert {attribute.value for attribute in event.attributes} == urls
    assert {(attribute.type, attribute.to_ids) for attribute in event.attributes} == {("url", True)}


@pytest.fixture(scope="module")
def validator() -> Any:
    """The validator of XARF's published schemas, which `check.sh` installs by checksum."""
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")
    referencing = pytest.importorskip("referencing", reason="jsonschema is not installed")
    metadata = pytest.importorskip("importlib.metadata")
    try:
        files = metadata.files("xarf") or []
    except metadata.PackageNotFoundError:
        pytest.skip("XARF's schemas are not installed")
    found = [file for file in files if file.suffix == ".json" and "schemas" in file.parts]
    read = [json.loads(file.read_text()) for file in found]
    schemas = {schema["$id"]: schema for schema in read if "$id" in schema}
    assert len(schemas) > 30
    resource = referencing.Resource.from_contents
    resources = [(name, resource(schema)) for name, schema in schemas.items()]
    registry = referencing.Registry().with_resources(resources)
    [master] = [schema for name, schema in schemas.items() if name.endswith("xarf-v4-master.json")]
    formats = jsonschema.Draft202012Validator.FORMAT_CHECKER
    return jsonschema.Draft202012Validator(master, registry=registry, format_checker=formats)


def reports(folder: Path, *conditions: str) -> list[dict[str, Any]]:
    reporter = "Lamp Desk <abuse@lamp.example>"
    asked = [folder / "urls.db", *conditions, "--format", "xarf", "--reporter", reporter]
    done = program("search", *asked)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_reports_are_valid_by_the_schemas_of_xarf(validator: Any, tmp_path: Path) -> None:
    loaded = program("scan", "-q", "--into", tmp_path / "urls.db", MAIL, ROOT / "corpus" / "news")
    assert loaded.returncode == 0, loaded.stderr
    found = reports(tmp_path, "--since", "1970")
    assert len(found) > 100
    for report in found:
        validator.validate(report)
    # The validator notices errors.
    assert not validator.is_valid({**found[0], "category": "spam"})
    assert not validator.is_valid({**found[0], "protocol": "smtp"})
    assert not validator.is_valid({**found[0], "spam_indicators": {"links": []}})


def letter(sender: str, body: str, **fields: str) -> EmailMessage:
    mail = EmailMessage()
    mail["From"], mail["Date"] = sender, "Mon, 01 Jan 1996 00:00:00 +0000"
    for name, value in fields.items():
        mail[name.replace("_", "-")] = value
    mail.set_content(body)
    return mail


def test_each_message_has_one_report_about_its_author(tmp_path: Path) -> None:
    body = "http://a.example/x http://a.example/x http://b.example/%zz\n"
    spam = letter("Jack <jack@Spam.example>", body, Message_ID="<1@x>")
    wrapped = letter("ann@c.example", "see http://c.example/ and this\n")
    wrapped.add_attachment(spam)
    claimed = (
        "---------- Forwarded message ---------\nFrom: Eve <eve@d.example>\n"
        "Date: Mon, 1 Jan 1996 00:00:00 +0000\nSubject: lamps\nTo: <ann@c.example>\n\n"
        "http://d.example/\n"
    )
    mails = {"a": spam, "b": spam, "c": wrapped, "d": letter("ann@c.example", claimed)}
    mails["e"] = letter("nobody", "http://e.example/\n")
    (tmp_path / "mail").mkdir()
    for name, mail in mails.items():
        (tmp_path / "mail" / name).write_bytes(mail.as_bytes())
    assert program("scan", "-q", "--into", tmp_path / "urls.db", tmp_path / "mail").returncode == 0
    found = reports(tmp_path, "--since", "1990")
    urls_of = {one["report_id"]: one["spam_indicators"]["suspicious_links"] for one in found}
    named = sorted((one["source_identifier"], len(urls_of[one["report_id"]])) for one in found)
    # The message in two mailboxes, and the one that is attached to another.
    assert named == [("c.example", 1), ("spam.example", 1), ("spam.example", 1)]
    assert "d.example" not in json.dumps(found)
    for report in found:
        [author, urls] = json.loads(base64.b64decode(report["evidence"][0]["payload"]))
        # What RFC 3986 refuses is only in the evidence.
        odd = ["http://b.example/%zz"] if author["from"].startswith("Jack") else []
        assert urls == urls_of[report["report_id"]] + odd
        assert report["description"].endswith("1 not valid, only in the evidence") == bool(odd)
    assert len(urls_of) == 3
    assert reports(tmp_path, "--since", "1990") == found
    for host in ("d.example", "e.example"):
        assert reports(tmp_path, "--host", host) == []


def test_a_message_around_another_has_one_report(tmp_path: Path) -> None:
    inner = letter("Jack <jack@spam.example>", "http://a.example/\n")
    outer = letter("Ann <ann@c.example>", "http://c.example/before\n")
    outer.add_attachment(inner)
    outer.add_attachment("http://c.example/after\n", disposition="inline")
    (tmp_path / "mail.eml").write_bytes(outer.as_bytes())
    loaded = program("scan", "-q", "--into", tmp_path / "urls.db", tmp_path / "mail.eml")
    assert loaded.returncode == 0, loaded.stderr
    found = reports(tmp_path, "--since", "1990")
    links = [one["spam_indicators"]["suspicious_links"] for one in found]
    named = [(one["source_identifier"], urls) for one, urls in zip(found, links)]
    around = ["http://c.example/after", "http://c.example/before"]
    assert sorted(named) == [("c.example", around), ("spam.example", ["http://a.example/"])]
