for folder in . "$target" "${TMPDIR:-/tmp}"; do
  needed=3072 # MiB: both builds take two thirds of it
  free=$(df -Pk "$folder" 2>/dev/null | awk 'NR == 2 { print int($4 / 1024) }') || true
  [ "${free:-$needed}" -ge "$needed" ] || echo \
    "only $free MiB are free in $folder: linkers die of that (signal 7); $needed MiB are enough" >&2
done
mapfile -t commands < <(awk '/^```/{fence++; next} fence==1 && /^cargo /' README.md)
[ "${#commands[@]}" -eq 2 ] || fail "README.md: the first fence must hold two cargo commands"
records=$(mktemp)
trap 'rm -f "$records"' EXIT
bash -c "${commands[0]}" >"$records" || fail "failed: ${commands[0]}"
wc -l <"$records" | xargs printf '%s records from corpus/\n'
[ -s "$records" ] || fail "no records: ${commands[0]}"
bash -c "${commands[1]}"
