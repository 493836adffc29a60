#!/usr/bin/env bash
# Builds a Debian and an RPM package from the static binary of a target, which runs with any C
# library.
#
#   packaging/linux.sh [TARGET]     x86_64-unknown-linux-musl (the default)
#                                   or aarch64-unknown-linux-musl
#
# If the binary is missing, `packaging/static.sh` builds it. Needs cargo-deb (`cargo install
# cargo-deb`) and rpmbuild; packages without their tool are skipped. PROFILE is dist by default. The
# packages are in `target/package/TARGET`.
set -euo pipefail
cd "$(dirname "$0")/.."
source packaging/tools.sh
target=${1:-x86_64-unknown-linux-musl}
folder=$(realpath -m "${CARGO_TARGET_DIR:-target}")
out=$folder/package/$target
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
[ -x "$out/urlspool" ] || packaging/static.sh "$target"
pages "$folder/package/pages" "$out/urlspool" "$target" ||
  { skipped "packages for $target: no binary that runs here made manual pages"; exit 77; }

# Both tools expect the files here, wherever they were built.
stage=target/package/stage
rm -rf "$stage"
mkdir -p "$stage"
cp -r "$out/urlspool" "$folder/package/pages/"{man,completions} "$stage"
gzip --best --no-name --force "$stage"/man/man*/*
rm -f "$out"/*.deb "$out"/*.rpm

if cargo_tool cargo-deb; then
  cargo deb --quiet --no-build --no-strip --target "$target" --profile "${PROFILE:-dist}" \
    --output "$out/" >/dev/null
  made "$out"/urlspool_*.deb
else
  skipped "the Debian package for $target: cargo-deb cannot be installed"
fi
if command -v rpmbuild >/dev/null; then
  rpmbuild -bb --quiet --target "${target%%-*}" --define "_topdir $out/rpm" \
    --define "_rpmdir $out" --define "version $version" \
    --define "root $PWD" --define "stage $PWD/$stage" packaging/urlspool.spec >/dev/null
  mv "$out/${target%%-*}"/*.rpm "$out"
  rm -rf "${out:?}/${target%%-*}" "$out/rpm"
  made "$out"/urlspool-*.rpm
else
  skipped "the RPM package for $target: rpmbuild is not installed"
fi
