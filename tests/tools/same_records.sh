#!/usr/bin/env bash
# Compares the records of two binaries byte for byte, for corpus/ and the first 20 MB of a mailing
# list.
#
#   tests/tools/same_records.sh BINARY OTHER [RUNNER...]     RUNNER, such as qemu-aarch64-static
#
# The list is ../shared/data/linux-mips-2025.mbox.gz, or LIST. Without it, reports that and compares
# only corpus/.
set -euo pipefail
binary=$(realpath "$1")
other=$(realpath "$2")
shift 2
cd "$(dirname "$0")/../.."
list=${LIST:-../shared/data/linux-mips-2025.mbox.gz}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0 skipped=0

# scan SIDE PATH PROGRAM...: prints the exit code.
scan() {
  local side=$1 path=$2 code=0
  shift 2
  "$@" scan --force -o "$work/$side.jsonl" --events "$work/$side.events" "$path" 2>/dev/null ||
    code=$?
  echo "$code"
}
# compare NAME PATH
compare() {
  local codes records
  codes=("$(scan one "$2" "$binary")" "$(scan other "$2" "${runner[@]}" "$other")")
  records=$(wc -l <"$work/one.jsonl")
  if [ "$records" -gt 0 ] && [ "${codes[0]}" = "${codes[1]}" ] &&
    cmp "$work/one.jsonl" "$work/other.jsonl" && cmp "$work/one.events" "$work/other.events"; then
    echo "$1: $records records are equal"
    passed=$((passed + 1))
  else
    echo "$1: the records differ, or there are none (exit codes ${codes[*]})" >&2
    failed=$((failed + 1))
  fi
}
runner=("$@")
compare corpus/ corpus
if [ -f "$list" ]; then
  # The last message is cut on both sides.
  gzip -dc "$list" 2>/dev/null | head -c 20000000 >"$work/list.mbox" || true
  compare "20 MB of $(basename "$list")" "$work/list.mbox"
else
  echo "SKIPPED: $list is not there; LIST names another"
  skipped=1
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
