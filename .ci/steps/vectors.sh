if [ ! -d "$tools" ]; then
  skipped "vectors, appendix, verdicts and labelled messages are not beside this checkout"
  exit
fi
release
"$tools/check-vectors" "$binary"
"$tools/check-appendix" "$binary"
# tests/tools/verdicts_known.txt explains where WHATWG parsers differ. No other verdict may.
verdicts=$(mktemp)
trap 'rm -f "$verdicts"' EXIT
{ "$tools/check-verdicts" "$binary" || true; } >"$verdicts"
grep -q ' passed, ' "$verdicts" || fail "check-verdicts prints no result"
sed 's/^\([0-9]*\) passed, \([0-9]*\) failed$/verdicts: \1 agree, \2 differ/' "$verdicts"
if grep -v -e ' passed, ' "$verdicts" | grep -v -x -F -f tests/tools/verdicts_known.txt; then
  fail "a verdict differs, and tests/tools/verdicts_known.txt does not say why"
fi
"$tools/score-gold" "$binary"
