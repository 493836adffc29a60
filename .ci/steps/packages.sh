# Without optimisation, which takes minutes; what is in the packages is the same.
export PROFILE=dev
packages=$target/package
# The crate as it would be published is unpacked, built and installed.
cargo package --locked --allow-dirty --quiet --no-verify
rm -rf "$packages/crate"
mkdir -p "$packages/crate"
tar -xzf "$packages"/urlspool-*.crate -C "$packages/crate" --strip-components 1
CARGO_TARGET_DIR=$target cargo install --locked --quiet --debug --path "$packages/crate" --root "$packages/installed"
"$packages/installed/bin/urlspool" --version
tool "the static binary" "the target musl or zig cannot be installed" packaging/static.sh
packaging/deb.sh
install debootstrap || true
if install lintian; then
  lintian --fail-on error "$packages"/urlspool_*.deb 2>&1 | grep -v '^running with root' || true
  lintian --fail-on error "$packages"/urlspool_*.deb >/dev/null 2>&1 || fail "lintian finds errors"
else
  skipped "lintian is not installed"
fi
tool "installing the package in a clean Debian" "none can be made here" packaging/deb_test.sh "$packages"/urlspool_*.deb
