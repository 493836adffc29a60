#!/usr/bin/env bash
# Builds all release artefacts that this machine can build into dist/, and tests each.
#
#   packaging/release.sh VERSION [TARGET...]
#
# VERSION is the version in Cargo.toml. Targets: x86_64-unknown-linux-musl and
# aarch64-unknown-linux-musl by default. Needs Linux, rustup and Python with venv;
# packaging/README.md lists further requirements per artefact. Prints each artefact, how it was
# tested, and skipped ones; an error ends the script. PROFILE is dist by default. SOURCE_DATE_EPOCH
# dates the files in the archives.
set -euo pipefail
cd "$(dirname "$0")/.."
source packaging/tools.sh
version=${1:?usage: packaging/release.sh VERSION [TARGET...]}
shift
targets=("$@")
[ $# -gt 0 ] || targets=(x86_64-unknown-linux-musl aarch64-unknown-linux-musl)
export PROFILE=${PROFILE:-dist}
fail() { echo "release.sh: $*" >&2; exit 1; }
[ "$version" = "$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)" ] ||
  fail "Cargo.toml does not have version $version"
grep -q "^## $version\b" CHANGELOG.md || fail "CHANGELOG.md has no section $version"
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH
folder=$(realpath -m "${CARGO_TARGET_DIR:-target}")
work=$folder/package
dist=$PWD/dist
rm -rf "$dist" "$work/pages"
mkdir -p "$dist" "$work"
export REPORT=$work/report.txt
: >"$REPORT"
python_tools ziglang cargo-zigbuild 'maturin>=1.16,<2' ||
  fail "pip cannot install zig, cargo-zigbuild and maturin"
cargo_tool cargo-auditable ||
  skipped "cargo-auditable cannot be installed: the binaries hold no list of crates"
# A test that is impossible here has reported it.
try() {
  local code=0
  "$@" || code=$?
  [ "$code" = 0 ] || [ "$code" = 77 ] || fail "$*: exit code $code"
}

# Builds an archive of a binary with its pages, urlspool-VERSION-TARGET.tar.gz. The test unpacks it
# as a user does.
archive() {
  local target=$1 name=urlspool-$version-$1 root=$work/archive/urlspool-$version-$1 \
    test=$work/archive/test page
  rm -rf "$work/archive"
  mkdir -p "$root" "$test"
  cp "$work/$target/urlspool" "$root"
  release_files "$root" "$work/pages"
  tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" \
    -C "$work/archive" -cf - "$name" | gzip -9n >"$dist/$name.tar.gz"
  made "$dist/$name.tar.gz"
  tar -xzf "$dist/$name.tar.gz" -C "$test"
  cmp "$test/$name/urlspool" "$work/$target/urlspool"
  for page in man/man1/urlspool.1 completions/bash completions/zsh completions/fish; do
    [ -s "$test/$name/$page" ] || fail "$name.tar.gz has no $page"
  done
  bash -n "$test/$name/completions/bash"
  tested "$name.tar.gz: the binary that was tested, manual pages, completions"
}

for target in "${targets[@]}"; do
  rm -f "$work/$target/urlspool"
  try packaging/static.sh "$target"
  [ -x "$work/$target/urlspool" ] ||
    { skipped "everything for $target: there is no static binary"; continue; }
  pages "$work/pages" "$work/$target/urlspool" "$target" ||
    fail "$target cannot run here, and no other binary made manual pages; install qemu-user-static"
  archive "$target"
  try packaging/image.sh "$dist" "$work/$target/urlspool" "$target" "$version"
  try packaging/linux.sh "$target"
  for package in "$work/$target"/*.deb "$work/$target"/*.rpm; do
    [ -e "$package" ] || continue
    cp "$package" "$dist"
    case ${target%%-*} in
      "$(uname -m)")
        try packaging/linux_test.sh "$package"
        # The oldest supported Debian.
        if [ "${package##*.}" = deb ]; then try packaging/linux_test.sh "$package" bullseye; fi
        ;;
      *) skipped "$(basename "$package") in a clean root:" \
        "it is for another processor; its binary is tested" ;;
    esac
  done
  for platform in "manylinux2014 ${target/musl/gnu}" "musllinux_1_2 $target"; do
    rustup target add "${platform#* }" >/dev/null 2>&1 ||
      { skipped "wheel for ${platform#* }: its standard library cannot be installed"; continue; }
    rm -rf "$work/wheel"
    (cd python && maturin build --quiet --locked --profile "$PROFILE" --zig \
      --target "${platform#* }" --compatibility "${platform% *}" --out "$work/wheel")
    made "$work"/wheel/*.whl
    cp "$work"/wheel/*.whl "$dist"
    try packaging/wheel_test.sh "$work"/wheel/*.whl
  done
done
if [ -x "$work/${targets[0]}/urlspool" ] && [ -x "$work/${targets[1]-}/urlspool" ] &&
  qemu=$(runner "${targets[1]}"); then
  tests/tools/same_records.sh "$work/${targets[0]}/urlspool" "$work/${targets[1]}/urlspool" \
    ${qemu:+"$qemu"}
  tested "the records of both processors are equal"
fi

# Both source packages are built from their own contents.
rm -rf "$work/sdist"
(cd python && maturin sdist --out "$work/sdist") >"$work/log" 2>&1 ||
  { cat "$work/log" >&2; fail "no sdist"; }
sdist=$(echo "$work"/sdist/*.tar.gz)
made "$sdist"
cp "$sdist" "$dist"
python3 -m venv --clear "$work/sdist/venv"
if CARGO_TARGET_DIR=$folder MATURIN_PEP517_ARGS="--profile dev" "$work/sdist/venv/bin/pip" install \
  --quiet --disable-pip-version-check "$sdist"; then
  (cd "$work" && sdist/venv/bin/python -c 'import urlspool
assert len(urlspool.urls("http://a.example/")) == 1')
  tested "$(basename "$sdist"): built by pip, and finds a URL, in a clean environment"
else
  fail "$(basename "$sdist") cannot be built"
fi
cargo package --locked --allow-dirty --quiet --workspace --exclude benches --exclude playground \
  --exclude urlspool-python
crate=$folder/package/urlspool-$version.crate
made "$crate"
cp "$crate" "$dist"
tested "$(basename "$crate"): cargo builds it from its own contents"

if cargo_tool cargo-cyclonedx; then
  cargo cyclonedx --quiet --format json --features "$(cat packaging/features)" \
    --override-filename urlspool.cdx
  mv urlspool.cdx.json "$dist/urlspool-$version.cdx.json"
  find . -name urlspool.cdx.json -not -path './target/*' -delete
  made "$dist/urlspool-$version.cdx.json"
  parts=$(python3 -c 'import json, sys
print(sum(1 for part in json.load(sys.stdin)["components"] if part["purl"]))' \
    <"$dist/urlspool-$version.cdx.json")
  [ "$parts" -gt 100 ] || fail "the SBOM has only $parts components"
  tested "urlspool-$version.cdx.json: $parts components, each with its address"
else
  skipped "cargo-cyclonedx cannot be installed: no SBOM"
fi
(cd "$dist" && sha256sum -- * >SHA256SUMS && sha256sum --quiet -c SHA256SUMS)
tested "SHA256SUMS: $(wc -l <"$dist/SHA256SUMS") files"
printf '\n'
cat "$REPORT"
