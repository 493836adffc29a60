#!/usr/bin/env bash
# Scans a large mbox whole and in parts, prints time and memory, and checks that both give the same records.
#
#   tests/tools/large_mbox.sh [SIZE [PROGRAM [MBOX]]]     SIZE is, for example, 300M (the default) or 20G
#
# Needs python3, GNU time, and SIZE plus 2 GiB of disk in TMPDIR. The mbox consists of generated messages, or of copies of MBOX, and is
# removed at the end; of the output only the digest is kept. PART is the size of the parts (256MiB). Takes about a minute for 300M. The
# exit code is 1 if the records differ, 77 if it cannot run here.
set -euo pipefail
size=$(numfmt --from=iec "${1:-300M}")
program=$(readlink -f "${2:-target/release/urlspool}")
base=${3:-}
part=${PART:-256MiB}
[ -x "$program" ] || { echo "there is no program $program" >&2; exit 2; }
[ -x /usr/bin/time ] || { echo "SKIPPED: /usr/bin/time (GNU time) is not installed" >&2; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
free=$(df --output=avail -B1 "$work" | tail -1)
if [ "$free" -lt $((size + (2 << 30))) ]; then
  echo "SKIPPED: $size bytes and 2 GiB more are not free in $work" >&2
  exit 77
fi

if [ -z "$base" ]; then
  base=$work/base
  python3 - >"$base" <<'PY'
import base64, quopri, random, sys
dice = random.Random(1)
words = "lamp wick oil tide clock letter garden paper signal harbour the of and in was with from".split()
out, made = sys.stdout.buffer, 0
while made < 48 << 20:
    n = dice.randrange(1 << 30)
    lines = []
    for _ in range(dice.randrange(5, 60) if dice.random() < 0.99 else 20_000):
        line = " ".join(dice.choice(words) for _ in range(dice.randrange(6, 13)))
        if dice.random() < 0.05:
            line += dice.choice([" http://h{0}.example/a/{0}", " <URL:http://h{0}.example/bro\n   ken/{0}>", " ftp://f{0}.example/", " www.w{0}.example"]).format(n)
        lines.append(dice.choice(["", "", "", "> "]) + line)
    text = "\n".join(lines) + "\n"
    kind = dice.choice(["7bit", "7bit", "7bit", "quoted-printable", "base64", "html"])
    subtype, encoding = "plain", kind
    if kind == "html":
        text = f'<html><body><a href="http://l{n}.example/x?a=1&amp;b=2">here</a><p>{text}</p></body></html>\n'
        subtype, encoding = "html", "7bit"
    body = text.encode()
    body = base64.encodebytes(body) if encoding == "base64" else quopri.encodestring(body) if encoding == "quoted-printable" else body
    head = (f"From author@h.example Thu Jan  4 12:00:00 1996\nFrom: author{n}@h.example\nSubject: {dice.choice(words)} {n}\n"
            f"Message-ID: <{n}@h.example>\nDate: Thu, 04 Jan 1996 12:00:00 +0000\nMIME-Version: 1.0\n"
            f"Content-Type: text/{subtype}; charset=us-ascii\nContent-Transfer-Encoding: {encoding}\n\n")
    message = head.encode() + body.replace(b"\nFrom ", b"\n>From ") + b"\n"
    out.write(message)
    made += len(message)
PY
fi
step=$(stat -c %s "$base")
[ "$step" -gt 0 ] || { echo "$base is empty" >&2; exit 2; }
for _ in $(seq $(((size + step - 1) / step))); do cat "$base"; done >"$work/large.mbox"
bytes=$(stat -c %s "$work/large.mbox")
echo "an mbox of $bytes bytes"

measure() { # what, command
  /usr/bin/time -f "$1: %e s, %P of a core, %M KiB of memory" "${@:2}"
}
whole=$(measure "whole" "$program" scan --quiet --summary "$work/summary" "$work/large.mbox" | sha256sum)
# The digest uses a core of its own, so only a run without it shows the speed of the program.
measure "whole, without output" "$program" scan --quiet -o /dev/null "$work/large.mbox"
python3 - "$work/summary" <<'PY'
import json, sys
summary = json.load(open(sys.argv[1]))
print(f"{summary['messages']} messages, {summary['records']} records")
assert summary["records"] > 0, "no URL was found"
PY

"$program" splits --size "$part" "$work/large.mbox" >"$work/items"
scan_parts() {
  while IFS= read -r item; do
    printf '%s\n' "$item" | /usr/bin/time -a -o "$work/times" -f '%e %M' "$program" scan --quiet --splits -
  done <"$work/items"
}
parts=$(scan_parts | sha256sum)
awk -v n="$(wc -l <"$work/items")" '{ s += $1; if ($2 > m) m = $2 } END { printf "%d parts: %.1f s, %d KiB of memory\n", n, s, m }' "$work/times"
if [ "$whole" = "$parts" ]; then echo "equal: $whole"; else
  echo "DIFFERENT: whole $whole, parts $parts" >&2
  exit 1
fi
