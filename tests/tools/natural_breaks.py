#!/usr/bin/env python3
"""Finds bare URLs that end a line in archives of mail, and labels them for join_calibration.py.

usage: natural_breaks.py --rule ARCHIVE... > LABELS.jsonl
       natural_breaks.py --labels LABELS.tsv ARCHIVE... > LABELS.jsonl
       natural_breaks.py --places PLACES.jsonl --rule ARCHIVE...

ARCHIVE is an mbox, a message, a plain text, a folder of these, or a git repository of public-inbox
or with such files. The name of the archive is its last path component, or the folder's name for a
repository called `repo`.

--rule labels a URL by the rest of its archive. The URL continues over its line end if the joined
text occurs elsewhere in one piece: inside a line, between brackets, in an HTML attribute, or before
a blank line. It ends there if the joined text never occurs in one piece, and the first part does in
at least three messages that do not quote it, each time before different text and at least once
inside a line. All other URLs are excluded. --places instead prints the errors of the rule on places
that were read by eye (lines with `repo`, `at`, `offset`, `want`, `truth`).

LABELS.tsv holds labels that were read by eye, but no text of the mail, so it can be kept where the
mail cannot:

    DIGEST <tab> OFFSET <tab> PIECES

DIGEST is the start of the SHA-256 of the decoded text of a part (UTF-8), OFFSET the offset of the
URL in this text, and PIECES the ranges of bytes of the URL, counted from OFFSET, such as `0-68
71-83`. With a single range, the URL ends at its line end. A URL that recurs with the same next
line, as in quoted mail, is printed once per archive.
"""
import argparse, collections, email, email.policy, gzip, hashlib, html, json, os, re, subprocess
import tempfile

from world import output

URL = re.compile(rb"(?i)(?<![\w:+.-])(?:https?|ftp|gopher|git|ssh|telnet|svn|rsync)://[^\s<>\"`]*")
WRAPPER = re.compile(rb"<\s*URL:\s*$", re.I)
LINK = re.compile(rb"(?:href|src)\s*=\s*[\"']([^\"'\s]+)[\"']", re.I)
MARKS = re.compile(rb"(?:[ \t]*(?:[>|]|\xe2\x80\xba|\xe2\x94\x82|[A-Z]{1,3}>))*[ \t]*")
WORD = re.compile(rb"[^\s<>\"`]*")
# Lines before and after a URL. The program looks at twenty on each side.
LINES = 24
DIGEST_DIGITS = 16
# Maximum number of messages read per archive, and of broken and of whole URLs printed per host and
# per text.
MESSAGES = 40_000
PER_HOST = 20
PER_TEXT = 3
# Minimum number of messages with the first part of a URL to prove that it is whole.
WHOLE_MESSAGES = 3
# Maximum number of lines of a reading.
PIECES = 8


def blobs(repository):
    """The files of the newest commit of a repository, or the messages of public-inbox, by name."""
    git = ["git", "--git-dir", repository]
    rows = output(*git, "ls-tree", "-r", "-z", "HEAD").split(b"\0")[:-1]
    names = {row.split()[2]: row.split(b"\t", 1)[1] for row in rows}
    if set(names.values()) <= {b"m", b"d"}:
        listed = output(*git, "cat-file", "--batch-all-objects", "--batch-check")
        names = {row.split()[0]: row.split()[0] for row in listed.splitlines() if b" blob " in row}
    with tempfile.TemporaryFile() as wanted:
        wanted.write(b"\n".join(names) + b"\n")
        wanted.seek(0)
        batch = subprocess.Popen([*git, "cat-file", "--batch"],
                                 stdin=wanted, stdout=subprocess.PIPE)
        for name in names.values():
            head = batch.stdout.readline().split()
            if head[-1] != b"missing":
                yield (name.decode("utf-8", "replace"),
                       unpacked(batch.stdout.read(int(head[2]) + 1)[:-1]))


def unpacked(content):
    return gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content


def contents(path):
    for repository in (path, os.path.join(path, ".git")):
        if os.path.isfile(os.path.join(repository, "HEAD")):
            yield from blobs(repository)
            return
    if not os.path.isdir(path):
        with open(path, "rb") as file:
            yield path, unpacked(file.read())
    for folder, folders, names in os.walk(path):
        folders.sort()
        for name in sorted(names):
            with open(os.path.join(folder, name), "rb") as file:
                yield os.path.join(folder, name), unpacked(file.read())


def messages(content):
    """The messages of an mbox, or the whole file."""
    if not content.startswith(b"From "):
        yield content
        return
    starts = [0] + [match.start() + 1 for match in re.finditer(rb"\nFrom ", content)]
    for start, end in zip(starts, starts[1:] + [len(content)]):
        yield re.sub(rb"(?<=\n)\r?\n\Z", b"", content[content.find(b"\n", start) + 1:end])


def utf8(text, charset):
    """`text` in UTF-8, if it is not already."""
    for name in ("utf-8", charset):
        try:
            return text.decode(name).encode()
        except (LookupError, UnicodeError):
            pass
    return text


def texts(raw):
    """The decoded texts of a message, as type and text, or the whole file otherwise."""
    if not re.match(rb"(?:[A-Za-z][A-Za-z0-9-]*:[^\n]*\n(?:[ \t][^\n]*\n)*){3}", raw):
        yield "text/plain", utf8(raw, "iso8859-1")
        return
    for part in email.message_from_bytes(raw, policy=email.policy.compat32).walk():
        if part.get_content_type() in ("text/plain", "text/html"):
            try:
                charset = part.get_content_charset()
            except LookupError:
                charset = None
            yield part.get_content_type(), utf8(part.get_payload(decode=True) or b"",
                                                charset or "iso8859-1")


def window(text, start):
    first = start
    for _ in range(LINES):
        first = text.rfind(b"\n", 0, first)
        if first < 0:
            break
    last = start
    for _ in range(LINES):
        last = text.find(b"\n", last + 1)
        if last < 0:
            return first + 1, len(text)
    return first + 1, last + 1


def bare(url):
    """`url` without punctuation or brackets at its end."""
    url = url.rstrip(b".,;:!?'*_|\\")
    while url[-1:] in (b")", b"]", b"}") and url.count(url[-1:]) > url.count(
        {b")": b"(", b"]": b"[", b"}": b"{"}[url[-1:]]):
        url = url[:-1].rstrip(b".,;:!?'*_|\\")
    return url


class Place:
    """A URL that ends a line."""

    def __init__(self, name, text, start, end):
        self.name, self.start = name, start
        first, last = window(text, start)
        self.text, self.shift = text[first:last], first
        self.head = text[start:end]
        self.digest = hashlib.sha256(text).hexdigest()[:DIGEST_DIGITS]
        self.readings, self.following = [], b""
        # The words of the next lines, each alone on its line except the last.
        url, at = self.head, text.find(b"\n", end)
        blanks = 0
        while len(self.readings) < PIECES and 0 <= at:
            at += MARKS.match(text, at + 1).end() - at
            word = WORD.match(text, at).group()
            stop = text.find(b"\n", at)
            stop = len(text) if stop < 0 else stop
            if not word:
                if text[at:stop].strip() or blanks or self.readings:
                    break
                blanks, at = 1, stop
                continue
            if not self.readings:
                self.following = word
            # The joined text has another URL or script, so it occurs only where texts were glued.
            if b"://" in word or self.head.isascii() and not word.isascii():
                break
            cut = url[:-1] if url.endswith((b"=", b"\\")) and b"=20" in self.text else url
            url = cut + word
            self.readings.append(url)
            if text[at + len(word):stop].strip():
                break
            at = stop if stop < len(text) else -1

    def row(self, archive, url):
        text = self.text.decode("utf-8", "surrogateescape")
        row = dict(id=f"{self.digest}:{self.start}", archive=archive,
                   sample="natural", text=text, start=self.start - self.shift)
        return dict(row, url=url.decode("utf-8", "surrogateescape")) if url else row


class Archive:
    """The URLs of an archive: those that end a line, and how often each occurs in one piece."""

    def __init__(self, path, keeps_copies=False):
        parts = os.path.normpath(path).split("/")
        self.path, self.name = path, parts[-2] if parts[-1] == "repo" else parts[-1]
        self.places, self.whole, self.unquoted = [], set(), collections.defaultdict(dict)
        seen, number = None if keeps_copies else set(), 0
        for name, content in contents(path):
            for raw in messages(content):
                number += 1
                if number <= MESSAGES:
                    for kind, text in texts(raw):
                        self.read(name, number, kind, text, seen)

    def read(self, name, number, kind, text, seen):
        if kind == "text/html":
            self.whole.update(bare(html.unescape(link.decode("utf-8", "replace")).encode())
                              for link in LINK.findall(text))
            return
        for match in URL.finditer(text):
            stop = text.find(b"\n", match.end())
            stop = len(text) if stop < 0 else stop
            if WRAPPER.search(text, max(0, match.start() - 9), match.start()):
                continue
            url = bare(match.group())
            line = text.rfind(b"\n", 0, match.start()) + 1
            quoted = re.match(rb"[ \t]*[>|]", text[line:match.start() + 1]) is not None
            at_end = not text[match.end():stop].strip()
            # A line end ends a paragraph if the next line is blank except for quote marks.
            blank = not text[stop + 1:text.find(b"\n", stop + 1)].strip(b"> |\t\r")
            if not at_end or blank:
                self.whole.add(url)
            following = b"" if not at_end or blank else text[stop + 1:stop + 300].split(
                b"\n")[0].strip(b"> |\t\r").split(b" ")[0]
            if not quoted and len(self.unquoted[url]) < 60:
                self.unquoted[url][number] = following
            key = match.group(), text[stop + 1:stop + 300].split(b"\n")[0].strip(b"> |\t\r")
            # A wrapper is not a place, but shows the whole URL.
            if (at_end and stop < len(text) and text[match.start() - 1:match.start()] != b"<"
                and key not in (seen or ())):
                if not blank and seen is not None:
                    seen.add(key)
                self.places.append(Place(name, text, match.start(), match.end()))

    def label(self, place):
        """The URL that an author meant according to the rule, or `None` if it cannot decide."""
        head = bare(place.head)
        if head.endswith(b"//"):
            return None
        for reading in reversed(place.readings):
            joined = bare(reading)
            if joined in self.whole and joined != head:
                return joined
        others = [text for text in self.unquoted[head].values() if text != place.following]
        return place.head if WHOLE_MESSAGES <= len(others) and b"" in others else None


def read_labels(path):
    with open(path, encoding="ascii") as lines:
        rows = [line.split("\t") for line in lines if not line.startswith("#")]
    return {(digest, int(offset)): [tuple(map(int, piece.split("-"))) for piece in pieces.split()]
            for digest, offset, pieces in rows}


def errors(archive, places):
    """Counts how often the labels of the rule agree with places that were read by eye."""
    wanted = collections.defaultdict(list)
    for place in places:
        if (place["repo"].replace("/", "+") == archive.name and place["want"]
            and not place["unwrapped"]):
            wanted[place["at"]].append((place["offset"], place["want"], place["truth"]))
    counts = collections.Counter()
    for name, content in contents(archive.path):
        for offset, want, truth in wanted.get(name, ()):
            raw = content[offset:offset + 2000]
            for place in archive.places:
                if place.name == name and place.readings and re.match(
                    re.escape(place.head) + rb"\s+[>|\s]*" + re.escape(place.following), raw):
                    label = archive.label(place)
                    want = bare(re.split("[# ]", want)[0].encode()).rstrip(b"/")
                    found = label and bare(label.split(b"#")[0]).rstrip(b"/")
                    kind = "broken" if len(want) > len(bare(place.head)) else "whole"
                    verdict = "right" if found == want else "wrong" if found else "no label"
                    counts[f"{kind}: {verdict}"] += 1
                    if found is not None and found != want:
                        print(f"  {found.decode()} labelled, {want.decode()} wanted")
                    break
    return counts


def main():
    options = argparse.ArgumentParser(description=__doc__,
                                      formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("archives", nargs="+")
    options.add_argument("--labels")
    options.add_argument("--rule", action="store_true")
    options.add_argument("--places")
    args = options.parse_args()
    labels = read_labels(args.labels) if args.labels else {}
    known = ([json.loads(line) for line in open(args.places, encoding="utf-8")]
             if args.places else [])
    for path in args.archives:
        archive = Archive(path, keeps_copies=bool(known))
        if known:
            print(archive.name, dict(errors(archive, known)))
            continue
        printed = collections.Counter()
        for place in archive.places:
            if not args.rule:
                if (pieces := labels.get((place.digest, place.start))) is None:
                    continue
                text, start = place.text, place.start - place.shift
                url = b"".join(text[start + a:start + b] for a, b in pieces)
            else:
                url = archive.label(place) if place.readings else None
                if url is None:
                    continue
                is_broken = len(url) > len(place.head)
                host, digest = (is_broken, place.head.split(b"/")[2]), (is_broken, place.digest)
                if PER_HOST <= printed[host] or PER_TEXT <= printed[digest]:
                    continue
                printed.update([host, digest])
            print(json.dumps(place.row(archive.name, url)))


if __name__ == "__main__":
    main()
