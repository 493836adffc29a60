# A check links nothing, so a program that writes empty files can replace the C compilers of other
# systems.
stand_in=$(mktemp -d)
trap 'rm -rf "$stand_in"' EXIT
cat >"$stand_in/cc" <<'SCRIPT'
#!/bin/sh
case " $* " in *' -E '*) echo clang; exit ;; esac
while [ $# -gt 0 ]; do
  if [ "$1" = -o ]; then : >"$2"; fi
  shift
done
SCRIPT
cat >"$stand_in/ar" <<'SCRIPT'
#!/bin/sh
for file; do case $file in *.a) : >"$file" ;; esac; done
SCRIPT
chmod +x "$stand_in/cc" "$stand_in/ar"

# check PLATFORM FEATURES ABOUT
check() {
  local platform=$1 name=${1//-/_}
  if ! rustup target add "$platform" >/dev/null 2>&1; then
    skipped "$platform: its standard library cannot be installed here"
    return
  fi
  env "CC_$name=$stand_in/cc" "CXX_$name=$stand_in/cc" "AR_$name=$stand_in/ar" \
    cargo check --locked --quiet -p urlspool --no-default-features --features "$2" \
      --target "$platform" || fail "$platform: $3 cannot be built"
  echo "$platform: $3 checked; not linked, not run"
}
# All features of the packages. macOS lacks Landlock, openat2 and preadv2.
all=default,$(cat packaging/features),arrow
check x86_64-unknown-linux-musl "$all" "the program with all features"
check aarch64-unknown-linux-musl "$all" "the program with all features"
check aarch64-apple-darwin "$all" "the program with all features"
check x86_64-pc-windows-gnu "" "the library without features"
check wasm32-unknown-unknown "" "the library without features"
# The oldest Rust promised in Cargo.toml.
oldest=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
if rustup toolchain install "$oldest" --profile minimal >/dev/null 2>&1; then
  cargo "+$oldest" check --locked --quiet
  echo "Rust $oldest: the program builds"
else
  skipped "Rust $oldest: this toolchain cannot be installed here"
fi
