#!/usr/bin/env python3
"""Writes, posts and removes messages for the tools with real servers, and lists found URLs."""
import base64, imaplib, json, os, quopri, smtplib, socket, sys

def make(tag, count, folder, groups):
    """Writes messages folder/N, and folder/posted: Message-ID and URL of each of their URLs."""
    os.makedirs(folder)
    with open(f"{folder}/posted", "w") as posted:
        for n in range(int(count)):
            u = f"http://h.example/{tag}/{n}"
            # Text that writers change or readers misread: `From ` lines that look like separators
            # or not, and lines that start with dots, alone and inside a broken URL.
            body = f"""Plain {u}/plain and wrapped <URL:{u}/wrapped>.
From here on {u}/from
>From there {u}/quoted-from
>>From everywhere {u}/quoted-twice

From someone@other.example Thu Jan  4 12:00:00 1996
Subject: not a message {u}/separator

Broken <URL:{u}/bro
ken> and before a dot <URL:{u}/page
.html> and before two <URL:{u}/up/
../dots>.
.
..
.{u}/dot
..{u}/two-dots

. {u}/dot-space
Long: <URL:{u}/{'long/' * 20}end>
From the end {u}/last
"""
            paths = ["plain", "wrapped", "from", "quoted-from",
                     "quoted-twice", "separator", "broken", "page.html", "up/../dots",
                     "dot", "two-dots", "dot-space", "long/" * 20 + "end", "last"]
            encoding = ["7bit", "quoted-printable", "base64"][n % 3]
            if encoding == "quoted-printable":
                body = quopri.encodestring(body.encode()).decode()
            if encoding == "base64":
                body = base64.encodebytes(body.encode()).decode()
            head = ["From: Author <author@h.example>", f"Subject: {tag} {n}",
                    f"Message-ID: <{tag}.{n}@h.example>",
                    "MIME-Version: 1.0", "Content-Type: text/plain; charset=us-ascii",
                    f"Content-Transfer-Encoding: {encoding}"]
            if groups:
                # Every second article is cross-posted.
                head += ["Newsgroups: " + (groups if n % 2 else groups.split(",")[0])]
            else:
                head += ["To: reader@test.invalid", "Date: Thu, 04 Jan 1996 12:00:00 +0000"]
            with open(f"{folder}/{n}", "w") as f:
                f.write("\n".join(head) + "\n\n" + body)
            for path in paths:
                posted.write(f"<{tag}.{n}@h.example> {u}/{path}\n")

def files(folder):
    return [f"{folder}/{name}" for name in sorted((n for n in os.listdir(folder) if n.isdigit()),
                                                  key=int)]

def post(port, folder):
    with socket.create_connection(("127.0.0.1", int(port))) as s:
        f = s.makefile("rwb")
        def send(data, code):
            f.write(data)
            f.flush()
            answer = f.readline().decode()
            assert answer.startswith(code), answer
        send(b"", "20")
        send(b"MODE READER\r\n", "20")
        for name in files(folder):
            send(b"POST\r\n", "340")
            lines = open(name, "rb").read().split(b"\n")[:-1]
            send(b"".join((b"." if l.startswith(b".") else b"") + l + b"\r\n" for l in lines)
                 + b".\r\n", "240")
        send(b"QUIT\r\n", "205")

def batch(folder):
    """Writes an rnews batch to standard output, as between servers, with Path and Date."""
    import email.utils
    for name in files(folder):
        article = (f"Path: far.example!not-for-mail\nDate: {email.utils.formatdate()}\n".encode()
                   + open(name, "rb").read())
        sys.stdout.buffer.write(b"#! rnews %d\n" % len(article) + article)

def smtp(port, folder, to):
    with smtplib.SMTP("127.0.0.1", int(port)) as s:
        for name in files(folder):
            s.sendmail("author@h.example", [to], open(name, "rb").read())

def expunge(port, user, folder):
    """Removes every third message, as a client does, and its URLs from `posted`."""
    with imaplib.IMAP4("127.0.0.1", int(port)) as i:
        i.login(user, "pw")
        i.select("INBOX")
        removed = set()
        for n in i.search(None, "ALL")[1][0].split()[::3]:
            removed.add(
                i.fetch(n, "(BODY.PEEK[HEADER.FIELDS (MESSAGE-ID)])")[1][0][1].decode().split()[1])
            i.store(n, "+FLAGS", r"(\Deleted)")
        assert removed
        i.expunge()
        i.close()
    left = [l for l in open(f"{folder}/posted") if l.split()[0] not in removed]
    open(f"{folder}/posted", "w").writelines(left)

def fetch(url, name):
    import urllib.request
    with urllib.request.urlopen(url, timeout=30) as answer, open(name, "wb") as f:
        f.write(answer.read())

def repeated(folder, mbox):
    """Repeats lines of `posted` like messages of a compressed mbox, which must be complete."""
    import collections, gzip
    counts = collections.Counter(l.split()[1].decode() for l in gzip.open(mbox)
                                 if l.startswith(b"Message-ID: "))
    lines = list(open(f"{folder}/posted"))
    assert counts and set(counts) == {l.split()[0] for l in lines}, counts
    open(f"{folder}/posted", "w").writelines(l for l in lines for _ in range(counts[l.split()[0]]))

def pairs():
    for line in sys.stdin:
        record = json.loads(line)
        print(record["message"]["id"], record["url"])

globals()[sys.argv[1]](*sys.argv[2:])
