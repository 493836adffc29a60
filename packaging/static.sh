#!/usr/bin/env bash
# Builds a static, stripped binary, and shows that it runs. PROFILE is dist by default.
set -euo pipefail
cd "$(dirname "$0")/.."
profile=${PROFILE:-dist}
built=${profile/#dev/debug} # cargo's folder of the profile
target=x86_64-unknown-linux-gnu
folder=${CARGO_TARGET_DIR:-target}
out=$folder/package

# Without what resolves host names: glibc loads libraries for that when it runs.
RUSTFLAGS="-C target-feature=+crt-static -C strip=symbols" cargo build --locked --quiet --profile "$profile" --target "$target" \
  --no-default-features --features archives,cli,daemon,files,load
mkdir -p "$out"
cp "$folder/$target/$built/urlspool" "$out/urlspool-static"

if readelf -d "$out/urlspool-static" | grep -q NEEDED; then
  echo "the binary needs shared libraries:" >&2
  ldd "$out/urlspool-static" >&2
  exit 1
fi
ldd "$out/urlspool-static" 2>&1 | sed 's/^[[:space:]]*/ldd: /'
# In an empty root there is nothing that it could load.
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
cp "$out/urlspool-static" "$root/urlspool"
cp corpus/text/appendix.txt "$root/text"
if [ "$(id -u)" = 0 ]; then
  urls=$(chroot "$root" /urlspool scan --format urls --unique run /text | wc -l)
else
  urls=$("$root/urlspool" scan --format urls --unique run "$root/text" | wc -l)
fi
[ "$urls" = 3 ] || { echo "the static binary finds $urls URLs in corpus/text/appendix.txt, not 3" >&2; exit 1; }
du -k "$out/urlspool-static" | awk '{ printf "%.1f MiB\n", $1 / 1024 }'
echo "$out/urlspool-static"
