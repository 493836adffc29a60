#!/usr/bin/env bash
# Builds a container image from a static binary, as an archive for `podman load` and `docker load`,
# and scans, watches, loads and searches with it as an ordinary user. Needs buildah; exits with 77
# if buildah is missing or cannot work.
#
#   packaging/image.sh FOLDER BINARY TARGET VERSION
set -euo pipefail
out=$(realpath "$1")
binary=$(realpath "$2")
target=$3
version=$4
cd "$(dirname "$0")/.."
source packaging/tools.sh
name=urlspool-$version-image-${target%%-*}.tar
command -v buildah >/dev/null || { skipped "$name.gz: buildah is not installed"; exit 77; }
roots=/etc/ssl/certs/ca-certificates.crt
[ -f "$roots" ] || { skipped "$name.gz: $roots is missing"; exit 77; }
work=$(mktemp -d)
# The layers are separate from other images of this machine.
build() { local verb=$1; shift; buildah --root "$work/layers" --runroot "$work/run" \
  --storage-driver vfs "$verb" "$@"; }
trap 'build rm --all >/dev/null 2>&1 || true; rm -rf "$work"' EXIT
mkdir "$work/context"
cp "$binary" "$work/context/urlspool"
cp "$roots" "$work/context"
build bud --quiet --isolation chroot --arch "$(debian_processor "$target")" \
  --tag "urlspool:$version" \
  -f packaging/Containerfile "$work/context" >/dev/null 2>"$work/log" ||
  { tail -n 3 "$work/log" >&2; skipped "$name.gz: buildah cannot work here"; exit 77; }
rm -f "$out/$name" "$out/$name.gz"
build push --quiet "urlspool:$version" "docker-archive:$out/$name:urlspool:$version"
gzip -9n "$out/$name"
made "$out/$name.gz"

[ "${target%%-*}" = "$(uname -m)" ] ||
  { skipped "$name.gz in a container: it is for another processor"; exit; }
# From the archive, as users receive it.
mkdir "$work/out"
cp -r corpus/mail/mh "$work/mail"
chown -R 65534:65534 "$work/out" 2>/dev/null ||
  { skipped "$name.gz in a container: not root"; exit; }
gzip -dc "$out/$name.gz" >"$work/image.tar"
container=$(build from --quiet "docker-archive:$work/image.tar")
run() { build run --isolation chroot -v "$work/mail:/mail:ro" \
  -v "$work/out:/out" "$container" -- /usr/bin/urlspool "$@"; }
fail() { cat "$work/log" >&2; echo "$name.gz: $*" >&2; exit 1; }
run --version >/dev/null 2>"$work/log" || { tail \
  -n 3 "$work/log" >&2; skipped "$name.gz in a container: buildah cannot run one here"; exit; }
run scan -o /out/urls.jsonl /mail 2>"$work/log" || fail "cannot scan"
[ "$(wc -l <"$work/out/urls.jsonl")" = 4 ] || fail "does not find 4 URLs in corpus/mail/mh"
[ "$(stat -c %u "$work/out/urls.jsonl")" = 65534 ] || fail "is not run as an ordinary user"
run watch --once --from-start -o /out/segments /mail >/dev/null 2>"$work/log" || fail "cannot watch"
[ "$(cat "$work"/out/segments/*.jsonl | wc -l)" = 4 ] ||
  fail "does not write 4 records of corpus/mail/mh"
run load --into /out/urls.db /out/segments >/dev/null 2>"$work/log" || fail "cannot load"
run search /out/urls.db mh1 2>"$work/log" | grep -q 'http://mh1.example/' ||
  fail "does not find the loaded record"
tested "$name.gz: scans, watches, loads and searches in a container, as user 65534"
