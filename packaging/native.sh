#!/usr/bin/env bash
# Builds an archive of the program and a wheel for the current system, and tests both. This is for
# macOS, because only macOS has the frameworks that TLS needs. For Linux, `packaging/release.sh`
# builds both, for every C library.
#
#   packaging/native.sh FOLDER
#
# Needs rustup and Python with venv. PROFILE is dist by default. Uses only tools of macOS: its bash,
# tar and stat.
set -euo pipefail
mkdir -p "$1"
out=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
source packaging/tools.sh
profile=${PROFILE:-dist}
target=$(rustc -vV | sed -n 's/^host: //p')
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
built=${CARGO_TARGET_DIR:-target}/${profile/#dev/debug}/urlspool
name=urlspool-$version-$target
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "native.sh: $*" >&2; exit 1; }

cargo build --locked --quiet --profile "$profile" --features "$(cat packaging/features)"
packaging/binary_test.sh "$built" "$target"
pages "$work/pages" "$built" "$target"
mkdir "$work/$name"
cp "$built" "$work/$name/urlspool"
release_files "$work/$name" "$work/pages"
tar -czf "$out/$name.tar.gz" -C "$work" "$name"
made "$out/$name.tar.gz"
mkdir "$work/test"
tar -xzf "$out/$name.tar.gz" -C "$work/test"
[ "$(cd "$work/test/$name" && ./urlspool --version)" = "urlspool $version" ] ||
  fail "the program of the archive is not urlspool $version"
tested "$name.tar.gz: scans, loads, searches and watches"

python_tools 'maturin>=1.16,<2' || fail "pip cannot install maturin"
(cd python && maturin build --quiet --locked --profile "$profile" --out "$work/wheel")
wheel=$(echo "$work"/wheel/*.whl)
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check "$wheel"
[ "$("$work/venv/bin/urlspool" scan --format urls corpus/mail/mh | wc -l)" -eq 4 ] ||
  fail "the command of the wheel does not find 4 URLs"
(cd "$work" && venv/bin/python -c 'import urlspool
assert len(urlspool.urls("http://a.example/")) == 1')
cp "$wheel" "$out"
made "$out/$(basename "$wheel")"
tested "$(basename "$wheel"): finds URLs in a clean environment, also by its command"
