#!/usr/bin/env bash
# Builds the Debian package. Needs cargo-deb (`cargo install cargo-deb`). PROFILE is dist by default. BINARY is a program to pack in
# place of one that is built here, such as a static one.
set -euo pipefail
cd "$(dirname "$0")/.."
profile=${PROFILE:-dist}
built=${profile/#dev/debug} # cargo's folder of the profile
folder=${CARGO_TARGET_DIR:-target}
out=$folder/package
command -v cargo-deb >/dev/null || cargo install --locked --quiet --debug cargo-deb

if [ -z "${BINARY-}" ]; then
  cargo build --locked --quiet --profile "$profile" --features "$(cat packaging/features)"
  BINARY=$folder/$built/urlspool
fi
rm -rf "$out/deb"
mkdir -p "$out/deb/completions"
cp "$BINARY" "$out/deb/urlspool"
strip --strip-all --keep-section=.dep-v0 "$out/deb/urlspool" # .dep-v0 is the list of crates of cargo-auditable
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
