#!/usr/bin/env bash
# Builds the Debian package. Needs cargo-deb (`cargo install cargo-deb`). PROFILE is dist by default.
set -euo pipefail
cd "$(dirname "$0")/.."
profile=${PROFILE:-dist}
built=${profile/#dev/debug} # cargo's folder of the profile
folder=${CARGO_TARGET_DIR:-target}
out=$folder/package
command -v cargo-deb >/dev/null || cargo install --locked --quiet --debug cargo-deb

cargo build --locked --quiet --profile "$profile" --features "$(cat packaging/features)"
rm -rf "$out/deb"
mkdir -p "$out/deb/completions"
cp "$folder/$built/urlspool" "$out/deb/urlspool"
strip --strip-all "$out/deb/urlspool"
"$out/deb/urlspool" man --all "$out/deb/man" >/dev/null
for shell in bash zsh fish; do
  "$out/deb/urlspool" completions "$shell" >"$out/deb/completions/$shell"
done
# cargo-deb finds the files of the package at this place, wherever they were built.
mkdir -p target/package
[ "$out" -ef target/package ] || { rm -rf target/package/deb; cp -a "$out/deb" target/package/deb; }
gzip --best --no-name --force target/package/deb/man/man*/*
cargo deb --quiet --no-build --no-strip --profile "$profile" --output "$out/"
ls -t "$out"/urlspool_*.deb | head -n 1
