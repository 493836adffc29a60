# The profile release builds sooner; what is in the packages is the same.
packages=$target/package
cargo publish --locked --dry-run --allow-dirty --quiet
cargo install --locked --quiet --path . --root "$packages/installed" --profile release
"$packages/installed/bin/urlspool" --version
PROFILE=release packaging/static.sh
PROFILE=release packaging/deb.sh
install debootstrap || true
if install lintian; then
  lintian --fail-on error "$packages"/urlspool_*.deb 2>&1 | grep -v '^running with root' || true
  lintian --fail-on error "$packages"/urlspool_*.deb >/dev/null 2>&1 || fail "lintian finds errors"
else
  skipped "lintian is not installed"
fi
tool "installing the package in a clean Debian" "none can be made here" packaging/deb_test.sh "$packages"/urlspool_*.deb
