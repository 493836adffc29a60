#!/usr/bin/env python3
"""Kills the daemon repeatedly while it watches a git repository of a mailing list in which commits
arrive, messages are deleted and the branch is rewritten. Each message must be written once for each
time that it appeared, and gone once for each time that it disappeared, or neither.

    git_kills.py PROGRAM [--tombstones] [KILLS [REPOSITORY]]

REPOSITORY, made by git_list.py, is copied and extended.
"""

import collections, json, os, random, shutil, subprocess, sys, time

from world import World, finish, output, program, report, run

COMMIT = b"commit refs/heads/master\ncommitter A <a@b.example> %d +0000\ndata 2\ns\n"


def mail(number):
    return (f"From: a@b.example\nSubject: s\nMessage-ID: <{number}@b.example>\n\n"
            f"See http://kill{number}.example/x\n".encode())


class Repository:
    """The branch `master` of a repository, and its messages."""

    def __init__(self, path):
        self.path, self.number = path, 0
        # Commits of this program. Each adds or deletes one message.
        self.commits = []
        if not os.path.exists(path):
            self.git("init", "-q", "--bare", path)
        self.git("-C", path, "symbolic-ref", "HEAD", "refs/heads/master")
        self.base = run("git", "-C", path, "rev-parse", "--verify", "-q", "master").stdout.strip()

    def git(self, *arguments, **options):
        return subprocess.run(["git", *arguments], check=True, **options)

    def write(self, first, commits, parent):
        stream = b""
        for index, (change, number) in enumerate(commits, first):
            text = mail(number)
            stream += COMMIT % (1500000000 + index)
            if parent:
                stream += b"from %s\n" % parent.encode()
                parent = ""
            name = b"m" if change == "add" else b"d"
            stream += b"deleteall\nM 100644 inline %s\ndata %d\n%s\n" % (name, len(text), text)
        self.git("-C", self.path, "fast-import", "--quiet", "--force", input=stream)

    def append(self, commits):
        parent = "refs/heads/master^0" if self.base or self.commits else ""
        self.write(len(self.commits), commits, parent)
        self.commits += commits

    def rewrite(self, commits):
        if not self.base:
            self.git("-C", self.path, "update-ref", "-d", "refs/heads/master")
        self.commits = []
        # A different time makes all commits new.
        self.write(random.randrange(10**6), commits, self.base)
        self.commits = commits

    def present(self):
        counts = collections.Counter()
        for change, number in self.commits:
            counts[number] += 1 if change == "add" else -1
        return {number for number, count in counts.items() if 0 < count}

    def change(self):
        present, choice = sorted(self.present()), random.random()
        if choice < 0.75 or len(present) < 3:
            new = [("add", self.number + offset) for offset in range(random.randint(1, 20))]
            self.number += len(new)
            self.append(new)
        elif choice < 0.9:
            self.append([("delete", n) for n in random.sample(present, random.randint(1, 2))])
        else:
            lost = set(random.sample(present, random.randint(1, 2)))
            kept = [commit for commit in self.commits if commit[1] not in lost]
            self.rewrite(kept + [("add", self.number)])
            self.number += 1


def check(lines, repository, tombstones, before):
    written, gone, other = (collections.Counter() for _ in range(3))
    digests = {}
    for record in lines:
        if record["type"] == "gone":
            for digest in record["digests"]:
                if digest in digests:
                    gone[digests[digest]] += 1
            continue
        host = record["host"] or ""
        if host.startswith("kill"):
            number = int(host.removeprefix("kill").removesuffix(".example"))
            digests[record["message"]["digest"]] = number
            written[number] += 1
        else:
            other[record["source"]["member"][0], record["source"]["start"], record["url"]] += 1
    present, problems = repository.present(), []
    for number in range(repository.number):
        lives = written[number] - gone[number]
        if tombstones:
            # A message that came and went while the daemon was not running has no line at all.
            if lives != (number in present):
                problems.append(f"message {number}: written {written[number]}, "
                                f"gone {gone[number]}, present {number in present}")
        elif written[number] > 1 or (number in present and written[number] != 1) or gone[number]:
            problems.append(f"message {number}: written {written[number]}, gone {gone[number]}, "
                            f"present {number in present}")
    doubled = sum(count > 1 for count in other.values())
    if doubled or len(other) != before:
        problems.append(f"of the messages that were there: {len(other)} URLs of {before}, "
                        f"{doubled} of them twice")
    print(f"{len(written)} of {repository.number} messages written, {sum(gone.values())} gone, "
          f"{len(present)} present; "
          f"{len(other)} URLs of earlier mail", flush=True)
    return problems


def urls_of(repository, tombstones):
    """The places of the URLs of a repository, with tombstones only of messages that exist."""
    scan = [program, "scan", "-q", "--fields", "source.member,source.start,url", repository]
    deleted = set()
    if tombstones:
        git = ["git", "-C", repository]
        names = output(*git, "rev-list", "HEAD", "--", "d")
        queries = b"".join(name + b":d\n" for name in names.split())
        answers = output(*git, "cat-file", "--batch-check", input=queries)
        deleted = {line.split()[0] for line in answers.decode().splitlines()}
    records = map(json.loads, output(*scan).splitlines())
    places = {(record["source"]["member"][0], record["source"]["start"], record["url"])
              for record in records}
    return {place for place in places if place[0] not in deleted}


def main():
    arguments = [argument for argument in sys.argv[2:] if argument != "--tombstones"]
    tombstones, kills = "--tombstones" in sys.argv, int((arguments or [200])[0])
    seed = random.randrange(2**32)
    random.seed(seed)
    print(f"seed {seed}, {kills} kills, tombstones {tombstones}")
    world = World(sweep="2s", output=f"tombstones={str(tombstones).lower()}\n",
                  state='commit_interval="50ms"\n', watch='gone_after="300ms"\n')
    place, before = f"{world.spool}/list.git", 0
    if len(arguments) > 1:
        shutil.copytree(arguments[1], place)
        before = len(urls_of(place, tombstones))
    repository = Repository(place)
    if not repository.base:
        repository.append([("add", 0)])
        repository.number = 1
    begun = time.monotonic()
    for _ in range(kills):
        world.spawn()
        for _ in range(random.randint(1, 3)):
            time.sleep(random.uniform(0, 0.25))
            repository.change()
        time.sleep(random.uniform(0, 0.3))
        world.kill()
    print(f"{kills} kills in {time.monotonic() - begun:.0f} s")
    # Until everything was read and all deletions were noticed.
    codes = [world.once() for _ in range(3)]
    problems = check(world.lines(), repository, tombstones, before)
    # The records of a commit arrive soon.
    world.spawn()
    time.sleep(2)
    repository.append([("add", repository.number)])
    host = f"kill{repository.number}.example"
    repository.number += 1
    made = time.monotonic()
    while not any(host in line.get("url", "") for line in world.lines()):
        if 20 < time.monotonic() - made:
            problems.append("a new commit gave no records in 20 s")
            break
        time.sleep(0.05)
    print(f"records of a new commit in a segment after {time.monotonic() - made:.1f} s")
    world.daemon.terminate()
    world.daemon.wait()
    for problem in problems[:20]:
        print(problem)
    ok = not problems and codes == [0, 0, 0]
    report("a git repository", ok, f"{len(problems)} problems, exit codes {codes}; {world.root}")
    if ok:
        shutil.rmtree(world.root)
    finish()


if __name__ == "__main__":
    main()
