#!/usr/bin/env python3
"""Searches the same records in SQLite, PostgreSQL and a search engine, and compares the answers.

    python3 tests/tools/search_equality.py BINARY [--queries N] [--seed N] [--engine URL]

The records are those of the corpus with the words around their URLs, and of generated mail with words of many scripts, long words and
other texts that are hard to divide. Queries are made of their words, phrases, beginnings, exclusions, of signs without meaning, and of
all conditions. Each must give the same lines, in the same order, in all targets; every fifth is also counted by facets. URL is a server
without a password, as `tests/tools/opensearch.sh` starts one. PostgreSQL is started in a folder of its own.
"""

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request

from postgresql import Postgresql

WORDS = """lamp wick oil Lampe lampes \u00d6l \u00e9t\u00e9 \u0421\u0432\u0435\u0442 \u03a6\u03a9\u03a3 \u706f \u660e\u308b\u3044 \u0e41\u0e2a\u0e07 a1 1996 x-ray e.g. it's
    \u0130stanbul stra\u00dfe \u01c5 \ufb01ne \U0001f914lamp _under_ semi;colon r\u0301sum\u00e9 AND OR NOT NEAR the a of""".split()


def mail(random):
    """Returns an mbox of messages with words around their URLs."""
    text = ""
    for number in range(400):
        words = [random.choice(WORDS) for _ in range(random.randint(2, 40))]
        if random.random() < 0.05:
            words.append(random.choice("ab") * random.choice([180, 189, 190, 191, 192, 254, 255, 256, 300, 600]))
        if random.random() < 0.1:
            words.append(random.choice("ab") * 189 + random.choice("xy") * 20)
        host = random.choice(["a.example", "www.a.example", "b.example", "lamp.c.example"])
        urls = [f"http://{host}/{random.choice(WORDS[:4])}/{random.randint(1, 9)}" for _ in range(random.randint(1, 3))]
        for url in urls:
            words.insert(random.randint(0, len(words)), f"<{url}>")
        sender = random.choice(["Jane <jane@m.example>", "J*n? <j@m.example>", "\\John% <JOHN@m.example>"])
        date = f"Date: Mon, {random.randint(1, 28)} Jan {random.randint(1994, 1999)} 10:00:00 +0000\n" if random.random() < 0.8 else ""
        lists = random.choice(["", "List-Id: Lamps <lamps.m.example>\n", "Newsgroups: alt.lamps,comp.infosystems.www\n", "Newsgroups: Alt.LAMPS\n"])
        text += f"From x\nFrom: {sender}\n{date}{lists}Subject: {' '.join(random.sample(WORDS, 3))}\nMessage-ID: <{number}@m.example>\n"
        text += "MIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\n"
        text += "\n".join(" ".join(words[at : at + 8]) for at in range(0, len(words), 8)) + "\n\n"
    return text


class Queries:
    def __init__(self, records, random):
        self.random = random
        context = lambda record: list((record["context"] or {}).values())
        texts = [
            text
            for record in records
            for text in [record["url"], record["anchor"], record["message"]["subject"], record["message"]["from"], *context(record)]
            if text
        ]
        self.texts = [words for words in (re.findall(r"[^\W_]+", text) for text in texts) if words]
        self.values = {
            "--host": [record["host"] for record in records if record["host"]],
            "--domain": [record["domain"] for record in records if record["domain"]],
            "--scheme": [record["scheme"] for record in records if len(record["scheme"]) < 9],
            "--key": [record["key"] for record in records if record["key"]],
            "--sender": ["jane", "J", "*n?", "\\", "%", "@M.EXAMPLE", "oil.example"],
            "--list": ["lamps.m.example", "ALT.lamps", "alt.lamps", "lamps"],
            "--hazard": ["odd-port", "numeric-host", "mismatch", "password", "encoded-control"],
            "--since": ["1995", "1996-01-10", "1990"],
            "--until": ["1995", "1998-01", "2001"],
        }

    def word(self):
        random = self.random
        words = random.choice(self.texts)
        at = random.randrange(len(words))
        kind = random.random()
        if kind < 0.3:
            return words[at]
        if kind < 0.5:
            return words[at][: random.choice([1, 2, 3, 185, 195])] + "*"
        phrase = " ".join(words[at : at + random.randint(2, 4)])
        if kind < 0.65:
            return phrase
        if kind < 0.75:
            return f'"{phrase}"'
        if kind < 0.85:
            return f'"{phrase[: max(1, len(phrase) - random.randint(0, 3))]}"*'
        if kind < 0.9:
            return random.choice(["(", ":", "^", "{", "'", "+", "|", "!", "AND ", "OR ", "a:"]) + words[at]
        return f"{words[at].upper()}"

    def next(self):
        random = self.random
        words = []
        for _ in range(random.choice([0, 1, 1, 1, 2, 3])):
            sign = "-" if random.random() < 0.2 else ""
            words.append(sign + self.word())
        options = []
        for option in random.sample(sorted(self.values), random.choice([0, 0, 1, 1, 2])):
            options += [f"{option}={random.choice(self.values[option])}"]
        if not words and not options:
            return self.next()
        if random.random() < 0.3:
            options += ["--sort=oldest"]
        limit = [f"--limit={random.choice([1, 5, 300])}"] if random.random() < 0.3 else []
        return options, limit, ["--", *words]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--queries", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--engine", metavar="URL", help="for example http://127.0.0.1:9200")
    options = parser.parse_args()
    generator = random.Random(options.seed)
    folder = tempfile.mkdtemp(prefix="urlspool-equality")
    server = Postgresql("equality")
    try:
        compare(os.path.realpath(options.binary), options, generator, folder, server)
    finally:
        server.stop()
        shutil.rmtree(folder)


def compare(binary, options, generator, folder, server):
    run = lambda *args, **more: subprocess.run([binary, *args], capture_output=True, check=False, **more)
    with open(f"{folder}/hard.mbox", "w") as file:
        file.write(mail(generator))
    corpus = [f"corpus/{part}" for part in ("mail", "news", "text", "containers")]
    lines = run("scan", "-q", "--context", "120", *corpus, f"{folder}/hard.mbox").stdout
    # The file of the corpus whose subject was edited has two readings; see docs/loading.md.
    targets = {"SQLite": f"{folder}/urls.db", "PostgreSQL": server.target}
    if options.engine:
        index = f"equality-{os.getpid()}"
        targets["engine"] = options.engine.replace("http", "elasticsearch+http", 1) + "/" + index
    for name, target in targets.items():
        loaded = run("load", "--into", target, input=lines)
        if loaded.returncode:
            sys.exit(f"{name}: {loaded.stderr.decode()}")
    if options.engine:
        urllib.request.urlopen(urllib.request.Request(f"{options.engine}/{index}/_refresh", method="POST")).close()
    records = [json.loads(line) for line in lines.splitlines()]
    queries = Queries(records, generator)
    found, empty, wrong = 0, 0, 0
    for number in range(options.queries):
        conditions, limit, words = queries.next()
        answers = {}
        for name, target in targets.items():
            ended = run("search", target, "--format=jsonl", *conditions, *limit, *words)
            answers[name] = (ended.returncode, ended.stdout, ended.stderr if ended.returncode else b"")
            if number % 5 == 0:
                facets = run("search", target, "--facets=domain,host,year,list,scheme", "--format=csv", *conditions, *words)
                answers[name] += (facets.returncode, facets.stdout)
        expected = answers["SQLite"]
        found += len(expected[1].splitlines())
        empty += not expected[1]
        for name, answer in answers.items():
            if answer != expected or answer[0]:
                wrong += 1
                print(f"{name}: {conditions + limit + words}: {counted(answer)}; SQLite: {counted(expected)}", file=sys.stderr)
    if options.engine:
        for name in (f"{index}*",):
            urllib.request.urlopen(urllib.request.Request(f"{options.engine}/{name}", method="DELETE")).close()
    print(f"{len(records)} records, {options.queries} queries in {', '.join(targets)}: {found} matches, {empty} queries without any; {wrong} differ")
    if wrong or empty * 2 > options.queries:
        sys.exit(1)


def counted(answer):
    return f"exit code {answer[0]}, {len(answer[1].splitlines())} lines {answer[2].decode()[:200]}"


if __name__ == "__main__":
    main()
