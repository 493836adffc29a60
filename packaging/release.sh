#!/usr/bin/env bash
# Makes everything of a release that this machine can make into dist/, and tests each artefact.
#
#   packaging/release.sh VERSION [TARGET...]
#
# VERSION is that of Cargo.toml. Targets: x86_64-unknown-linux-musl and aarch64-unknown-linux-musl by default. Needs Linux, rustup and
# Python with venv; says what it skips. PROFILE is dist by default. SOURCE_DATE_EPOCH dates the files in the archives.
set -euo pipefail
cd "$(dirname "$0")/.."
source packaging/tools.sh
version=${1:?usage: packaging/release.sh VERSION [TARGET...]}
shift
targets=("$@")
[ $# -gt 0 ] || targets=(x86_64-unknown-linux-musl aarch64-unknown-linux-musl)
export PROFILE=${PROFILE:-dist}
fail() { echo "release.sh: $*" >&2; exit 1; }
[ "$version" = "$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)" ] || fail "Cargo.toml does not have version $version"
grep -q "^## $version\b" CHANGELOG.md || fail "CHANGELOG.md has no section $version"
date=@${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
folder=$(realpath "${CARGO_TARGET_DIR:-target}")
work=$folder/package
dist=$PWD/dist
rm -rf "$dist"
mkdir -p "$dist"
python_tools ziglang cargo-zigbuild 'maturin>=1.16,<2'
cargo_tool cargo-auditable || skipped "cargo-auditable cannot be installed: the binaries hold no list of crates"

# An archive of a binary with its pages: urlspool-VERSION-TARGET.tar.gz.
archive() {
  local binary=$1 target=$2 name=urlspool-$version-$2 pages=$3
  local root=$work/archive/$name
  rm -rf "$work/archive"
  mkdir -p "$root"
  cp "$binary" README.md CHANGELOG.md LICENSE-* "$root"
  cp -r docs config "$pages/man" "$pages/completions" "$root"
  tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="$date" -C "$work/archive" -cf - "$name" | gzip -9n >"$dist/$name.tar.gz"
}

# Manual pages and completions are those of any binary that runs here.
pages=$work/pages
for target in "${targets[@]}"; do
  packaging/static.sh "$target"
  binary=$work/$target/urlspool
  qemu=$(runner "$target") || qemu=none
  if [ ! -d "$pages/man" ] || [ -z "$qemu" ]; then
    [ "$qemu" != none ] || fail "$target cannot be run here, and no other binary made manual pages; install qemu-user-static"
    rm -rf "$pages"
    mkdir -p "$pages/completions"
    $qemu "$binary" man --all "$pages/man" >/dev/null
    for shell in bash zsh fish; do $qemu "$binary" completions "$shell" >"$pages/completions/$shell"; done
  fi
  archive "$binary" "$target" "$pages"
  # The binary as a user unpacks it.
  test=$(mktemp -d)
  tar -xzf "$dist/urlspool-$version-$target.tar.gz" -C "$test"
  packaging/binary_test.sh "$test/urlspool-$version-$target/urlspool" "$target"
  rm -rf "$test"

  for platform in "manylinux2014 ${target/musl/gnu}" "musllinux_1_2 $target"; do
    rustup target add "${platform#* }" >/dev/null 2>&1 || { skipped "wheel for ${platform#* }: its standard library cannot be installed"; continue; }
    (cd python && maturin build --quiet --locked --profile "$PROFILE" --zig --target "${platform#* }" --compatibility "${platform% *}" --out "$dist")
  done
  if [ "${target%%-*}" = x86_64 ] && command -v dpkg >/dev/null; then
    BINARY=$binary packaging/deb.sh
    cp "$(ls -t "$work"/urlspool_*.deb | head -n 1)" "$dist"
  fi
done

(cd python && maturin sdist --quiet --out "$dist")
# The wheel of this machine, in an environment of its own.
wheel=$(ls "$dist"/urlspool-*manylinux*"$(uname -m)".whl 2>/dev/null || true)
if [ -n "$wheel" ]; then
  rm -rf "$work/venv"
  python3 -m venv "$work/venv"
  "$work/venv/bin/pip" install --quiet --disable-pip-version-check "$wheel"
  (cd "$work" && venv/bin/python -c 'import urlspool; assert [u["url"] for u in urlspool.urls("<URL:http://a.example/x\n y>")] == ["http://a.example/xy"]')
  echo "$(basename "$wheel"): finds a URL in a clean environment"
fi

cargo package --locked --allow-dirty --quiet --no-verify
cp "$folder/package/urlspool-$version.crate" "$dist"
if cargo_tool cargo-cyclonedx; then
  cargo cyclonedx --quiet --format json --features "$(cat packaging/features)" --override-filename urlspool.cdx
  mv urlspool.cdx.json "$dist/urlspool-$version.cdx.json"
  rm -f benches/urlspool.cdx.json python/urlspool.cdx.json
else
  skipped "cargo-cyclonedx cannot be installed: no SBOM"
fi
packaging/image.sh "$dist" "$work/x86_64-unknown-linux-musl/urlspool" "$version" || [ $? = 77 ]
(cd "$dist" && sha256sum -- * >SHA256SUMS && sha256sum --quiet -c SHA256SUMS)
ls -l "$dist" | awk 'NR > 1 { printf "%8.1f KiB  %s\n", $5 / 1024, $9 }'
