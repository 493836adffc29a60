#!/usr/bin/env python3
"""Loads the graphs that `urlspool graph` writes with networkx and Python's csv, and compares them.

    python3 tests/tools/graph_readers.py [URLSPOOL]

Scans the corpus of the repository, with a mail of hostile texts, into a database; reads the GraphML by networkx and the tables
by Python's csv; both must have the same nodes and edges, and the numbers of the database's tables. Needs the Python package
networkx.
"""

import csv
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

HOSTILE = """From x Mon Jan  1 00:00:00 1996
From: =?utf-8?q?=22=3E=3Cscript=3E=00=1B=E2=80=AE?= <"a]]>b"@m.example>
Date: Mon, 1 Jan 1996 10:00:00 +0000
Message-ID: <&lt;"1'@m.example>
References: <&lt;"1'@m.example> <]]>@m.example>
Subject: =?utf-8?q?=3D1+1=2C"=0A=EF=BF=BE=EF=BF=BF=F0=9F=92=A1</data></node>?=
List-Id: <"]]><graph>"@m.example>

http://m.example/?a=1&b=%3C'"'

"""


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else "target/release/urlspool"
    try:
        import networkx
    except ImportError:
        print("SKIPPED: the Python package networkx is not installed")
        sys.exit(77)
    failed = tried = 0

    def check(name, one, other):
        nonlocal failed, tried
        tried += 1
        print(f"{'passed' if one == other else 'FAILED'}: {name}: {one} {other}")
        failed += one != other

    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        mail, database = folder / "hostile.mbox", folder / "urls.db"
        mail.write_text(HOSTILE)
        # Some mails of the corpus cannot be read to their end.
        subprocess.run([program, "scan", "-q", "--into", database, "corpus/mail", "corpus/news", "corpus/text", mail])
        xml = subprocess.run([program, "graph", database], check=True, capture_output=True).stdout
        again = subprocess.run([program, "graph", database], check=True, capture_output=True).stdout
        check("the same bytes", xml == again, True)
        (folder / "urls.graphml").write_bytes(xml)
        graph = networkx.read_graphml(folder / "urls.graphml", force_multigraph=True)
        subprocess.run([program, "graph", database, "--as", "csv", "--out", folder / "graph"], check=True)
        tables = {}
        for name in ("nodes", "edges"):
            with open(folder / "graph" / f"{name}.csv", newline="", encoding="utf-8") as rows:
                tables[name] = list(csv.DictReader(rows))
        check("nodes in one of GraphML and CSV", len(set(graph) ^ {row["Id"] for row in tables["nodes"]}), 0)
        edges = sorted((a, b, data["kind"], str(int(data["weight"]))) for a, b, data in graph.edges(data=True))
        rows = sorted((row["Source"], row["Target"], row["Kind"], row["Weight"]) for row in tables["edges"])
        check("edges of GraphML and CSV", edges == rows, True)
        db = sqlite3.connect(database)
        number = lambda sql: db.execute(sql).fetchone()[0]
        kinds = [data["kind"] for _, data in graph.nodes(data=True)]
        check("links", kinds.count("link"), number("SELECT count(*) FROM links"))
        check("messages", kinds.count("message"), number("SELECT count(DISTINCT digest) FROM messages"))
        cited = sum(int(row["Weight"]) for row in tables["edges"] if row["Kind"] in ("cites", "quotes"))
        check("citations", cited, number("SELECT count(*) FROM urls WHERE link IS NOT NULL"))
        labels = [data["label"] for _, data in graph.nodes(data=True)]
        check("labels without control characters", any(ord(c) < 32 for label in labels for c in label), False)
        check("the subject with markup", any("</data></node>" in label for label in labels), True)
    print(f"{tried - failed} passed, {failed} failed, 0 skipped")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
