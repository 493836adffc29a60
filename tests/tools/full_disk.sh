#!/usr/bin/env bash
# Full disks: the output, then the state, is on a small tmpfs that fills up and is enlarged while the daemon is paused.
#
#   tests/tools/full_disk.sh [PROGRAM]
#
# Needs root and tmpfs. Takes about two minutes. The last line is "N passed, N failed"; the exit code is 1 if anything failed, 77 if it
# cannot run here.
set -euo pipefail
program=$(readlink -f "${1:-target/release/urlspool}")
skip() { echo "SKIPPED: full disk: $*" >&2; exit 77; }
[ "$(id -u)" = 0 ] || skip "needs root"
work=$(mktemp -d)
trap 'kill "${daemon:-0}" 2>/dev/null || true; umount "$work/small" 2>/dev/null || true; rm -rf "$work"' EXIT
mkdir "$work/small"
passed=0 failed=0
check() { if [ "$2" = "$3" ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "$1: $2 instead of $3"; fi; }
status() { "$program" status --config "$work/c.toml" 2>/dev/null | grep -o '"state":"[a-z]*"' | head -n 1 || true; }
wait_for_status() { for _ in $(seq "$2"); do [ "$(status)" = "\"state\":\"$1\"" ] && break; sleep 0.1; done; check "$3" "$(status)" "\"state\":\"$1\""; }
run() { # name, options of the small file system, folder on it (out or state), options that enlarge it
  rm -rf "$work/spool" "$work/out" "$work/state"
  mount -t tmpfs -o "$2" none "$work/small" 2>/dev/null || skip "a tmpfs cannot be mounted"
  ln -sfn "$work/small" "$work/$3"
  mkdir -p "$work/spool/md/"{new,cur,tmp}
  for key in out state; do mkdir -p "$work/$key/$key"; done
  cat >"$work/c.toml" <<TOML
[output]
dir = "$work/out/out"
seal_bytes = "256KiB"
[state]
dir = "$work/state/state"
[watch]
settle = "100ms"
sweep = "5s"
[metrics]
listen = ""
[[spool]]
path = "$work/spool"
TOML
  "$program" watch --config "$work/c.toml" 2>"$work/err" & daemon=$!
  python3 - "$work/spool/md/new" <<'PY'
import sys
for n in range(12000):
    urls = "\n".join(f"see http://h.example/{n}-{k}.html now" for k in range(3))
    open(f"{sys.argv[1]}/{n}.M1.host", "w").write(f"From: a@b.example\nSubject: {n}\n\n{urls}\n")
PY
  wait_for_status paused 400 "$1: pauses"
  before=$(cut -d' ' -f14,15 "/proc/$daemon/stat" | tr ' ' +)
  sleep 5
  used=$((($(cut -d' ' -f14,15 "/proc/$daemon/stat" | tr ' ' +)) - ($before)))
  check "$1: is idle while paused ($used hundredths of a second of processor time in 5 s)" $((used <= 10)) 1
  mount -o "remount,$4" "$work/small"
  wait_for_status running 100 "$1: resumes within 10 s"
  for _ in $(seq 600); do
    "$program" status --config "$work/c.toml" | grep -q '"queue":0,"resting":0' && break
    sleep 0.1
  done
  sleep 1
  kill "$daemon"
  code=0; wait "$daemon" || code=$?
  check "$1: exit code" "$code" 0
  "$program" watch --config "$work/c.toml" --once 2>>"$work/err"
  cat "$work"/out/out/*.jsonl | grep -o '"url":"[^"]*"' | sort >"$work/got"
  check "$1: records" "$(wc -l <"$work/got")" 36000
  check "$1: different records" "$(sort -u "$work/got" | wc -l)" 36000
  check "$1: at most three lines of log about the pause" $(($(grep -c 'paused' "$work/err") <= 3)) 1
  umount "$work/small"
  rm -f "$work/$3"
}
run "output full" size=6m out size=400m
run "state full" size=6m state size=400m
# Fewer inodes than the segments need, even if a fast machine makes large batches.
run "no inodes" nr_inodes=12 out nr_inodes=100000
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
