#!/usr/bin/env bash
# Kills the daemon before each of its system calls in turn, and lets each of them fail once, while
# it reads a small spool. Then a run without a fault must end with each URL written once.
#
#   tests/tools/strace_kill.sh [PROGRAM] [CALL...]
#
# Needs strace. Takes ten minutes or more, because each try with ENOSPC takes the seconds of a
# pause. HOW="signal=SIGKILL" only kills. The last line is "N passed, N failed". The exit code is 1
# if a try failed, 77 if the tool cannot run here.
set -euo pipefail
program=$(readlink -f "${1:-target/release/urlspool}")
shift || true
calls=("${@:-}")
[ -n "${calls[0]}" ] || calls=(write pwrite64 fdatasync fsync rename renameat2 ftruncate openat unlink fallocate)
skip() { echo "SKIPPED: kills at system calls: $*" >&2; exit 77; }
command -v strace >/dev/null || skip "strace is not installed"
strace -qq -o /dev/null true 2>/dev/null || skip "strace is not allowed to trace"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/spool/md/"{new,cur,tmp}
for n in $(seq 40); do
  printf 'From: a@b.example\nSubject: %s\n\nsee http://h.example/%s.html now\n' "$n" "$n" >"$work/spool/md/new/$n.M1.host"
  printf 'From a@b Mon Jan  1 00:00:00 1996\nFrom: a@b.example\n\nsee http://h.example/m%s.html\n\n' "$n" >>"$work/spool/inbox"
done
cat >"$work/c.toml" <<TOML
[output]
dir = "$work/out"
seal_bytes = 4000
[state]
dir = "$work/state"
commit_interval = "1ms"
[watch]
settle = "10ms"
[metrics]
listen = ""
[[spool]]
path = "$work/spool"
TOML
check() {
  cat "$work"/out/*.jsonl | grep -o '"url":"[^"]*"' | sort >"$work/got" || true
  [ "$(wc -l <"$work/got")" = 80 ] && [ "$(sort -u "$work/got" | wc -l)" = 80 ]
}
passed=0 failed=0
try() { # system call, fault, number of the call at which it is injected
  local status=0
  rm -rf "$work/out" "$work/state" "$work/trace"
  { strace -f -qq -o "$work/trace" -e trace="$1" -e inject="$1:$2:when=$3" \
    "$program" watch --config "$work/c.toml" --once >/dev/null 2>"$work/err" || status=$?; } 2>/dev/null
  if [ "$2" = signal=SIGKILL ]; then [ "$status" != 0 ] || return 1; else grep -q INJECTED "$work/trace" || return 1; fi
  # A descriptor whose sync failed must not be synced again.
  if [ "$1:$2" = fdatasync:error=EIO ] && [ "$(sed -n '/INJECTED/,$p' "$work/trace" | grep -c 'fdatasync(')" != 1 ]; then
    failed=$((failed + 1))
    echo "$1:$2 number $3: synced again"
  fi
  status=0
  "$program" watch --config "$work/c.toml" --once >/dev/null 2>"$work/err" || status=$?
  if [ "$status" = 0 ] && check; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "$1:$2 number $3: exit code $status, $(wc -l <"$work/got") records: $(tail -1 "$work/err")"
  fi
}
for call in "${calls[@]}"; do
  for how in ${HOW:-signal=SIGKILL error=EIO error=ENOSPC}; do
    if [ "$call" = openat ] && [ "$how" != signal=SIGKILL ]; then continue; fi
    before=$passed
    # The first calls load the program. A number after the last call ends the loop.
    for when in $(seq 400); do try "$call" "$how" "$when" || break; done
    echo "$call $how: $((passed - before)) faults"
  done
done
echo "$passed passed, $failed failed"
[ "$((passed + failed))" != 0 ] || skip "no fault could be injected"
[ "$failed" = 0 ]
