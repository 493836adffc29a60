#!/usr/bin/env bash
# Scans, loads, searches and watches with a binary: in an empty root if it is static and the user is
# root, and with qemu if it is for another processor.
#
#   packaging/binary_test.sh BINARY TARGET
set -euo pipefail
binary=$(realpath "$1")
target=$2
cd "$(dirname "$0")/.."
source packaging/tools.sh
qemu=$(runner "$target") || { skipped "$binary: qemu-user-static is not installed"; exit 0; }
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir "$root/tmp" "$root/dev"
cp "$binary" "$root/urlspool"
cp -r corpus/mail/mh "$root/mh"
cp corpus/text/appendix.txt "$root/text"
at=
run() { (cd "$root" && $qemu ./urlspool "$@"); }
if [ "$(id -u)" = 0 ] && [[ $target == *-musl ]]; then
  at=/
  if [ -n "$qemu" ]; then cp "$qemu" "$root/qemu"; fi
  run() { chroot "$root" ${qemu:+/qemu} /urlspool "$@"; }
fi
fail() { echo "$binary: $*" >&2; exit 1; }

[ "$(run scan --format urls --unique run "${at}text" | wc -l)" -eq 3 ] ||
  fail "does not find 3 URLs in corpus/text/appendix.txt"
run load --into "${at}tmp/urls.db" - >/dev/null 2>&1 < <(run scan "${at}mh") || fail "cannot load"
run search "${at}tmp/urls.db" mh1 | grep -q 'http://mh1.example/' ||
  fail "does not find the loaded record"
run watch --once --from-start -o "${at}tmp/out" "${at}mh" >/dev/null 2>&1 || fail "cannot watch"
[ "$(cat "$root"/tmp/out/*.jsonl | wc -l)" -eq 4 ] ||
  fail "did not write 4 records of corpus/mail/mh"
run scan --format parquet -o "${at}tmp/urls.parquet" "${at}mh" 2>/dev/null ||
  fail "cannot write Parquet"
run audit --help >/dev/null || fail "has no audits"
echo "$target: scans, loads, searches and watches${at:+ in an empty root}${qemu:+, by qemu}"
