#!/usr/bin/env python3
"""Doubles hostile inputs and checks that the work grows at most 2.3 times.

    tests/tools/linear.py target/release/urlspool              instructions of 100 KiB to 400 KiB
    tests/tools/linear.py target/release/urlspool --large 64   processor time of 8 MiB to 64 MiB

The number of instructions is the same on every machine, except for some tens of thousands (waiting
threads, names of folders). So a family of few instructions is counted with 40 times the input, in
three sizes larger than a block that is read at once. Processor time varies: the smallest of five
runs counts, and a ratio above the limit is measured again. After three attempts the instructions
are counted, if valgrind is installed.
"""
import argparse, concurrent.futures, os, re, shutil, subprocess, sys, tempfile

# Maximum ratio of the work when the input doubles.
MAX_RATIO = 2.3
# Minimum instructions for the smallest input. Below that, waiting threads would matter.
MIN_INSTRUCTIONS = 1_000_000
# Factor of the input of a family that needs fewer.
CHEAP_FACTOR = 40
SKIPPED = 77  # Exit code of a tool that cannot run here.
HEAD = b"From a@b Mon Jan  1 00:00:00 1996\nSubject: x\nMessage-ID: <1@x>\n"


def repeat(unit, size):
    return (unit * (size // len(unit) + 1))[:size]


def body(unit, head=b""):
    return lambda size: HEAD + head + b"\n" + repeat(unit, size)


def numbered(form):
    return lambda size: (HEAD + b"\n" + b"".join(form % n for n in range(size // 10)))[:size]


def header(unit):
    return lambda size: HEAD + repeat(unit, size - size % len(unit)) + b"\n\nhttp://a.example/\n"


def line(size):
    """One line with URLs at its start, in its middle and at its end."""
    half = repeat(b"words and words ", size // 2)
    return b"http://a.example/ " + half + b" http://b.example/ " + half + b" http://c.example/"


HTML = b"MIME-Version: 1.0\nContent-Type: text/html\n"
QP = b"MIME-Version: 1.0\nContent-Transfer-Encoding: quoted-printable\n"
TYPE = b"MIME-Version: 1.0\nContent-Type: "
WARC = b"WARC/1.0\r\nWARC-Type: resource\r\nContent-Length: %d\r\n\r\n<a href=//b>\r\n\r\n\r\n"
MULTI = b"MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n"
TNEF = b"x\x9f>\"\1\0"
LIST = TNEF + b"\1\3\x90\6\0" + b"\xff" * 8
SIGNED = b"0\x80\6\x09*\x86H\x86\xf7\r\1\7\2\xa0\x800\x80\2\1\0001\0000\x80\6\1*\xa0\x80"

# Each name starts with its row in the project's failure catalogue for mail programs.
FAMILIES = [
    ("63 header fields", header(b"X-A: b\n")),
    ("63 header fields with URLs", header(b"X-A: http://a.example/b\n")),
    ("63 addresses", header(b"Cc: <a@b.example>,\n ")),
    ("65 blank lines", lambda size: repeat(b"\n", size) + b"http://a.example/\n"),
    ("61 nested multiparts", body(b"--b\nContent-Type: multipart/mixed; boundary=b\n\n", MULTI)),
    ("62 small parts", body(b"--b\n\nx\n", MULTI)),
    ("68 encoded words", header(b"Subject: =?utf-8?q?a?= =?utf-8?q?b?=\n")),
    ("69 parameters", header(b"Content-Type: text/plain;;;;;;;;;;;;;;\n")),
    ("69 comments", header(b"Date: ((((((((((((((((((((\n")),
    ("69 open quotes", header(b"Content-Type: text/plain; a=\"b\n")),
    ("71 escape sequences", body(b"\x1b$B$\"\x1b(Bhttp://a.example/\n")),
    ("71 HZ", body(b"~{VPND~}http://a.example/\n")),
    ("71 tildes and brackets", body(b"~{VP")),
    ("71 8-bit without a label", body(b"\xe9\xe8 \xe0 http://a.example/\n")),
    ("73 one long line", line),
    ("74 mailboxes", body(b"a@b.com\n")),
    ("74 mailto:", body(b"mailto:")),
    ("74 http:// and stars", body(b"http://" + b"*" * 4000)),
    ("74 http://!!!<", body(b"http://" + b"!" * 40 + b"<")),
    ("74 www.", body(b"www.")),
    ("74 opening brackets", body(b"((((")),
    ("74 http://", body(b"http://")),
    ("74 http://a.b/c,", body(b"http://a.b/c,")),
    ("74 URL:", body(b"URL:")),
    ("74 <URL:", body(b"<URL:")),
    ("74 <URL: and lines", body(b"<URL:http://a.b/\n")),
    ("74 news:", body(b"news:")),
    ("74 quotes", body(b"> > > > ")),
    ("74 quoted lines", body(b"> http://a.example/b\n")),
    ("74 broken lines", body(b"http://a.example/" + b"b" * 55 + b"\n" + b"c" * 72 + b"\n")),
    ("74 hyphens at line ends", body(b"<URL:http://a.example/b-\n")),
    ("74 escapes", body(b"http://a.b/%41%")),
    ("74 dots", body(b"a.")),
    ("74 colons", body(b"a:")),
    ("74 news: in one word", body(b"news:" * 100 + b".")),
    ("74 mailboxes in one word", body(b"mailto:a@!,")),
    ("74 invalid hosts", body(b"http://a!")),
    ("74 www. and exclamation marks", body(b"www.a!")),
    ("74 rejected by the grammars", body(b"x://a.b/%")),
    ("74 brackets that never close", body(b"((news:)" * 70 + b".")),
    ("75 nested tags", body(b"<div>", HTML)),
    ("75 tables", body(b"<table><tr><td><b><i></table>", HTML)),
    ("75 an unclosed attribute", body(b"b", HTML + b"\n<a href=\"http://a.example/")),
    ("75 unclosed comments", body(b"<!-- ", HTML)),
    ("75 unclosed tags", body(b"<a href=\"http://a.example/ ", HTML)),
    ("75 attributes of one tag", body(b"a=\"b\" ", HTML + b"\n<p ")),
    ("75 unclosed scripts", body(b"<script>", HTML)),
    ("75 links", body(b"<a href=http://a.example/>b</a>", HTML)),
    ("75 URLs in angle brackets", body(b"<http://a.b/c>", HTML)),
    ("76 character references", body(b"&amp;&#x41;&bogus;", HTML)),
    ("67 quoted-printable", body(b"=3D=41", QP)),
    ("67 soft breaks", body(b"=\n", QP)),
    ("67 residue of an equals sign", body(b"http://a.com=3D")),
    ("67 residue of a letter", body(b"http://a.com=C3")),
    ("67 residue of both", body(b"http://a.com=C3=3D")),
    ("67 residue in long words", body(b"http://" + b"a=3D" * 2000)),
    ("67 residue in words of a few KiB", body(b"http://a.com=3D" * 270 + b" ")),
    ("67 residue and line ends", body(b"http://a.b=3D=\n")),
    ("67 residue after its header", body(b"http://a.com=\n", b"\n" + QP)),
    ("forms: messages in JSON", lambda size: b"{" + repeat(b"\"body\":\"\\\"\",\"from\" ", size)),
    ("forms: UTF-16", lambda size: repeat("http://a.b/ c\n".encode("utf-16-le"), size)),
    ("forms: calendars", body(b"A:http://a.b/\\n\\,c\n d\n", TYPE + b"text/calendar\n")),
    ("forms: soft breaks of vCards", body(b"A;QUOTED-PRINTABLE:a=\n", TYPE + b"text/vcard\n")),
    ("forms: references of XML", body(b"&amp;amp;lt;&amp;amp;", TYPE + b"text/xml\n")),
    ("forms: strings of JSON", body(b"\\ud83d\\u0026\"", TYPE + b"application/json\n")),
    ("forms: quoted cells", body(b"\"a\"\"b,", TYPE + b"text/csv\n")),
    ("forms: strings of scripts", body(b"'http://a.b \"http://a.b'", HTML + b"\n<script>")),
    ("forms: marks of terminals", body(b"\x1b[1mp\x08p^[[m_\x08a")),
    ("forms: lone boundaries", body(b"--a\nContent-Type: multipart/mixed\n\n", MULTI)),
    ("forms: references in queries", body(b"http://a.b/?c&amp;d\xe2\x80\x8b,")),
    ("ends: bars in one word", body(b"http://a.b/c|")),
    ("ends: bars in a query of one word", body(b"|", b"\n[[http://a.b/?c")),
    ("ends: labels and tags", body(b"http://a.b/c[d]{code} ")),
    ("ends: brackets and tags in one word", body(b"[d]{code}", b"\n{http://a.b/")),
    ("ends: labels in wrappers", body(b"<http://a.b/c|d e> ")),
    ("ends: programs that fetch", body(b"curl http://a.b/?c|sh;")),
    ("ends: arguments of Texinfo", body(b"@uref{http://a.b/c,,d}")),
    ("ends: titles in two scripts", body("http://a.b/C\u30d7 ".encode())),
    ("starts: schemes with blanks", body(b"h t t p : / / ")),
    ("67 values of 3D", body(b"http://a.b/?c=3D&d=3D ")),
    ("bodies: headers without an end", body(b"Content-Transfer-Encoding: base64\n")),
    ("bodies: quoted headers", body(b"> A: b\n> Content-Transfer-Encoding: base64\n")),
    ("bodies: base64", body(b"Content-Transfer-Encoding: base64\n\naHR0cDovL2EuYi8K\n\n")),
    ("bodies: headers without a trace", body(b"Content-Transfer-Encoding: base64\n\n")),
    ("pages: marks of public-inbox",
     lambda size: b"<html>" + repeat(b"<pre\nid=b>\n\n<!-- /email-header: gravatar, ", size)),
    ("mailboxes of Dovecot",
     lambda size: b"2 M1e C5\n" + repeat(b"\x01\x02N          0000000000000007\nA: b\n\nx", size)),
    ("WARC records", lambda size: repeat(WARC % 14, size)),
    ("WARC records with a wrong length", lambda size: repeat(WARC % 10**9, size)),
    ("WARC lines that start no record", lambda size: WARC % 14 + repeat(b"WARC/1\n\n", size)),
    ("separators without blank lines", lambda size: repeat(HEAD + b"\nx\n", size)),
    ("packed: attributes of TNEF", lambda size: TNEF + repeat(b"\1\x0c\x80" + bytes(8), size)),
    ("packed: attachments of TNEF", lambda size: TNEF + repeat(b"\2\2\x90" + bytes(8), size)),
    ("packed: properties", lambda size: LIST + repeat(b"\3\0\1\0abcd", size)),
    ("packed: pieces of signed content", lambda size: SIGNED + repeat(b"\4\1a", size)),
    ("packed: open elements", lambda size: SIGNED[:24] + repeat(b"1\x80", size)),
    ("67 unclosed uuencode", body(b"begin 644 x\n#0V%T\n")),
    ("81 different URLs", numbered(b"news:a%x.b ")),
    ("81 equal URLs", body(b"http://a.example/ ")),
    ("false separators", body(b"\nFrom x\n")),
    ("messages", lambda size: repeat(HEAD + b"\nhttp://a.example/\n\n", size)),
]


def scan(binary, path):
    return [binary, "scan", "-q", "-j1", "-o", "/dev/null", path]


def instructions(binary, path):
    valgrind = "valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null".split()
    command = scan(binary, path) + ["--rejects", "/dev/null"]
    output = subprocess.run(valgrind + command, stderr=subprocess.PIPE, text=True).stderr
    return int(re.search(r"I\s+refs:\s+([\d,]+)", output)[1].replace(",", ""))


def processor_time(binary, path):
    def once():
        process = subprocess.Popen(scan(binary, path), stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = status = os.waitstatus_to_exitcode(status)
        assert status in (0, 1), f"{path}: ended with {status}"
        return usage.ru_utime + usage.ru_stime
    return min(once() for _ in range(5))


def worst(make, sizes, measure, idle, folder, least=0):
    """The largest ratio of the work for twice the input, and the work per byte of the largest
    input. All inputs are enlarged if the smallest takes less work than `least`."""
    works = []
    for size in sizes:
        path = os.path.join(folder, "input")
        with open(path, "wb") as out:
            out.write(make(size))
        works.append(max(measure(path) - idle, 1e-9))
        if works[0] < least:
            return worst(make, [CHEAP_FACTOR * size for size in sizes], measure, idle, folder)
    return max(after / before for before, after in zip(works, works[1:])), works[-1] / sizes[-1]


def main():
    parse = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parse.add_argument("binary")
    parse.add_argument("--large", type=int, default=0, metavar="MIB",
                       help="measure processor time for inputs of up to MIB mebibytes")
    parse.add_argument("--only", default="", help="run only families whose names contain this")
    args = parse.parse_args()
    if not args.large and not shutil.which("valgrind"):
        print("SKIPPED: linear time: valgrind, which counts instructions, is not installed")
        sys.exit(SKIPPED)
    if args.large:
        sizes = [8 << 20 + doubled for doubled in range(args.large.bit_length() - 3)]
        measure, unit = lambda path: processor_time(args.binary, path), "ns/byte"
    else:
        sizes, measure, unit = ([100 << 10, 200 << 10, 400 << 10],
                                lambda path: instructions(args.binary, path), "instructions/byte")
    tried = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        empty = os.path.join(folder, "empty.eml")
        with open(empty, "wb") as out:
            out.write(HEAD + b"\n")
        idle = measure(empty)

        def check(numbered):
            """Returns the ratio of a family, the work per byte, and its unit."""
            number, (_, make) = numbered
            own = os.path.join(folder, f"{number:03}")
            os.mkdir(own)
            for attempt in range(3 if args.large else 1):
                ratio, each = worst(make, sizes, measure, idle,
                                    own, 0 if args.large else MIN_INSTRUCTIONS)
                if ratio <= MAX_RATIO:
                    break
            each, counted = each * 1e9 if args.large else each, unit
            if args.large and ratio > MAX_RATIO and shutil.which("valgrind"):
                count = lambda path: instructions(args.binary, path)
                ratio, each = worst(make, sizes, count, count(empty), own)
                counted = "instructions/byte"
            shutil.rmtree(own)
            return ratio, each, counted

        families = [family for family in FAMILIES if args.only in family[0]]
        # Unlike processor time, the number of instructions does not depend on other processes.
        with concurrent.futures.ThreadPoolExecutor(1 if args.large else os.cpu_count()) as pool:
            for (name, _), (ratio, each, counted) in zip(families,
                                                         pool.map(check, enumerate(families))):
                tried += 1
                failed += ratio > MAX_RATIO
                print(f"{'ok' if ratio <= MAX_RATIO else 'NOT LINEAR':10} {ratio:5.2f} {each:9.1f} "
                      f"{counted}  {name}", flush=True)
    print(f"{tried} families, {failed} not linear")
    if not tried:
        sys.exit(f"no family has {args.only!r} in its name")
    sys.exit(failed > 0)


main()
