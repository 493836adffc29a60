# Without optimisation, which takes minutes; what is in the packages is the same.
export PROFILE=dev
packages=$target/package
# The crate as it would be published is unpacked, built and installed as the README says.
cargo package --locked --allow-dirty --quiet --no-verify
rm -rf "$packages/crate"
mkdir -p "$packages/crate"
tar -xzf "$packages"/urlspool-*.crate -C "$packages/crate" --strip-components 1
CARGO_TARGET_DIR=$target packaging/install_test.sh "$packages/crate"
# Its unit tests compile from what it holds; their fixtures are in the repository.
(cd "$packages/crate" && CARGO_TARGET_DIR=$target cargo test --locked --quiet --lib --no-run)
rm -f "$packages"/x86_64-unknown-linux-musl/urlspool*
tool "the static binary" "the target musl or zig cannot be installed" packaging/static.sh
install debootstrap || true
install rpmbuild rpm || true
tool "packages for Debian and RPM" "there is no static binary" packaging/linux.sh
packages=$packages/x86_64-unknown-linux-musl
if ! ls "$packages"/*.deb >/dev/null 2>&1; then
  skipped "lintian: there is no Debian package"
elif install lintian; then
  lintian --fail-on error "$packages"/*.deb 2>&1 | grep -v '^running with root' || true
  lintian --fail-on error "$packages"/*.deb >/dev/null 2>&1 || fail "lintian finds errors"
else
  skipped "lintian is not installed"
fi
for package in "$packages"/*.deb "$packages"/*.rpm; do
  [ -e "$package" ] || continue
  tool "installing $(basename "$package") in a clean Debian" "none can be made here" packaging/linux_test.sh "$package"
done
