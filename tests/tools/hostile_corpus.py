#!/usr/bin/env python3
"""Writes the hostile mail corpus, scans it with one and four threads, and checks the results.

    tests/tools/hostile_corpus.py [PROGRAM] [--scale N] [--keep FOLDER]
    tests/tools/hostile_corpus.py [PROGRAM] --mails [NAME ...]
    tests/tools/hostile_corpus.py [PROGRAM] --growth

Each file has floods, damage or tricks from the project's failure catalogue for mail programs (the
number in its name is the row), and planted URLs that must all be found. `--scale 1` (the default)
writes about 0.4 GB. `--scale 10` has the full sizes: 100,000 nested parts, 10 million parts, lines
of 1 GB, 5 million URLs in a message. Both runs must write the same bytes within ten minutes, in 256
MiB of memory.

`--mails` writes mboxes of three mails of 31 MiB each, of kinds that take much memory to decode, and
scans each with one and with four threads. `--growth` prints processor time and memory for n, 2n and
4n: of each file of the corpus, and of each of these mails.
"""
import argparse, base64, functools, gzip, hashlib, io, json, os, shutil, subprocess, sys, tempfile
import zipfile

# Maximum memory for any file or message with default limits and up to four threads.
MAX_MIB = 256
MAX_SECONDS = 600
CHUNK = 1 << 20

planted = []


def url(name):
    planted.append(f"http://planted-{name}.example/")
    return planted[-1].encode()


def flood(unit, count):
    per_chunk = max(1, CHUNK // len(unit))
    while count > 0:
        n = min(per_chunk, count)
        yield unit * n
        count -= n


HEAD = b"From: a@b.example\nTo: c@d.example\nMIME-Version: 1.0\nSubject: x\n"


def corpus(scale):
    n = scale

    def nested():
        yield HEAD
        for level in range(10_000 * n):
            yield b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (level, level)
        yield b"Content-Type: text/plain\n\n" + url("61-deepest") + b"\n"

    def parts():
        yield HEAD + b"Content-Type: multipart/mixed; boundary=x\n\n"
        yield from flood(b"--x\n\na\n", 1_000_000 * n)
        yield b"--x\n\n" + url("62-last") + b"\n--x--\n" + url("62-epilogue") + b"\n"

    def fields():
        yield HEAD
        yield from flood(b"X-Flood: word\n", 100_000 * n)
        yield b"X-Url: " + url("63-field") + b"\n\n" + url("63-body") + b"\n"

    def long_field():
        yield HEAD + b"X-Long: " + url("64-start") + b" "
        yield from flood(b"word ", 20_000_000 * n)
        yield url("64-end") + b"\n\n" + url("64-body") + b"\n"

    def folded_field():
        yield HEAD + b"X-Folded: " + url("64-fold-start")
        yield from flood(b"\n word word word word", 2_000_000 * n)
        yield b"\n " + url("64-fold-end") + b"\n\n" + url("64-fold-body") + b"\n"

    def endless_header():
        yield from flood(b"X-Field: value\n", 1_000_000 * n)
        yield b"X-Url: " + url("65-endless") + b"\n"

    def boundaries():
        yield HEAD + b'Content-Type: multipart/mixed; boundary="a"; boundary="aa"\n\n'
        yield b"preamble " + url("66-preamble") + b"\n--a\n\n" + url(
            "66-first") + b"\n--aa\n\n" + url("66-second") + b"\n"
        yield b"--" + b"a" * 3000 + b"\n\n" + url("66-long") + b"\n--a--\nepilogue "
        yield url("66-epilogue") + b"\n"

    def encodings():
        yield HEAD + b"Content-Type: multipart/mixed; boundary=x\n\n"
        text = b"see " + url("67-base64") + b" now\n"
        yield b"--x\nContent-Transfer-Encoding: base64\n\n"
        yield b"".join(b"%c!?\n" % byte for byte in base64.b64encode(text)) + b"\n"
        yield b"--x\nContent-Transfer-Encoding: quoted-printable\n\n"
        one = url("67-soft-break")
        yield b"see " + one[:15] + b"=\n" + one[15:] + b" =ZZ =\n"
        yield b"--x\nContent-Transfer-Encoding: x-unknown\n\nbegin 644 file\n"
        yield url("67-uu") + b"\n--x--\n"

    def encoded_words():
        yield HEAD + b"X-Words: "
        yield from flood(b"=?utf-8?q?word?= ", 100_000 * n)
        yield b"\nContent-Disposition: attachment"
        yield from flood(b"; filename*999999999*=x", 20_000 * n)
        yield b"\n\n" + url("68-body") + b"\n"

    def punctuation():
        yield HEAD + b"Content-Type: text/plain"
        yield from flood(b";", 1_000_000 * n)
        yield b"\nFrom: "
        yield from flood(b"(", 1_000_000 * n)
        yield b'\nTo: "unclosed\n\n' + url("69-body") + b"\n"

    def nul():
        yield HEAD + b"\n\0\0 " + url("70-before") + b" \0\n\0" + b"word\0word "
        yield url("70-after") + b"\n"

    def charsets():
        for number, name in enumerate([b"utf-7", b"iso-2022-jp",
                                       b"utf-16", b"x" * 1000, b"\xff\xfe", b"utf-8"]):
            yield b"From a@b Mon\n" + HEAD + b"Content-Type: text/plain; charset=" + name + b"\n\n"
            yield b"\x1b$B!! \xed\xa0\x80 \xc0\xaf \xef\xbb\xbf \x1b(B\n" * 50
            text = b"\n" + url("71-%d" % number) + b"\n\n"
            # The blank line before the next separator is in bytes, not in UTF-16.
            yield text.decode().encode("utf-16-le") + b"\n\n" if name == b"utf-16" else text

    def line_ends():
        yield HEAD.replace(b"\n", b"\r\n") + b"\r\n" + url("72-crlf") + b"\r\r\n" + url(
            "72-cr") + b"\r\xc2\x85 " + url("72-nel") + b"\n"

    def one_line():
        yield HEAD + b"\n" + url("73-start") + b" "
        for number in range(3):
            yield from flood(b"word ", 7_000_000 * n)
            yield url(f"73-{number}") + b" "
        yield b"\n"

    def flooded(name, unit, count, before=b""):
        def text():
            yield HEAD + before
            yield from flood(unit, count * n)
            yield b"\n" + url(name) + b"\n"

        return text

    def starts(unit, name):
        return flooded("74-" + name, unit, 1_000_000 // len(unit), b"\n")

    def html(before, unit, count, name):
        def text():
            yield HEAD + b"Content-Type: text/html\n\n<html><body>" + before
            yield from flood(unit, count * n)
            yield b"\n--></a>\n<p>" + url("75-" + name) + b"</p>\n"

        return text

    def entities():
        yield HEAD + b"Content-Type: text/html\n\n<p>&#x"
        yield from flood(b"f", 100_000 * n)
        yield b"; "
        yield from flood(b"&amp;", 100_000 * n)
        yield b"&#xD800; </p><p>" + url("76") + b"</p>\n"

    def dates():
        yield HEAD + b"Date: " + b"(" * 200_000 + b" 1 Jan 1996\n\n" + url("77") + b"\n"

    def panics():
        for number, field in enumerate([b"Received:\n\t", b"Content-Type:",
                                        b"=?=?=?", b"Date: 99 Foo -1"]):
            yield b"From a@b Mon\n" + field + b"\nSubject: x\n\n" + url("78-%d" % number) + b"\n\n"

    def long_urls():
        yield HEAD + b"\nhttp://long.example/"
        yield from flood(b"x", 1_000_000 * n)
        yield b"\n<URL:data:text/plain,"
        yield from flood(b"y", 5_000_000 * n)
        yield b">\n" + url("80") + b"\n"

    def many_urls():
        yield HEAD + b"\n"
        for number in range(0, 50_000 * n, 1000):
            yield b"".join(b"http://m%d.example/\n" % (number + i) for i in range(1000))
        yield url("81") + b"\n"

    yield from {
        "61-nested": nested, "62-parts": parts, "63-fields": fields, "64-field": long_field,
        "61-digests": flooded("61-digest", b"Content-Type: message/rfc822\n\nSubject: y\n", 10_000),
        "63-addresses": flooded(
            "63-address", b"Cc: Some One <some.one@host.example>,\n two@host.example\n", 50_000),
        "64-folded": folded_field, "65-endless": endless_header, "66-boundaries": boundaries,
        "65-blank": flooded("65-blank", b"\n", 1_000_000, b"\n"),
        "67-encodings": encodings, "68-words": encoded_words, "69-punctuation": punctuation,
        "70-nul": nul, "71-charsets": charsets, "72-ends": line_ends, "73-line": one_line,
        "74-addresses": starts(b"a@b.com\n", "addresses"),
        "74-mailto": starts(b"mailto:", "mailto"),
        "74-stars": starts(b"http://" + b"*" * 70 + b"a ", "stars"),
        "74-marks": starts(b"http://" + b"!" * 40 + b"<", "marks"),
        "74-www": starts(b"www.", "www"), "74-brackets": starts(b"((((", "brackets"),
        "74-http": starts(b"http://", "http"),
        "75-tags": html(b"", b"<b><table><i>", 50_000, "tags"),
        "75-attribute": html(b"<a title='", b"x", 1_000_000, "attribute"),
        "75-comment": html(b"<!--", b"word ", 100_000, "comment"), "76-entities": entities,
        "77-date": dates, "78-panics": panics, "80-long": long_urls, "81-many": many_urls,
        "82-hosts": flooded("82", b"http://xn--" * 20 + b".example/ http://[fe80::1%25eth0]/ "
                            b"http://a:99999/ http://a@b@c/\n", 2_000, b"\n"),
    }.items()


PLANTED = b"http://planted.example/"
HTML = b"text/html; charset=utf-8"
# Mails of one repeated unit: content type, transfer encoding, start, unit, end.
UNITS = {
    "replaced": (b"text/plain; charset=utf-8", b"8bit", b"", b"\xff", b" "),
    "replaced-html": (HTML, b"8bit", b"", b"\xff", b" "),
    "latin-1": (b"text/html; charset=iso-8859-1", b"8bit", b"", b"\xe9&", b" "),
    "windows-1252": (b"text/html; charset=windows-1252", b"8bit", b"", b"\x99", b" "),
    "gbk": (b"text/html; charset=gbk", b"8bit", b"", b"\xc4\xe3a", b" "),
    "big5": (b"text/plain; charset=big5", b"8bit", b"", b"\x88\x62", b" "),
    "iso-2022-jp": (b"text/html; charset=iso-2022-jp", b"7bit", b"", b"\x1b$B0!\x1b(B", b" "),
    "utf-7": (b"text/html; charset=utf-7", b"7bit", b"", b"+AGg-", b" "),
    "utf-7-qp": (b"text/html; charset=utf-7", b"quoted-printable", b"", b"=2BAGg-", b" "),
    "utf-7-base64": (b"text/html; charset=utf-7", b"base64", b"", b"+AGg-", b" "),
    "qp": (HTML, b"quoted-printable", b"", b"=3D", b" "),
    "qp-replaced": (HTML, b"quoted-printable", b"", b"=FF", b" "),
    "base64-latin-1": (b"text/html; charset=iso-8859-1", b"base64", b"", b"\xe9&", b" "),
    "base64-replaced": (HTML, b"base64", b"", b"\xff", b" "),
    "flowed": (b"text/plain; format=flowed; delsp=yes", b"7bit", b"", b">a \n>>b \n", b"\n"),
    "folded": (b"text/calendar", b"7bit", b"", b"a\n ", b"\n"),
    "entities": (HTML, b"7bit", b"", b"&amp;", b" "),
    "ampersands": (HTML, b"7bit", b"", b"&", b" "),
    "carriage-returns": (HTML, b"7bit", b"", b"\r", b" "),
    "attributes": (HTML, b"7bit", b"", b"<a " + b"b " * 500, b"> "),
    "open-tags": (HTML, b"7bit", b"", b"<a href=", b"> "),
    "links": (HTML, b"7bit", b"<base href=http://base.example/>", b"<a href=x>", b" "),
    "images": (HTML, b"7bit", b"<base href=http://a.example/>", b"<img src=a srcset='b c'>", b" "),
    "srcset": (HTML, b"7bit", b'<base href=http://base.example/><img srcset="', b"a ", b'"> '),
    "styles": (HTML, b"7bit", b"<style>", b"url(a)", b"</style> "),
    "comments": (HTML, b"7bit", b"", b"<!--[if x]><img src=x><![endif]-->", b" "),
    "attribute": (HTML, b"8bit", b'<a href="http://a.example/', b"\xff", b'"> '),
    "title": (HTML, b"8bit", b"<title>", b"\0", b"</title> "),
    "parts": (b"multipart/mixed; boundary=b", b"7bit", b"", b"--b\n\nhttp://a.b/\n", b"--b\n\n"),
    "uuencode": (b"text/plain", b"7bit", b"", b"begin 644 x\n#0V%T\n`\nend\n", b" "),
    "signatures": (b"text/plain", b"7bit", b"", b"-- \n", b" "),
    "line": (b"text/plain", b"7bit", b"", b"words and words ", b" "),
    "url": (b"text/plain", b"7bit", b"http://long.example/", b"x", b" "),
    "base64-junk": (b"text/plain", b"base64", None, b"a!", b""),
    "base64-padding": (b"text/plain", b"base64", None, b"YQ==", b""),
}


def encoded(chunks, encoding):
    """Yields chunks of any size encoded in base64. Other encodings are passed through."""
    if encoding != b"base64":
        yield from chunks
        return
    rest = b""
    for chunk in chunks:
        rest += chunk
        whole = len(rest) // 57 * 57
        yield base64.encodebytes(rest[:whole])
        rest = rest[whole:]
    yield base64.encodebytes(rest)


def unit_mail(name, size):
    media_type, encoding, before, unit, after = UNITS[name]
    yield (HEAD + b"Content-Type: " + media_type + b"\nContent-Transfer-Encoding: "
           + encoding + b"\n\n")
    if before is None:
        # Damage to the encoding itself.
        yield from flood(unit, size // len(unit))
        return
    count = size // len(unit) * (74 if encoding == b"base64" else 100) // 100

    def text():
        yield before
        yield from flood(unit, count)
        yield after + PLANTED + b"\n"

    yield from encoded(text(), encoding)


def numbered_mail(form, head=b""):
    def mail(size):
        yield HEAD + head + b"\n"
        number = 0
        while size > 0:
            lines = b"".join(form % i for i in range(number, number + 10_000))
            yield lines
            number, size = number + 10_000, size - len(lines)
        yield PLANTED + b"\n"
    return mail


def nested_mail(size):
    """A base64 message inside another one."""
    text = b"".join(unit_mail("latin-1", size * 54 // 100))
    for _ in range(2):
        text = (HEAD + b"Content-Type: message/rfc822\nContent-Transfer-Encoding: base64\n\n"
                + base64.encodebytes(text))
    yield text


def header_mail(before, unit, after=b""):
    def mail(size):
        yield HEAD + before
        yield from flood(unit, min(size // 2, 3 << 20) // len(unit))
        yield after + b"\n\n" + PLANTED + b"\n"
        yield from flood(b"x\n", size // 4)
    return mail


def attachment(name, data):
    yield (HEAD + b"Content-Type: application/octet-stream; name="
           + name + b"\nContent-Transfer-Encoding: base64\n\n")
    yield base64.encodebytes(data)


def attached(name, members):
    """Mail with a zip or a gzip of members of the mail's size."""
    def mail(size):
        packed = io.BytesIO()
        if name.endswith(b".gz"):
            with gzip.open(packed, "wb") as out:
                out.writelines(members(size))
        else:
            with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as out:
                for member, chunks in members(size):
                    with out.open(member, "w") as file:
                        for chunk in chunks:
                            file.write(chunk)
        yield from attachment(name, packed.getvalue())
    return mail


def repeated(before, unit, after=b""):
    def chunks(size):
        yield before
        yield from flood(unit, size // len(unit))
        yield after
    return chunks


def zipped(name, before, unit):
    return attached(b"a.zip", lambda size: [(name, repeated(before + b" ", unit)(size))])


def word(text, links=None):
    rels = [("word/_rels/document.xml.rels", links)] if links else []
    parts = [*rels, ("word/document.xml", text)]
    return lambda size: ((name, chunks(size)) for name, chunks in parts)


def relationships(size):
    for number in range(0, size // 60):
        yield b'<Relationship Id="%x" Target="x" TargetMode="External"/>' % number


def packed(before, unit):
    return lambda size: attachment(b"a.dat", before + unit * (size * 74 // 100 // len(unit)))


TNEF = b"x\x9f>\"\1\0\1\x0c\x80\2\0\x17\0\0\0" + PLANTED + b"\0\0"
SIGNED = (b"0\x80\6\x09*\x86H\x86\xf7\r\1\7\2\xa0\x800\x80\2\1\0001\0000\x80\6\1*\xa0\x80"
          b"\4\x1fTo: a\n\n" + PLANTED + b" ")
PLANTED_RUN = b"<w:p><w:t>" + PLANTED + b"</w:t></w:p>"
MAILS = {name: (lambda size, name=name: unit_mail(name, size)) for name in UNITS} | {
    "urls": numbered_mail(b"see http://a.example/xyz%d for text on lamps, wicks, oil and so on\n"),
    "short-urls": numbered_mail(b"news:a%x.b "),
    "short-links": numbered_mail(b"<a href=x:%x>", b"Content-Type: text/html\n"),
    "two-readings": numbered_mail(b"http://a%x.b\n", b"Content-Transfer-Encoding: base64\n"),
    "nested": nested_mail,
    "fields": header_mail(b"", b"a:\n", b"b: c"),
    "words": header_mail(b"X-Words: ", b"=?utf-8?q?a.b:c?= "),
    "subject": header_mail(b"Subject: =?utf-8?b?", b"aHR0cDovL2EuYi8g", b"?="),
    "zip-text": zipped("a.txt", PLANTED, b"\xff"),
    "zip-page": zipped("a.html", PLANTED, b"\xe9&"),
    "zip-links": zipped("a.html", PLANTED, b"<img srcset='a b c'>"),
    "zip-mail": zipped("a.eml", HEAD + b"\n" + PLANTED, b"\xff"),
    "gzip": attached(b"a.txt.gz", repeated(PLANTED + b" ", b"\xe9&")),
    "docx": attached(b"a.docx", word(repeated(PLANTED_RUN, b"<w:t>a&lt;</w:t>"))),
    "docx-text": attached(b"a.docx", word(repeated(PLANTED_RUN + b"<w:t>", b"a"))),
    "tnef-attachments": packed(TNEF, b"\2\2\x90\6\0" + bytes(6)),
    "tnef-data": packed(TNEF + b"\2\x0f\x80\6\0\xff\xff\xff\xff", b"a"),
    "signed": packed(SIGNED, b"\4\2a "),
    "docx-links": attached(b"a.docx", word(repeated(PLANTED_RUN, b"<w:p/>"), relationships)),
}
# Kinds without a place for the planted URL.
UNPLANTED = {"base64-junk", "base64-padding"}
MAIL_BYTES = 31 << 20


def check_mails(program, folder, names, group):
    """Scans mboxes of three mails of each kind. Returns the number of failures."""
    failed = 0
    path = f"{folder}/mails.mbox"
    for name in names or MAILS:
        with open(path, "wb") as file:
            for _ in range(3):
                file.write(b"From a@b.example Mon Jan  1 00:00:00 2001\n")
                file.writelines(MAILS[name](MAIL_BYTES))
                file.write(b"\n\n")
        found = []
        for threads in [1, 4]:
            code, out, mib, seconds = scan(program, path, threads, group)
            with open(out.name, "rb") as lines:
                planted_urls = sum(b'"url":"' + PLANTED + b'"' in line for line in lines)
            out.close()
            is_good = code in (0, 1) and mib <= MAX_MIB and (planted_urls >= 3 or name in UNPLANTED)
            failed += not is_good
            found.append(f"-j{threads} {mib:4} MiB {seconds:6.1f} "
                         f"s{'' if is_good else f' FAILED ({code}, {planted_urls} planted)'}")
        print(f"{name:16}", *found, flush=True)
    return failed


def print_growth(program, folder, scale):
    """Prints time and memory for n, 2n and 4n. Returns the number of runs above the limit."""
    failed = 0
    rows = [(name, [dict(corpus(scale * factor))[name] for factor in (1, 2, 4)])
            for name, _ in corpus(scale)]
    for name, mail in MAILS.items():
        sizes = [MAIL_BYTES // part for part in (4, 2, 1)]
        rows.append((name, [functools.partial(mail, size) for size in sizes]))
    print(f"{'':18}{'MiB of input':>21}{'seconds':>21}{'MiB of memory':>18}")
    for name, texts in rows:
        figures = []
        for text in texts:
            path = f"{folder}/grown"
            with open(path, "wb") as file:
                for piece in text():
                    file.write(piece)
            code, out, mib, seconds = scan(program, path, 1, None)
            out.close()
            failed += mib > MAX_MIB or code not in (0, 1)
            figures.append((os.path.getsize(path) / (1 << 20), seconds, mib))
        sizes, times, memory = zip(*figures)
        print(f"{name:18}" + "".join(f"{x:7.1f}" for x in sizes)
              + "".join(f"{x:7.2f}" for x in times) + "".join(f"{x:6}" for x in memory), flush=True)
    return failed


def memory_group():
    """Returns a command prefix that limits memory, and the file with its peak, or None."""
    v1, v2 = "/sys/fs/cgroup/memory", "/sys/fs/cgroup"
    for base, limit, peak in [(v1, "memory.limit_in_bytes", "memory.max_usage_in_bytes"),
                              (v2, "memory.max", "memory.peak")]:
        group = f"{base}/urlspool-hostile-{os.getpid()}"
        try:
            os.mkdir(group)
            with open(f"{group}/{limit}", "w") as file:
                file.write(str(MAX_MIB << 20))
            with open(f"{group}/{peak}"):
                pass
            return group, f"{group}/{peak}"
        except OSError:
            if os.path.isdir(group):
                os.rmdir(group)
    return None


def scan(program, path, threads, group):
    """Returns the exit status, output file, peak memory in MiB and processor seconds of a run."""
    out = tempfile.NamedTemporaryFile(dir=os.path.dirname(path))

    def enter():
        if group:
            with open(f"{group[0]}/cgroup.procs", "w") as file:
                file.write(str(os.getpid()))

    command = [program, "scan", "-q", "-j", str(threads), "--events", "/dev/null", path]
    child = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL, preexec_fn=enter)
    _, status, used = os.wait4(child.pid, 0)
    return (os.waitstatus_to_exitcode(status), out, used.ru_maxrss >> 10,
            used.ru_utime + used.ru_stime)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", nargs="?", default="target/release/urlspool")
    parser.add_argument("--scale", type=int, default=1)
    parser.add_argument("--keep", help="write the corpus here and keep it")
    parser.add_argument("--mails", nargs="*", metavar="NAME",
                        help="scan mails that take much memory instead")
    parser.add_argument("--growth", action="store_true",
                        help="print time and memory for n, 2n and 4n instead")
    args = parser.parse_args()
    base = tempfile.mkdtemp(prefix="urlspool-hostile-")
    program = os.path.realpath(args.program)
    if args.growth or args.mails is not None:
        failed = (print_growth(program, base, args.scale)
                  if args.growth else check_mails(program, base, args.mails, None))
        shutil.rmtree(base)
        print("passed" if not failed else f"{failed} failed")
        sys.exit(bool(failed))
    folder = args.keep or f"{base}/corpus"
    os.makedirs(folder, exist_ok=True)
    size = 0
    for name, text in corpus(args.scale):
        with open(f"{folder}/{name}", "wb") as file:
            for piece in text():
                file.write(piece)
        size += os.path.getsize(f"{folder}/{name}")
    print(f"{len(os.listdir(folder))} files, {size >> 20} MiB, {len(planted)} planted URLs")
    group, failed, digests = memory_group(), 0, set()
    print("memory is limited to 256 MiB by a cgroup"
          if group else "SKIPPED: no cgroup can be made here; memory is only measured")
    for threads in [1, 4]:
        code, out, mib, seconds = scan(program, folder, threads, group)
        digest, missing, lines = hashlib.sha256(), set(planted), 0
        with open(out.name, "rb") as file:
            for line in file:
                digest.update(line)
                lines += 1
                if b"planted-" in line:
                    missing.discard(json.loads(line)["url"])
        out.close()
        digests.add(digest.hexdigest())
        print(f"-j{threads}: exit {code}, {lines} records, "
              f"{len(planted) - len(missing)} of {len(planted)} planted URLs, "
              f"{mib} MiB, {seconds:.1f} s")
        if missing:
            print("  not found:", *sorted(missing))
        failed += bool(missing) + (code not in (0, 1)) + (mib > MAX_MIB) + (seconds > MAX_SECONDS)
    if len(digests) > 1:
        print("the runs with one and four threads differ")
    failed += len(digests) > 1
    if group:
        os.rmdir(group[0])
    shutil.rmtree(base)
    print("passed" if not failed else f"{failed} failed")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
