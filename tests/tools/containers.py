#!/usr/bin/env python3
"""Scans hostile compressed files and archives, and checks seconds, memory, events, and opened and
written files.

    tests/tools/containers.py [PROGRAM] [NAME...]      NAME is the start of the names of rows to run

SLACK=N allows N times the seconds, for a busy machine. Each row starts with its number in the
project's failure catalogue for mail programs.
"""
import base64, bz2, collections, gzip, io, json, lzma, os, re, shutil, socket, subprocess, sys
import tarfile, tempfile, time, zipfile

from world import finish, output, program, report, run, skip

names = sys.argv[2:]
GIB = 1 << 30
SLACK = float(os.environ.get("SLACK", 1))
# Maximum memory of a scan with two threads, in MiB.
MAX_MIB = 256 + 2 * 32
MAIL = b"From: a@b.example\nMessage-ID: <%d@x.example>\n\nsee http://n%d.example/ now\n"


def mail(n):
    return MAIL % (n, n)


class Scan:
    """A scan of a file or folder: its URLs, events and seconds, and its maximum memory in MiB."""

    def __init__(self, path, prefix=(), seconds=60):
        events = tempfile.NamedTemporaryFile()
        self.events_path = events.name
        command = [*prefix, program, "scan", "-j2", "--events", events.name, path]
        begun = time.monotonic()
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        out = child.stdout.read()
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        self.seconds, self.code, self.mib = (time.monotonic() - begun,
                                             child.returncode, used.ru_maxrss >> 10)
        self.urls = sorted(json.loads(line)["url"] for line in out.splitlines())
        # The scan replaces the file when it is complete, so it is read by name.
        with open(events.name, "rb") as written:
            self.events = [json.loads(line) for line in written.read().splitlines()]
        self.kinds = [event["kind"] for event in self.events]

    def is_cheap(self, seconds=1):
        return self.seconds <= seconds * SLACK and self.mib <= MAX_MIB

    def __str__(self):
        return (f"{len(self.urls)} URLs, {len(self.events)} events, {self.seconds:.2f} s, "
                f"{self.mib} MiB, exit code {self.code}")


def scan_of(path, data):
    """Scans a new file with these bytes."""
    with open(path, "wb") as file:
        file.write(data)
    return Scan(path)


def wanted(name):
    return not names or any(name.startswith(choice) for choice in names)


def has_programs(name, *programs):
    """Returns True if the programs are installed. Otherwise reports the row as skipped."""
    missing = [program for program in programs if not shutil.which(program)]
    if missing:
        skip(name, " and ".join(missing) + " not installed")
    return not missing


def zeros(command, size=GIB):
    """`size` zero bytes, compressed by a command."""
    feed = subprocess.Popen(["head", "-c", str(size), "/dev/zero"], stdout=subprocess.PIPE)
    return output(*command, stdin=feed.stdout)


def bombs(folder):
    """Row 83: a message, then many zeros. The file is read up to the ratio, with one event."""
    path = folder + "/bomb"
    for name, command, times in (("gzip", ["gzip", "-9c"], 100),
                                 ("zstd", ["zstd", "-qc"], 1000), ("xz", ["xz", "-c"], 1000)):
        full = f"83 {times} GiB of zeros in {name}"
        if not wanted(full) or not has_programs(full, command[0]):
            continue
        packed = zeros(command)
        first = output(*command, input=b"From a@b Mon\n" + mail(1))
        with open(path, "wb") as file:
            file.write(first)
            for _ in range(times):
                file.write(packed)
        scan = Scan(path)
        # Another event reports that the message exceeds the limit of messages.
        reports = [event for event in scan.events if "unpacks to" in event["message"]]
        report(full, scan.is_cheap(2) and len(reports) == 1 and len(scan.urls) == 1, scan)
        os.remove(path)


def windows(folder):
    """Row 84: files that need windows of gigabytes are not read."""
    path = folder + "/window"
    for name, command in (
        ("zstd", ["zstd", "-qc", "-1", "--long=31", "-M2048MB"]),
        ("xz", ["xz", "-c", "--lzma2=preset=0,dict=1536MiB"]),
    ):
        full = f"84 a window of {'2' if name == 'zstd' else '1.5'} GiB in {name}"
        if not wanted(full) or not has_programs(full, name):
            continue
        packed = subprocess.run(command, input=os.urandom(5 << 20), capture_output=True)
        if packed.returncode:
            skip(full, "there is not enough memory to pack it")
            continue
        scan = scan_of(path, packed.stdout)
        report(full, scan.mib <= MAX_MIB and scan.kinds == ["limit"], scan)
        os.remove(path)


def add_member(archive, name, data, **fields):
    member = tarfile.TarInfo(name)
    member.size = len(data)
    for field, value in fields.items():
        setattr(member, field, value)
    archive.addfile(member, io.BytesIO(data))


def zipped(data):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("z", data)
    return out.getvalue()


def tarred(data):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        add_member(archive, "t", data)
    return out.getvalue()


def nests(folder):
    """Row 85: nested containers, even one that contains itself, end quickly at a maximum depth."""
    for name, wrap, times in (("gzip", lambda data: gzip.compress(data, 1), 1000),
                              ("zip", zipped, 1000), ("tgz", tarred, 300)):
        full = f"85 {name} in {name}, {times} times"
        if not wanted(full):
            continue
        data = mail(1)
        for _ in range(times):
            data = wrap(data)
        scan = scan_of(folder + "/nest", data)
        report(full, scan.is_cheap() and scan.kinds == ["limit"], scan)


def fan(fanout, levels=4):
    """Zips in zips in zips of `fanout` copies. Each member stays below its own ratio."""
    data = b"a" * (16 << 20)
    for level in range(levels):
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            for number in range(fanout if level else 1):
                archive.writestr(f"{number}.{'zip' if level else 'mbox'}", data)
        data = out.getvalue()
    return data


def attached(data):
    return (b"From a@b Mon Jan  1 00:00:00 2001\nContent-Type: application/octet-stream\n"
            b"Content-Transfer-Encoding: base64\n\n" + base64.encodebytes(data) + b"\n")


def balances(folder):
    """Row 117: all levels of a file share a limit on size, and so do a message's attachments."""
    bomb = attached(bz2.compress(b"a" * (16 << 20)))
    many = bomb * ((16 << 20) // len(bomb))
    for name, data, events in (
        ("zips in zips, 64 GiB in 13 KB", lambda: fan(16), 1),
        ("zips in zips, 15 TiB in 321 KB", lambda: fan(100), 1),
        ("zips in zips, 160 GiB, attached", lambda: attached(fan(100, 3)), 1),
        ("60 messages with a bomb each", lambda: bomb * 60, 60),
        ("100,000 messages with a bomb each in 10 KB of bzip2", lambda: bz2.compress(many), None),
    ):
        full = f"117 {name}"
        if not wanted(full):
            continue
        scan = scan_of(folder + "/fan", data())
        are_limits = set(scan.kinds) == {"limit"} and events in (None, len(scan.kinds))
        report(full, scan.is_cheap(5) and are_limits, scan)


def empties(folder):
    """Row 118: 1 MB of empty streams, frames and entries takes at most a second."""
    tiny, block = bz2.compress(b"x"), tarfile.TarInfo("x").tobuf()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_BZIP2) as archive:
        for number in range(7_500):
            archive.writestr(str(number), b"x")
    cases = {
        "streams of bzip2": bz2.compress(b""), "streams of bzip2 with a byte": tiny,
        "padded streams of bzip2": tiny.ljust(100, b"\0"),
        "members of gzip": gzip.compress(b""), "streams of xz": lzma.compress(b""),
        "streams of xz with a large dictionary": lzma.compress(b"x", preset=9),
        "frames of zstd": bytes.fromhex("28b52ffd2000010000"),
        "skipped frames of zstd": bytes.fromhex("502a4d1800000000"),
        "frames of lz4": bytes.fromhex("04224d1860408200000000"),
        "entries of a tar": block, "members of a zip in bzip2": out.getvalue(),
    }
    cases = {name: data * (10**6 // len(data)) for name, data in cases.items()}
    cases["streams of bzip2 in a message"] = attached(bz2.compress(b"") * 50_000)
    cases["entries of a tar in gzip"] = gzip.compress(block * 400_000)
    for name, data in cases.items():
        full = f"118 1 MB of {name}"
        if not wanted(full):
            continue
        scan = scan_of(folder + "/empty", data)
        report(full, scan.is_cheap(), scan)


def crowds(folder):
    """Row 86: thousands of small members in a small archive cost no more than their content."""
    full = "86 20,000 members of 70 bytes"
    if not wanted(full):
        return
    path = folder + "/crowd.tgz"
    with tarfile.open(path, "w:gz", compresslevel=1) as archive:
        for number in range(20_000):
            add_member(archive, f"m{number}", mail(number))
    scan = Scan(path)
    report(full, scan.is_cheap(4) and len(scan.urls) == 20_000 and not scan.kinds, scan)


def labels(folder):
    """Row 87: members are read in place, nothing is written, and no name in an archive opened."""
    full = "87 member names with .., links, devices (strace)"
    if not wanted(full) or not has_programs(full, "strace"):
        return
    if run("strace", "-qq", "-o", folder + "/trace", "true").returncode:
        return skip(full, "strace is not allowed to trace")
    victim = folder + "/victim"
    os.makedirs(victim)
    path = folder + "/evil.tar"
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as archive:
        add_member(archive, "../member-up", mail(1))
        add_member(archive, victim + "/member-absolute", mail(2))
        add_member(archive, "member-link", b"", type=tarfile.SYMTYPE, linkname=victim)
        add_member(archive, "member-link/member-through", mail(3))
        add_member(archive, "member-hard", b"", type=tarfile.LNKTYPE, linkname="/etc/passwd")
        add_member(archive, "member-char", b"", type=tarfile.CHRTYPE)
        add_member(archive, "member-block", b"", type=tarfile.BLKTYPE)
        add_member(archive, "member-fifo", b"", type=tarfile.FIFOTYPE)
        pax = {"path": "/member-pax-path", "SCHILY.xattr.user.x": "y"}
        add_member(archive, "member-pax", mail(4), pax_headers=pax)
    trace = folder + "/trace"
    calls = ("trace=open,openat,openat2,creat,mkdir,mkdirat,mknod,mknodat,link,linkat,symlink,"
             "symlinkat,rename,renameat,renameat2,unlink,unlinkat")
    scan = Scan(path, prefix=["strace", "-f", "-qq", "-e", calls, "-o", trace])
    with open(trace, errors="replace") as file:
        lines = file.readlines()
    opened = [line for line in lines if "member-" in line or victim in line]
    written = [line for line in lines
               if re.search(r"O_WRONLY|O_RDWR|O_CREAT|mkdir|mknod|link|rename|creat", line)]
    # Except the file of events, which is named on the command line.
    written = [line for line in written if scan.events_path not in line]
    report(full, len(scan.urls) == 4 and not opened and not written,
           f"{scan}; {len(opened)} member names opened, {len(written)} writes")
    full = "87 a sparse member of 8 TiB"
    if wanted(full):
        # GNU's old format: the header holds the real size and the only hole, and no bytes follow.
        header = bytearray(tarfile.TarInfo("sparse").tobuf(tarfile.GNU_FORMAT))
        header[156:157] = b"S"
        header[483:495] = b"\x80" + (8 << 40).to_bytes(11, "big")
        header[148:156] = b"%06o\0 " % sum(header[:148] + b" " * 8 + header[156:])
        with open(path, "wb") as file:
            file.write(header)
            member = tarfile.TarInfo("next")
            member.size = len(mail(1))
            file.write(member.tobuf() + mail(1).ljust(512, b"\0") + bytes(1024))
        scan = Scan(path)
        report(full, scan.is_cheap() and len(scan.urls) == 1, scan)


def cuts(folder):
    """Row 88: a longer part of a gzip file never yields fewer URLs, nor do trailing bytes."""
    full = "88 a gzip cut at every 1,000th byte"
    if not wanted(full):
        return
    whole = b"".join(b"From a@b Mon\n" + mail(n) + os.urandom(300).hex().encode() + b"\n\n"
                     for n in range(1000))
    packed = gzip.compress(whole)
    before, wrong, runs = set(), 0, 0
    for size in [*range(1000, len(packed), 1000), len(packed)]:
        scan = scan_of(folder + "/cut.gz", packed[:size])
        urls = set(scan.urls)
        # A URL that was cut is found up to the cut.
        lost = [url for url in before - urls if not any(whole.startswith(url) for whole in urls)]
        wrong += bool(lost) or len(scan.events) != (size < len(packed))
        before, runs = urls, runs + 1
    report(full, wrong == 0 and len(before) == 1000, f"{runs} cuts, "
        f"{wrong} of them with fewer URLs than the cut before, or not exactly one event")
    full = "88 two gzip members, then garbage"
    scan = scan_of(folder + "/cut.gz",
                   packed + gzip.compress(b"From a@b Mon\n" + mail(5000)) + b"garbage" * 100)
    report(full, len(scan.urls) == 1001 and len(scan.events) == 1, scan)


def growing(folder):
    """Row 89: a slowly copied archive is read once it stops changing, and each URL once."""
    full = "89 archives that are copied while the daemon watches"
    if not wanted(full):
        return
    texts = [mail(n) + os.urandom(2000).hex().encode() for n in range(300)]
    spool = folder + "/spool"
    os.makedirs(spool)
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w") as archive:
        for n, text in enumerate(texts):
            add_member(archive, f"{n}.eml", text)
    mbox = b"".join(b"From a@b Mon\n" + text + b"\n\n" for text in texts)
    copies = {"all.tar": plain.getvalue(), "all.tgz": gzip.compress(plain.getvalue()),
              "mbox.gz": gzip.compress(mbox)}
    with open(folder + "/c.toml", "w") as file:
        file.write(f'[output]\ndir="{folder}/out"\n[state]\ndir="{folder}/state"\n[watch]\n'
                   f'settle="1s"\nsweep="1s"\n[metrics]\nlisten=""\n[[spool]]\npath="{spool}"\n')
    with open(folder + "/log", "w") as log:
        daemon = subprocess.Popen([program, "watch", "--config", folder + "/c.toml"], stderr=log)
    pieces = 20
    for piece in range(pieces):
        for name, data in copies.items():
            step = -(-len(data) // pieces)
            with open(f"{spool}/{name}", "ab") as file:
                file.write(data[piece * step:(piece + 1) * step])
        time.sleep(0.2)
    time.sleep(4 * SLACK)
    daemon.terminate()
    code = daemon.wait()
    found = collections.Counter()
    for name in os.listdir(folder + "/out"):
        if name.endswith(".jsonl"):
            with open(f"{folder}/out/{name}") as file:
                found.update((record["source"]["path"], record["url"])
                             for record in map(json.loads, file))
    with open(folder + "/log") as file:
        damage = file.read().count("damage")
    exact = len(found) == len(copies) * len(texts) and set(found.values()) == {1}
    report(full, exact and code == 0 and not damage, f"{sum(found.values())} URLs of "
        f"{len(copies) * len(texts)}, {damage} damaged, exit code {code}")


def waits(folder):
    """Row 90: special files are skipped without waiting."""
    full = "90 FIFO, socket, device, links to them, /proc"
    if not wanted(full):
        return
    spool = folder + "/spool"
    os.makedirs(spool)
    os.mkfifo(spool + "/fifo")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(spool + "/socket")
    devices = 0
    if os.getuid() == 0:
        try:
            os.mknod(spool + "/zero", 0o600 | 0o020000, os.makedev(1, 5))
            devices = 1
        except OSError as error:
            print(f"no device can be made: {error}")
    os.symlink("/dev/zero", spool + "/link")
    os.symlink("/proc/self/mem", spool + "/proc")
    with open(spool + "/mail", "wb") as file:
        file.write(mail(1))
    scan = Scan(spool)
    # A FIFO that is named explicitly is read as a stream, and waits for its writer.
    named = [Scan(f"{spool}/{name}") for name in ("socket", *(["zero"] if devices else []))]
    slowest = max([scan, *named], key=lambda scan: scan.seconds)
    report(full, scan.seconds <= SLACK and slowest.seconds <= SLACK and len(scan.urls) == 1,
           f"{scan}; each by itself {slowest.seconds:.2f} s at most")


if __name__ == "__main__":
    for work in (bombs, windows, nests, balances, empties, crowds, labels, cuts, growing, waits):
        with tempfile.TemporaryDirectory() as folder:
            work(folder)
    finish()
