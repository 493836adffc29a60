#!/usr/bin/env bash
# Builds a static, stripped musl binary with all features of the packages, and shows that it runs.
#
#   packaging/static.sh [TARGET]     x86_64-unknown-linux-musl (the default)
#                                    or aarch64-unknown-linux-musl
#
# Needs rustup and Python with venv: zig, from PyPI, compiles the C code. PROFILE is dist by
# default. The last line is the path.
set -euo pipefail
cd "$(dirname "$0")/.."
source packaging/tools.sh
target=${1:-x86_64-unknown-linux-musl}
profile=${PROFILE:-dist}
folder=${CARGO_TARGET_DIR:-target}
built=$folder/$target/${profile/#dev/debug}/urlspool # cargo's folder of the profile
out=$folder/package/$target
python_tools ziglang cargo-zigbuild ||
  { skipped "a static binary: pip cannot install zig here"; exit 77; }
rustup target add "$target" >/dev/null 2>&1 ||
  { skipped "a static binary: rustup cannot install $target"; exit 77; }

# Embeds the list of crates for `cargo audit bin`, if cargo-auditable is installed.
auditable=()
if command -v cargo-auditable >/dev/null; then auditable=(auditable); fi
cargo "${auditable[@]}" zigbuild --locked --quiet --profile "$profile" --target "$target" \
  --features "$(cat packaging/features)"
mkdir -p "$out"
cp "$built" "$out/urlspool"

fail() { echo "$out/urlspool: $*" >&2; exit 1; }
if readelf -d "$out/urlspool" | grep NEEDED >&2; then fail "it needs shared libraries"; fi
properties="static, stripped"
if readelf -SW "$out/urlspool" | grep ' \.symtab ' >/dev/null; then
  [ "$profile" = dev ] || fail "it is not stripped"
  properties="static, with symbols"
fi
if [ -n "${auditable-}" ]; then
  read -r offset size < <(readelf -SW "$out/urlspool" |
    sed -n 's/.* \.dep-v0 *PROGBITS *[0-9a-f]* \([0-9a-f]*\) \([0-9a-f]*\) .*/\1 \2/p') ||
    fail "it holds no list of crates"
  crates=$(python3 - "$out/urlspool" "$offset" "$size" <<'PYTHON'
import json, sys, zlib
path, offset, size = sys.argv[1], int(sys.argv[2], 16), int(sys.argv[3], 16)
with open(path, "rb") as file:
    file.seek(offset)
    print(len(json.loads(zlib.decompress(file.read(size)))["packages"]))
PYTHON
  ) || fail "its list of crates cannot be read"
  tested "$target: $properties, and with the list of its $crates crates"
else
  tested "$target: $properties"
fi
packaging/binary_test.sh "$out/urlspool" "$target"
echo "$out/urlspool"
