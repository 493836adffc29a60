#!/usr/bin/env bash
# Builds the playground of the site into a folder: the page, and its WebAssembly module.
#
#   packaging/playground.sh FOLDER
#
# Needs rustup and wasm-bindgen of the version in Cargo.lock. Shrinks the module with wasm-opt
# (npm's binaryen) if it is installed. Exits with 77 if the playground cannot be built.
set -euo pipefail
out=$(realpath -m "$1")
cd "$(dirname "$0")/.."
source packaging/tools.sh
most=1000000 # bytes, compressed
target=wasm32-unknown-unknown
version=$(sed -n '/^name = "wasm-bindgen"$/{n;s/version = "\(.*\)"/\1/p}' Cargo.lock)
rustup target add "$target" >/dev/null 2>&1 ||
  { skipped "the playground: rustup cannot install $target"; exit 77; }
if [ "$(wasm-bindgen --version 2>/dev/null)" != "wasm-bindgen $version" ]; then
  # Without its lock file, which names a yanked version of a crate.
  cargo install --quiet --debug --force "wasm-bindgen-cli@$version" >/dev/null 2>&1 ||
    { skipped "the playground: wasm-bindgen $version cannot be installed"; exit 77; }
fi
cargo build --locked --quiet --profile playground --target "$target" --package playground
rm -rf "$out"
mkdir -p "$out"
cp examples/playground/page/* "$out"
# Without the names of functions, which are a twentieth of the module and only for debuggers.
wasm-bindgen --target web --no-typescript --remove-name-section \
  --out-dir "$out" --out-name urlspool \
  "${CARGO_TARGET_DIR:-target}/$target/playground/playground.wasm"
module=$out/urlspool_bg.wasm
if command -v wasm-opt >/dev/null; then
  # Only features that every browser with WebAssembly had in 2022.
  wasm-opt -Os --enable-bulk-memory --enable-nontrapping-float-to-int --enable-sign-ext \
    --enable-mutable-globals \
    --enable-reference-types --enable-multivalue -o "$module.smaller" "$module"
  mv "$module.smaller" "$module"
fi
size=$(gzip -9c "$module" | wc -c)
echo "playground: $(wc -c <"$module") bytes, $size compressed"
[ "$size" -le "$most" ] ||
  { echo "playground.sh: the module has more than $most bytes compressed" >&2; exit 1; }
