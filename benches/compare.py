#!/usr/bin/env python3
"""Times urlspool and other programs on the same files and prints one table of ratios.

    cargo bench -p benches --bench inputs -- /tmp/inputs          writes the generated inputs
    benches/compare.py [-n RUNS] [--programs LIST] FILE_OR_FOLDER...

Each program reads each input once before it is timed, which fills the page cache.
Then the programs run in turns, and the table shows each one's median, minimum and maximum. A
program that is not installed is skipped and reported. `linkify` is the benchmark of that name in
this folder (`cargo bench -p benches --bench linkify --no-run`). `uri-find` needs URI::Find of
Perl.
"""

import argparse, glob, os, shutil, statistics, subprocess, sys, tempfile, time

REGEX = (
    r'\b(https?|ftp|gopher|news|mailto|telnet|wais|nntp|file|prospero):[^\s<>"]*[^\s<>",.;:!?)\]}]'
)
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FIND = (
    'use URI::Find; local $/; my $n = 0; my $f = URI::Find->new(sub { print "$_[1]\n"; $_[1] });'
    'for (@ARGV) { open my $h, "<", $_ or die; my $t = <$h>; $f->find(\\$t) }'
)
PYTHON = f"""
import mailbox, re, sys
url = re.compile({REGEX.encode()!r}, re.I)
for path in sys.argv[1:]:
    for message in mailbox.mbox(path, create=False):
        for part in message.walk():
            if part.get_content_maintype() == "text":
                for found in url.finditer(part.get_payload(decode=True) or b""):
                    sys.stdout.buffer.write(found[0] + b"\\n")
"""


def programs():
    """Yields the name, command line and kind of input of each program.

    The kind is `tree` for a program that reads folders and `files` for one that takes a list.
    """
    spool = os.environ.get("URLSPOOL", os.path.join(ROOT, "target/dist/urlspool"))
    linkify = sorted(
        glob.glob(os.path.join(ROOT, "target/release/deps/linkify-*[!.d]")), key=os.path.getmtime
    )
    linkify = [path for path in linkify if os.access(path, os.X_OK)]
    yield "urlspool", [spool, "scan", "-q"], "tree"
    yield "urlspool -j1", [spool, "scan", "-q", "-j1"], "tree"
    yield (
        "urlspool --format urls",
        [spool, "scan", "-q", "--format", "urls", "--unique", "none"],
        "tree",
    )
    yield "cat", ["cat"], "files"
    yield "wc -l", ["wc", "-l"], "files"
    yield "rg", ["rg", "--no-config", "-uuu", "-aoi", REGEX], "tree"
    yield "grep", ["grep", "-raoiP", REGEX], "tree"
    yield "linkify", linkify[-1:], "files"
    yield "uri-find", ["perl", "-e", FIND], "files"
    yield "python", [sys.executable, "-c", PYTHON], "files"


def files_of(path):
    if os.path.isfile(path):
        return [path]
    return sorted(
        os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names
    )


def run(command, out):
    """Returns wall seconds, CPU seconds and maximum resident memory in bytes."""
    # Opening the file truncates the output of the previous program before the clock starts.
    with open(out, "wb") as sink:
        begun = time.monotonic()
        process = subprocess.Popen(
            command, stdout=sink, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.monotonic() - begun
    if process.returncode not in (0, 1):
        sys.exit(f"{command[0]} ended with {process.returncode}")
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def main():
    parse = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parse.add_argument("-n", type=int, default=5, metavar="RUNS")
    parse.add_argument(
        "--programs", default="", metavar="LIST", help="only these, separated by commas"
    )
    parse.add_argument("inputs", nargs="+")
    args = parse.parse_args()
    wanted = [name.strip() for name in args.programs.split(",") if name.strip()]
    chosen = [entry for entry in programs() if not wanted or entry[0] in wanted]
    here = [entry for entry in chosen if entry[1] and shutil.which(entry[1][0])]
    for name in sorted(set(entry[0] for entry in chosen) - set(entry[0] for entry in here)):
        print(f"not installed, skipped: {name}", file=sys.stderr)
    print("|input|program|wall s (min to max)|cpu s|MiB|output|wall to rg|")
    print("|---|---|---|---|---|---|---|")
    for path in args.inputs:
        compare(path, here, args.n)


def compare(path, entries, runs):
    files = files_of(path)
    many = len(files) > 1000
    # More names do not fit on a command line, and one process per file would be an unfair
    # comparison.
    entries = [entry for entry in entries if entry[2] == "tree" or not many]
    commands = {
        name: command + ([path] if kind == "tree" else files) for name, command, kind in entries
    }
    times = {name: [] for name in commands}
    sizes = {}
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out")
        for number in range(runs + 1):
            for name, command in commands.items():
                seen = run(command, out)
                sizes[name] = sum(1 for _ in open(out, "rb"))
                if number > 0:
                    times[name].append(seen)
    median = {name: statistics.median(wall for wall, _, _ in seen) for name, seen in times.items()}
    for name, seen in times.items():
        walls = [wall for wall, _, _ in seen]
        cpu = statistics.median(cpu for _, cpu, _ in seen)
        ratio = f"{median[name] / median['rg']:.2f}" if "rg" in median else ""
        label = os.path.basename(path.rstrip("/"))
        print(
            f"|{label}|{name}|{median[name]:.3f} ({min(walls):.3f} to {max(walls):.3f})|{cpu:.3f}"
            f"|{max(memory for _, _, memory in seen) / 2**20:.0f}|{sizes[name]} lines|{ratio}|",
            flush=True,
        )


main()
