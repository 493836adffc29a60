#!/usr/bin/env python3
"""Writes mail wrapped as by mail programs, with the URLs that the authors meant: labelled line
breaks for join_calibration.py.

usage: client_wrap.py [--seed N] [--count N] [--clients NAME,...] > LABELS.jsonl

The archive of a label is the name of the mail program, its sample is `generated`. Texts consist of
invented words, hosts and paths. Half of the URLs are long enough to be broken. The others end a
line of prose, of a list, of a signature, of a commit message or of code, and the next line does not
belong to them.

The behaviour of the programs comes from their documentation or from mail that they wrote:

- vim (`textwidth`, with mutt), Emacs (`auto-fill-mode`), GNU fmt and Gmail (78 columns) break lines
  only at blanks: a long URL is alone on its line, unbroken.
- pine's composer breaks at blanks, and cuts a word that is longer than the line at column 80.
- Outlook and Outlook Express, in plain text, break at 76 columns: at blanks, and inside words that
  are longer than a line.
- Netscape and early Mozilla break at 72 columns: at blanks, and in long words after `/`, `-`, `?`.
- Apple Mail breaks after `/` and `-`, and leaves a blank before the line end, or two where it broke
  at a blank (DelSp of RFC 3676, whose label some lists remove).
- Thunderbird writes format=flowed: it breaks at blanks, and leaves one before the line end.
- Lotus Notes breaks at 75 columns: at blanks, and after punctuation of a long word.
- Quoting adds `> ` to each line. Gmail, Outlook Express and others wrap the quoted lines again, so
  the rest of a line is alone on the next, with or without the marks.
- Quoted-printable that was never decoded cuts lines at 76 columns, with a `=`.
- Programs of USENET cut lines at column 79 or 80.
"""
import argparse, json, pathlib, random, re

LISTS = pathlib.Path(__file__).with_name("client_words.txt").read_text().split("\n\n")
WORDS, NAMES, LABELS, TOPS, EXTENSIONS, PERSONS = map(str.split, LISTS)


def words(random, count):
    return " ".join(random.choice(WORDS) for _ in range(count))


def sentence(random):
    text = words(random, random.randint(5, 16))
    return text[0].upper() + text[1:] + random.choice(["."] * 6 + ["?", "!", ","])


def slug(random, least=2, most=6):
    joint = random.choice("--__")
    parts = [random.choice(NAMES) if random.random() < 0.8 else str(random.randint(1, 2024))
             for _ in range(random.randint(least, most))]
    name = joint.join(parts)
    return "".join(part.capitalize() for part in parts) if random.random() < 0.12 else name


def digits(random, most):
    return str(random.randint(1, 10**random.randint(2, most)))


def hexadecimal(random, count):
    return "".join(random.choice("0123456789abcdef") for _ in range(count))


def host(random):
    name = random.choice(LABELS) + random.choice(["", "", "-" + random.choice(NAMES)])
    first = random.choice(["www.", "www.", "www.", "", "lists.", "ftp.", "archive.", "git."])
    return first + name + "." + random.choice(TOPS)


def message_id(random):
    numbers = f"{random.randint(2001, 2025)}{digits(random, 9)}.{digits(random, 6)}"
    return f"{numbers}-{random.randint(1, 20)}-{address(random)}"


def address(random):
    person, label, top = (random.choice(names) for names in (PERSONS, LABELS, TOPS))
    return f"{person.lower()}@{label}.{top}"


def url(random):
    """A URL with a shape that occurs in archives."""
    pick = random.choice
    scheme = pick(["http"] * 5 + ["https"] * 4 + ["ftp"])
    place = f"{scheme}://{host(random)}"
    name = lambda least=2, most=6: slug(random, least, most)
    folders = "/".join(name(1, 3) for _ in range(random.randint(1, 5)))
    value = lambda: name(1, 2) if random.random() < 0.6 else digits(random, 8)

    def script():
        query = "&".join(f"{pick(NAMES)}={value()}" for _ in range(random.randint(1, 5)))
        return f"{folders}/{pick(NAMES)}.{pick(['cgi', 'asp', 'php', 'pl'])}?{query}"

    shapes = [
        lambda: f"{folders}/",
        lambda: f"{folders}/{name()}",
        *3 * [lambda: f"{folders}/{name()}.{pick(EXTENSIONS)}"],
        script,
        lambda: f"pipermail/{name(1, 3)}/{random.randint(1996, 2024)}-"
                f"{pick(['January', 'May', 'July', 'October'])}/{random.randint(0, 99999):06}.html",
        lambda: f"{pick(['r', 'all', 'lkml', 'linux-' + pick(NAMES)])}/{message_id(random)}/",
        lambda: f"{name(1, 2)}/commit/?id={hexadecimal(random, 40)}",
        lambda: f"{name(1, 2)}/{pick(['blob', 'tree'])}/"
                f"{pick(['master', 'trunk', hexadecimal(random, 40)])}/{folders}/{name(1, 2)}."
                f"{pick(['c', 'py', 'rst', 'md', 'h'])}#L{random.randint(1, 2000)}",
        lambda: f"questions/{digits(random, 8)}/{name(4, 9)}",
        lambda: f"%7E{pick(PERSONS).lower()}/{folders}?{pick(NAMES)}=%2F{name(1, 1)}"
                f"%2F{name(2, 4)}%20{name(1, 2)}",
    ]
    return f"{place}/{shapes[random.randrange(12)]()}"


def url_of(random, least, most):
    while True:
        made = url(random)
        if least <= len(made) <= most:
            return made


# Wrapping: turns a paragraph (words and URLs) into lines.

# Marks a line that ends inside a word, until the lines are finished.
INSIDE = "\0"


def fill(text, columns, long_word, room=lambda line: True):
    """Breaks at blanks. `long_word` divides a word that is longer than a line into pieces."""
    lines, line = [], ""
    for word in text.split(" "):
        fills = divides(long_word) and "://" in word and line and len(line + word) >= columns
        if len(word) > columns or fills:
            first = columns - len(line) - 1 if line and room(line) else columns
            pieces = long_word(word, columns, first if line else columns)
            if line and pieces[0] == "":
                lines.append(line)
                pieces = pieces[1:]
            elif line and len(pieces[0]) <= columns - len(line) - 1:
                pieces[0] = f"{line} {pieces[0]}"
                line = ""
            elif line:
                lines.append(line)
            lines.extend(piece + INSIDE for piece in pieces[:-1])
            line = pieces[-1]
        elif line and len(line) + 1 + len(word) > columns:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    return lines + [line]


def whole(word, columns, first):
    return ["", word][1:]


def cut(word, columns, first):
    return [word[at:at + columns] for at in range(0, len(word), columns)]


def after(marks):
    def divide(word, columns, first):
        pieces, rest, most = [], word, first
        while len(rest) > most:
            at = max((rest.rfind(mark, 0, most) for mark in marks), default=-1)
            if at <= 8 and most < columns:
                pieces, most = [""], columns
                continue
            at = at + 1 if at > 8 else most
            pieces.append(rest[:at])
            rest, most = rest[at:], columns
        return pieces + [rest]
    divide.marks = marks
    return divide


def divides(long_word):
    """Returns true if a program breaks words after punctuation, even to fill a line."""
    return getattr(long_word, "marks", "") != ""


def quoted(lines, mark="> "):
    return [(mark + line).rstrip() if not line.endswith(" ") else mark + line for line in lines]


def rewrapped(random, lines, columns, marked):
    """Quoted lines after a second wrapping: the rest of each is alone on a line."""
    out = []
    for line in lines:
        if len(line) <= columns:
            out.append(line)
            continue
        at = line.rfind(" ", 3, columns + 1)
        if at > 3 and "://" not in line[:at]:
            pieces = [line[:at], line[at + 1:]]
        else:
            pieces = [line[:columns], line[columns:]]
        mark = re.match(r"[> ]*", line).group() if marked else ""
        out.append(pieces[0])
        out.extend(mark + piece for piece in pieces[1:])
    return out


def plain(lines):
    return [line.removesuffix(INSIDE) for line in lines]


def flow(lines):
    return [line + " " for line in lines[:-1]] + lines[-1:]


def flow_delsp(lines):
    return [line.removesuffix(INSIDE) + (" " if line.endswith(INSIDE) else "  ")
            for line in lines[:-1]] + lines[-1:]


CLIENTS = {
    # name: (columns, treatment of a word longer than a line, treatment of the lines)
    "vim": (72, whole, plain),
    "emacs": (70, whole, plain),
    "fmt": (75, whole, plain),
    "gmail": (78, whole, plain),
    "pine": (79, cut, plain),
    "outlook": (76, cut, plain),
    "netscape": (72, after("/-?"), plain),
    "apple-mail": (70, after("/-"), flow_delsp),
    "thunderbird": (72, whole, flow),
    "notes": (75, after("/-?&=._"), plain),
    "usenet": (79, cut, plain),
    "quoted-printable": (75, None, plain),
}


def soft_wrapped(text):
    """One line of quoted-printable, cut by soft line ends."""
    text = text.replace("=", "=3D")
    lines = []
    while len(text) > 76:
        at = 75
        while text[at - 1] == "=" or text[at - 2] == "=":
            at -= 1
        lines.append(text[:at] + "=")
        text = text[at:]
    return lines + [text]


def next_block(random):
    """Lines after a URL that do not belong to it: list, signature, trailers, code, file list."""
    pick, number = random.choice, random.randint
    name = lambda: slug(random, 1, 2)
    some = lambda least, most: words(random, number(least, most))
    trailers = ["Signed-off-by", "Reported-by", "Reviewed-by", "Cc"]
    blocks = [
        lambda: [sentence(random)],
        lambda: [f"[{number}] {url_of(random, 20, 70)}" for number in (2, 3)],
        lambda: [pick(["Regards,", "Thanks,", "Cheers", "Best,", "thanks", "HTH"]), pick(PERSONS)],
        lambda: [f"{pick(trailers)}: {pick(PERSONS)} <{pick(PERSONS).lower()}@{host(random)}>",
                 "---"],
        lambda: [f" {name()}/{name()}.c | {number(1, 99)} "
                 f"{'+' * number(1, 20)}{'-' * number(0, 9)}" for _ in range(3)],
        lambda: [pick(["#include <stdio.h>", "#ifdef LAMP", "# " + words(random, 4),
                       "#define WICK 1", "#endif"])],
        lambda: [f"{name()}/{name()}.{pick(['c', 'h', 'py', 'txt'])}" for _ in range(number(3, 5))],
        lambda: [address(random)],
        lambda: [host(random), "Tel. +49 30 1234567"],
        lambda: [pick(["return lamp->wick;", "lamp_light(wick, 1);", "if (lamp == NULL)",
                       "wick = lamp.trim()", "for oil in lamps:"])],
        lambda: [some(2, 9) + pick([".", " and/or " + pick(WORDS) + "."])],
        lambda: [pick(PERSONS) + " " + pick(["Lampwick", "Oilman", "Wick"]),
                 f"{pick(NAMES)} institute"],
        lambda: ["-- ", pick(PERSONS)],
        lambda: [some(6, 10), some(3, 10) + "."],
    ]
    return blocks[random.randrange(14)]()


def request(random):
    """`git request-pull`: a URL and the name of a branch, broken at the blank between both."""
    label = random.choice(LABELS)
    folders = "/".join(slug(random, 1, most) for most in (2, 2, 3))
    repository = f"https://git.{label}.org/pub/scm/{folders}.git"
    reference = random.choice(["tags/", "tags/", "", "refs/heads/"]) + slug(random, 2, 4)
    lines = ["are available in the git repository at:", "", "  " + repository,
             random.choice(["", "  ", "    "]) + reference, "",
             "for you to fetch changes up to " + hexadecimal(random, 40) + ":"]
    return lines, repository


def message(random, client):
    """The lines of a text, and the URL that its author meant."""
    columns, long_word, finish = CLIENTS[client]
    if random.random() < 0.05:
        return request(random)
    if random.random() < 0.5:
        link = url_of(random, 45, 190)
    else:
        link = url_of(random, 18, 60)
    before = " ".join(sentence(random) for _ in range(random.randint(1, 4)))
    style = random.random()
    if style < 0.35 or client == "quoted-printable" and style < 0.5:
        # A separate paragraph, or the last line of one.
        paragraphs = [before, random.choice(["", "  ", "", "[1] ", "see "])
                      + link + random.choice(["", "", "."])]
        tail = next_block(random) if random.random() < 0.6 else ["", sentence(random)]
    elif style < 0.8:
        opener, closer = random.choice(["  ", "  ", " .", " ,", "()", '""'])
        verb = random.choice(["See", "at", "is under", "from", ""])
        rest = words(random, random.randint(0, 25))
        text = f"{before} {verb} {opener.strip()}{link}{closer.strip()} {rest}"
        paragraphs = [text.strip() + "."]
        tail = ["", sentence(random)]
    else:
        paragraphs = [before, link]
        tail = next_block(random)
    lines = []
    for paragraph in paragraphs:
        wrapped = [paragraph] if long_word is None else fill(paragraph, columns, long_word)
        lines.extend(finish(wrapped))
    lines.extend(tail)
    first = " ".join(sentence(random) for _ in range(5))
    lines = finish(fill(first, columns, whole)) + [""] + lines
    depth = random.choice([0, 0, 0, 1, 1, 2])
    for _ in range(depth):
        lines = quoted(lines, random.choice(["> ", "> ", ">"]))
    if depth and client != "quoted-printable" and random.random() < 0.4:
        lines = rewrapped(random, lines, random.choice([72, 76, 78, 80]), random.random() < 0.5)
    if client == "quoted-printable":
        lines = [piece for line in lines for piece in soft_wrapped(line)]
    return lines, link


def start_of(text, link):
    """The offset of the URL, or `None` if even its first characters are separated."""
    for length in (min(len(link), 30), 20, 14, 11):
        encoded = link[:length]
        for form in (encoded, encoded.replace("=", "=3D")):
            at = text.find(form)
            if at >= 0 and text.find(form, at + 1) < 0:
                return at
    return None


def ends_line(text, start):
    end = re.compile(r"[^\s<>\"]*").match(text, start).end()
    return re.compile(r"[ \t]*\n[ \t>]*\S").match(text, end) is not None


def main():
    options = argparse.ArgumentParser(description=__doc__,
                                      formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--seed", type=int, default=1738)
    options.add_argument("--count", type=int, default=1000)
    options.add_argument("--clients", default=",".join(CLIENTS))
    args = options.parse_args()
    generator = random.Random(args.seed)
    clients = args.clients.split(",")
    made = 0
    while made < args.count:
        client = clients[made % len(clients)]
        lines, link = message(generator, client)
        text = "\n".join(lines) + "\n"
        start = start_of(text, link)
        if start is None or not ends_line(text, start):
            continue
        raw = text[:start].encode()
        also = [link.replace("=", "=3D")] if "=3D" in text else []
        print(json.dumps(dict(id=f"{client}-{args.seed}-{made}", archive=client,
                              sample="generated", text=text, start=len(raw), url=link, also=also)))
        made += 1


main()
