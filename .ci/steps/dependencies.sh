cargo_install cargo-deny
cargo deny --locked check --hide-inclusion-graph licenses bans sources 2>&1 | tail -n 1
cargo deny --locked check licenses bans sources >/dev/null 2>&1 || fail "cargo deny check fails"
advisories=$(mktemp)
trap 'rm -f "$advisories"' EXIT
if ! cargo deny --locked check advisories >"$advisories" 2>&1; then
  grep -q 'failed to fetch advisory database' "$advisories" || { cat "$advisories" >&2; exit 1; }
  skipped "advisories: the database of advisories cannot be fetched from here"
fi
