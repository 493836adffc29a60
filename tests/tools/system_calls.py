#!/usr/bin/env python3
"""Traces a scan and a watch, and checks their system calls: system_calls.py [PROGRAM]

strace checks that no socket is created except the pair for signals, no program is run, only outputs
are opened for writing, removed or renamed, and no path is opened that only a member or a mail
names. A watch opens a single-message file once, and examines it by name at most twice.
"""
import gzip, io, os, re, shutil, subprocess, sys, tarfile, tempfile, time, zipfile

from world import World, program

MAIL = (b"From: a@b.example\nSubject: x\nX-File: /etc/named-in-mail\n\n"
        b"http://n.example/ file:///etc/named-in-mail\n")
# Files in the watched folder, and the maximum calls for each.
MH_FILES, MAX_CALLS = 50, 10
MEMBERS = ["/etc/named-member", "../../named-member", "named-member/../../up", "named-member"]


def inputs(folder):
    os.makedirs(f"{folder}/maildir/cur")
    for name in ["tmp", "new"]:
        os.mkdir(f"{folder}/maildir/{name}")
    with open(f"{folder}/maildir/cur/1.a:2,S", "wb") as file:
        file.write(MAIL)
    with gzip.open(f"{folder}/mail.gz", "wb") as file:
        file.write(b"From a@b Mon\n" + MAIL)
    with tarfile.open(f"{folder}/mail.tar.gz", "w:gz") as archive:
        for name in MEMBERS:
            member = tarfile.TarInfo(name)
            member.size = len(MAIL)
            archive.addfile(member, io.BytesIO(MAIL))
        link = tarfile.TarInfo("named-link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/named-target"
        archive.addfile(link)
    with zipfile.ZipFile(f"{folder}/mail.zip", "w") as archive:
        for name in MEMBERS:
            archive.writestr(name, MAIL)


def calls_per_file(base):
    """Returns how often `watch --once` opens a settled file of an MH folder, examines it by name,
    and makes any other call on it."""
    world, trace = World(settle="1s"), f"{base}/watch-trace"
    os.mkdir(f"{world.spool}/mh")
    for number in range(1, MH_FILES + 1):
        with open(f"{world.spool}/mh/{number}", "wb") as file:
            file.write(b"X-Number: %d\n" % number + MAIL)
    time.sleep(3)
    world.prefix = ["strace", "-f", "-qq", "-y", "-o", trace]
    world.spawn("--once").daemon.wait()
    shutil.rmtree(world.root)
    calls = [call for call in whole_calls(trace) if re.search(r'/mh(/|>, ")\d+[">]', call)]
    opens = [call for call in calls if call.startswith("open")]
    named = [call for call in calls if re.match(r"\w*stat\w*\(", call)
             and "AT_EMPTY_PATH" not in call]
    return [len(kind) / MH_FILES for kind in (opens, named, calls)]


def whole_calls(trace):
    """Returns the calls of a trace, and joins the two lines of an interrupted call."""
    calls, begun = [], {}
    with open(trace, errors="replace") as file:
        for line in file:
            thread, call = line.split(None, 1)
            if call.endswith(" <unfinished ...>\n"):
                begun[thread] = call.removesuffix(" <unfinished ...>\n")
                continue
            resumed = re.match(r"<\.\.\. \w+ resumed>", call)
            calls.append(begun.pop(thread, "") + call[resumed.end() :] if resumed else call)
    return calls + list(begun.values())


def main():
    if not shutil.which("strace"):
        print("SKIPPED: strace is not installed")
        sys.exit(77)
    base = tempfile.mkdtemp(prefix="urlspool-calls-")
    inputs(f"{base}/in")
    outputs = {option: f"{base}/{option.strip('-')}"
               for option in ["-o", "--rejects", "--events", "--summary"]}
    options = [word for pair in outputs.items() for word in pair]
    trace = f"{base}/trace"
    command = ["strace", "-f", "-qq", "-y", "-s", "4096", "-o", trace,
               program, "scan", "-j2", *options, f"{base}/in"]
    ended = subprocess.run(command, stderr=subprocess.PIPE, text=True)
    if not os.path.exists(trace) or "ptrace" in ended.stderr:
        print("SKIPPED: strace cannot trace here:", ended.stderr.strip())
        sys.exit(77)
    with open(outputs["-o"]) as file:
        records = len(file.readlines())
    # One in the Maildir, one in mail.gz, four in each archive, twice per file, with a URL each.
    assert records == 2 * (2 + 2 * len(MEMBERS)), f"{records} records"
    calls = {}
    lines = whole_calls(trace)
    faults = []
    for line in lines:
        name = line.split("(", 1)[0]
        calls[name] = calls.get(name, 0) + 1
        is_own = any(path in line for path in outputs.values())
        # A socket pair within the program, with which a signal handler wakes it, is no way out.
        if name in ("socket", "connect", "bind", "sendto", "sendmsg"):
            faults.append(line)
        if name in ("fork", "vfork") or name == "execve" and program not in line:
            faults.append(line)
        if name.startswith("open") and re.search(r"O_(WRONLY|RDWR|CREAT|TRUNC|APPEND)",
                                                 line) and not is_own and "/dev/" not in line:
            faults.append(line)
        changes = re.match(r"(un|sym)?link|rename|(mk|rm)dir|f?(truncate|chmod|chown)", name)
        if changes and not is_own:
            faults.append(line)
        if name not in ("write", "read", "pread64",
                        "readlink") and re.search(r"named-(in-mail|member|link|target)", line):
            faults.append(line)
    opens, named, all_calls = calls_per_file(base)
    print(f"watch: {opens} opens, {named} stats by name and {all_calls} calls for each file")
    if opens > 1 or named > 2 or all_calls > MAX_CALLS:
        faults.append("too many calls of watch for each file")
    shutil.rmtree(base)
    for fault in faults:
        print("forbidden:", fault.strip()[:300])
    opened = calls.get("openat", 0) + calls.get("openat2", 0)
    print(f"{records} records, {len(lines)} calls of {len(calls)} kinds, {opened} opens, "
          f"{len(faults)} forbidden")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
