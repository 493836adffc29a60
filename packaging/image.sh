#!/usr/bin/env bash
# Makes a container image, as an archive for `podman load` and `docker load`, from a static binary. Needs buildah; exits with 77
# without it, or where it cannot work.
#
#   packaging/image.sh FOLDER BINARY VERSION
set -euo pipefail
out=$(realpath "$1")
binary=$(realpath "$2")
version=$3
cd "$(dirname "$0")/.."
source packaging/tools.sh
command -v buildah >/dev/null || { skipped "the container image: buildah is not installed"; exit 77; }
roots=/etc/ssl/certs/ca-certificates.crt
[ -f "$roots" ] || { skipped "the container image: $roots is missing"; exit 77; }
context=$(mktemp -d)
trap 'rm -rf "$context"' EXIT
cp "$binary" "$context/urlspool"
cp "$roots" "$context"
buildah bud --quiet --isolation chroot --storage-driver vfs --tag "urlspool:$version" -f packaging/Containerfile "$context" >/dev/null ||
  { skipped "the container image: buildah cannot work here"; exit 77; }
file=urlspool-$version-image.tar
rm -f "$out/$file" "$out/$file.gz"
buildah push --quiet --storage-driver vfs "urlspool:$version" "docker-archive:$out/$file:urlspool:$version"
gzip -9n "$out/$file"
echo "$file.gz: made, not run"
