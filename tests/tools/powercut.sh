#!/usr/bin/env bash
# Power cuts: the daemon writes to an ext4 image. At a random moment, the file system is shut down
# without a flush (EXT4_IOC_SHUTDOWN, NOLOGFLUSH) and mounted again, and the daemon restarts. At the
# end, each URL must be written once.
#
# Power fails on all disks at once, but this tool shuts them down one after the other. An fdatasync
# that runs during a shutdown may return success for lost bytes (Linux 6.18: 12 of 300 cuts of a
# program that only appends). So the disk of the state comes first: no commit may follow such a
# sync.
#
#   tests/tools/powercut.sh [CUTS] [PROGRAM]
#
# Needs root, loop devices, mkfs.ext4 and python3. 50 cuts, the default, take about a minute.
# DISKS=2 puts the state on a separate disk, where syncs of the state do not write folders of the
# output, so a missing sync of such a folder is noticed. With URLSPOOL_PLANTED=NoDirectorySync, a
# program built with the feature `planted-faults` must fail in this way. The exit code is 1 on
# failure, 77 if the tool cannot run here.
set -euo pipefail
cuts=${1:-50}
program=$(readlink -f "${2:-target/release/urlspool}")
skip() { echo "SKIPPED: power cuts: $*" >&2; exit 77; }
[ "$(id -u)" = 0 ] || skip "needs root"
for need in mkfs.ext4 python3 losetup; do command -v "$need" >/dev/null || skip "$need is not installed"; done
work=$(mktemp -d)
disks=(disk)
[ "${DISKS:-1}" = 1 ] || disks=(state disk)
trap 'kill "${writer:-0}" 2>/dev/null || true; for disk in "${disks[@]}"; do umount "$work/$disk" 2>/dev/null || true; done; rm -rf "$work"' EXIT
mkdir -p "$work/spool/md/"{new,cur,tmp} "$work/spool/mh"
for disk in "${disks[@]}"; do
  truncate -s 256M "$work/$disk.image"
  mkfs.ext4 -q "$work/$disk.image"
  mkdir "$work/$disk"
  mount -o loop "$work/$disk.image" "$work/$disk" 2>/dev/null || skip "there is no loop device"
done
cat >"$work/c.toml" <<TOML
[output]
dir = "$work/disk/out"
seal_interval = "250ms"
[state]
dir = "$work/${disks[0]}/state"
commit_interval = "20ms"
[watch]
settle = "100ms"
[metrics]
listen = ""
[[spool]]
path = "$work/spool"
TOML
cat >"$work/writer.py" <<'PY'
# Delivers into a Maildir, an MH folder and an mbox, and logs each message after its delivery.
import os, random, sys, time
spool, log = sys.argv[1], open(sys.argv[2], "w", buffering=1)
n = 0
while True:
    n += 1
    text = f"From: a@b.example\nSubject: {n}\nMessage-ID: <{n}@x>\n\nsee http://h.example/{n}.html now\n"
    if n % 3 == 0:
        with open(f"{spool}/md/tmp/x", "w") as f: f.write(text)
        os.rename(f"{spool}/md/tmp/x", f"{spool}/md/new/{n}.M1.host")
    elif n % 3 == 1:
        with open(f"{spool}/mh/{n}", "w") as f: f.write(text)
    else:
        open(f"{spool}/inbox.lock", "w").close()
        with open(f"{spool}/inbox", "a") as f: f.write(f"From a@b Mon Jan  1 00:00:00 1996\n{text}\n")
        os.remove(f"{spool}/inbox.lock")
    log.write(f"{n}\n")
    time.sleep(random.uniform(0, 0.01))
PY
cat >"$work/check.py" <<'PY'
import collections, glob, json, sys
out, log = sys.argv[1], sys.argv[2]
expected = {f"http://h.example/{line.strip()}.html" for line in open(log)}
found = collections.Counter(json.loads(line)["url"] for path in glob.glob(f"{out}/*.jsonl") for line in open(path))
twice, lost, unknown = [u for u in found if found[u] > 1], expected - set(found), set(found) - expected
print(f"{len(expected)} messages: {len(twice)} written twice, {len(lost)} lost, {len(unknown)} unknown")
# The writer may have been killed between the delivery of its last message and the log.
sys.exit(bool(twice or lost or len(unknown) > 1))
PY
python3 "$work/writer.py" "$work/spool" "$work/log" & writer=$!
for ((cut = 1; cut <= cuts; cut++)); do
  "$program" watch --config "$work/c.toml" 2>"$work/err" & daemon=$!
  sleep "0.$(printf %03d $((RANDOM % 600 + 20)))"
  python3 -c "
import fcntl, os, struct, sys
for disk in sys.argv[1:]:
    fcntl.ioctl(os.open(disk, os.O_RDONLY), 0x8004587d, struct.pack('I', 2))" "${disks[@]/#/$work/}" || skip "the kernel has no EXT4_IOC_SHUTDOWN"
  kill -9 "$daemon" 2>/dev/null || true
  status=0; wait "$daemon" 2>/dev/null || status=$?
  # The daemon may notice the cut first, and end because it cannot write.
  case $status in 137 | 74) ;; *) cat "$work/err" >&2; echo "cut $cut: exit code $status" >&2; exit 1 ;; esac
  for disk in "${disks[@]}"; do
    umount "$work/$disk"
    mount -o loop "$work/$disk.image" "$work/$disk"
  done
done
kill "$writer"; wait "$writer" 2>/dev/null || true
rm -f "$work/spool/inbox.lock"
"$program" watch --config "$work/c.toml" --once 2>"$work/err" || { cat "$work/err" >&2; exit 1; }
python3 "$work/check.py" "$work/disk/out" "$work/log" || { echo "$cuts power cuts: 0 passed, 1 failed"; exit 1; }
echo "$cuts power cuts: 1 passed, 0 failed"
