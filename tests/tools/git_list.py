#!/usr/bin/env python3
"""Creates git repositories in the layout of public-inbox from the messages of archives, and
compares a scan of one with the recipe in docs/recipes.md, which pipes `git cat-file` into a scan
(for version 1, of the blobs that `git log` lists as added).

    git_list.py make v1|v2 COUNT REPOSITORY ARCHIVE...    writes COUNT messages, some repeated
    git_list.py compare PROGRAM REPOSITORY                records, and processor time of both ways

Each hundredth message is deleted later. Repeated messages get new Message-IDs.
"""

import hashlib, json, os, re, resource, subprocess, sys, tempfile
from pathlib import Path

from world import output

SEPARATOR = re.compile(rb"(?:\A|(?<=\n))From [^\n]*\n(?=[!-9;-~]+:)")


def messages(paths):
    """The messages of mboxes, and of folders with one message per file."""
    for path in map(Path, paths):
        for file in sorted(file for file in path.rglob("*")
                           if file.is_file()) if path.is_dir() else [path]:
            content = file.read_bytes()
            starts = [(found.start(), found.end()) for found in SEPARATOR.finditer(content)]
            if not content.startswith(b"From ") or not starts:
                yield content
                continue
            ends = [start for start, _ in starts[1:]] + [len(content)]
            for (_, start), end in zip(starts, ends):
                yield content[start:end].removesuffix(b"\n")


def repeated(paths, count):
    """`count` distinct messages."""
    seen, turn = set(), 0
    while True:
        before = len(seen)
        for number, message in enumerate(messages(paths)):
            if turn:
                message = b"X-Turn: %d.%d\n" % (turn, number) + message
            digest = hashlib.sha1(message).digest()
            if message and digest not in seen:
                seen.add(digest)
                yield message
                if len(seen) == count:
                    return
        if len(seen) == before:
            sys.exit("the archives hold no messages")
        turn += 1


def commit(out, number, change):
    out.write(b"commit refs/heads/master\ncommitter A <a> %d +0000\ndata 2\ns\n\n%s\n" %
              (1000000000 + number, change))


def make(layout, count, repository, paths):
    subprocess.run(["git", "init", "-q", "--bare", repository], check=True)
    output("git", "-C", repository, "symbolic-ref", "HEAD", "refs/heads/master")
    importer = subprocess.Popen(["git", "-C", repository, "fast-import", "--quiet"],
                                stdin=subprocess.PIPE)
    out, deleted = importer.stdin, 0
    for number, message in enumerate(repeated(paths, count), 1):
        digest = hashlib.sha1(message).hexdigest()
        name = f"{digest[:2]}/{digest[2:]}".encode() if layout == "v1" else b"m"
        out.write(b"blob\nmark :%d\ndata %d\n%s\n" % (number, len(message), message))
        remove_d = b"D d\n" if layout == "v2" else b""
        commit(out, number, remove_d + b"M 100644 :%d %s\n" % (number, name))
        if number % 100 == 50:
            deleted += 1
            moved = b"" if layout == "v1" else b"M 100644 :%d d\n" % number
            commit(out, number, b"D %s\n" % name + moved)
    out.close()
    if importer.wait():
        sys.exit("git fast-import failed")
    print(f"{repository}: {count} messages, {deleted} of them deleted")


def processor_time(command, **options):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, **options)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def records(path):
    """Records without the description of the source."""
    for line in open(path, "rb"):
        record = json.loads(line)
        for field in ("path", "path_b64", "mailbox"):
            record["source"].pop(field)
        yield record


def compare(program, repository):
    with tempfile.TemporaryDirectory() as folder:
        direct, piped = f"{folder}/direct.jsonl", f"{folder}/piped.jsonl"
        scan = [program, "scan", "-q", repository, "--force",
                "-o", direct, "--summary", f"{folder}/summary.json"]
        git = ["git", f"--git-dir={repository}"]
        root = output(*git, "ls-tree", "--name-only", "HEAD").split()
        # `:OLD_MODE NEW_MODE OLD_OID NEW_OID STATUS<tab>PATH`.
        added = ("log --reverse --format= --raw --no-abbrev --no-renames --diff-filter=AM "
                 "| cut -d' ' -f4")
        names = "rev-list --reverse HEAD | sed 's/$/:m/'" if set(root) <= {b"m", b"d"} else added
        recipe = (
            f"git --git-dir='{repository}' {names} | "
            f"git --git-dir='{repository}' cat-file --batch --buffer | "
            f"'{program}' scan -q - --force -o '{piped}'"
        )
        times = [(processor_time(scan), processor_time(["sh", "-c", recipe])) for _ in range(5)]
        best = [min(time) for time in zip(*times)]
        count = 0
        pairs = zip(records(direct), records(piped), strict=True)
        for count, (one, other) in enumerate(pairs, 1):
            if one != other:
                sys.exit(f"record {count} differs:\n{one}\n{other}")
        summary = json.load(open(f"{folder}/summary.json"))
        print(f"{count} records are equal; {summary['messages']} messages, "
              f"skipped {summary['members_skipped']}")
        print(f"processor time: {best[0]:.2f} s, by the recipe {best[1]:.2f} s, "
              f"ratio {best[0] / best[1]:.3f} (best of five)")


def main():
    match sys.argv[1:]:
        case ["make", ("v1" | "v2") as layout, count, repository, *paths] if paths:
            make(layout, int(count), repository, paths)
        case ["compare", program, repository]:
            compare(os.path.realpath(program), os.path.realpath(repository))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
