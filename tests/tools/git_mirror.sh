#!/usr/bin/env bash
# Tests the recipe for mirrors of public-inbox, on a repository with one commit per message and its
# blob `m`.
#
#     tests/tools/git_mirror.sh [PROGRAM]
set -euo pipefail
program=$(realpath "${1:-target/release/urlspool}")
[ -x "$program" ] || { echo "no such program: $program" >&2; exit 2; }
command -v git >/dev/null || { echo "SKIPPED: git is not installed"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
messages=300

# The messages of the repository. Number 7 is deleted later like in public-inbox: `m` becomes `d`.
fast_import() {
  for ((n = 1; n <= messages; n++)); do
    printf -v mail 'From: a@b.example\nSubject: s%d\nMessage-ID: <%d@b.example>\n\nSee http://m%d.example/x\n' $n $n $n
    printf 'blob\nmark :%d\ndata %d\n%s\n' $n ${#mail} "$mail"
    printf 'commit refs/heads/master\ncommitter A <a@b.example> %d +0000\ndata 2\ns\n\nM 100644 :%d m\n\n' $((1000000000 + n)) $n
    if [ $n = 7 ]; then
      printf 'commit refs/heads/master\ncommitter A <a@b.example> %d +0000\ndata 2\nrm\nD m\nM 100644 :%d d\n\n' $((1000000000 + n)) $n
    fi
  done
}

failed=0 passed=0 skipped=0
check() { # NAME GOT WANTED
  if [ "$2" = "$3" ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAILED: $1: $2, not $3"; fi
}
for format in sha1 sha256; do
  repository=$folder/$format.git
  git init -q --bare --object-format=$format "$repository" 2>/dev/null || { echo "SKIPPED: this git has no $format"; skipped=$((skipped + 1)); continue; }
  git -C "$repository" symbolic-ref HEAD refs/heads/master
  fast_import | git -C "$repository" fast-import --quiet
  # The recipe of docs/recipes.md.
  git --git-dir="$repository" rev-list --reverse HEAD | sed 's/$/:m/' |
    git --git-dir="$repository" cat-file --batch --buffer |
    "$program" scan -q --summary "$folder/summary.json" - >"$folder/records.jsonl"
  check "$format: records" "$(wc -l <"$folder/records.jsonl")" $messages
  check "$format: distinct members" "$(grep -o '"member":\["[0-9a-f]*"\]' "$folder/records.jsonl" | sort -u | wc -l)" $messages
  check "$format: first" "$(grep -o 'http://m[0-9]*' "$folder/records.jsonl" | head -n 1)" http://m1
  check "$format: commits without a message" "$(grep -o '"missing-object":[0-9]*' "$folder/summary.json" | head -n 1)" '"missing-object":1'
  # All objects of the repository. Commits and trees are skipped.
  git --git-dir="$repository" cat-file --batch --batch-all-objects | "$program" scan -q - >"$folder/all.jsonl"
  check "$format: records of all objects" "$(wc -l <"$folder/all.jsonl")" $messages
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
