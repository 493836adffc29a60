# Without optimisation, which takes minutes and does not change the contents of the packages.
export PROFILE=dev
packages=$target/package
# The crates are built together from their published contents, because none is in the registry yet.
rm -rf "$packages/crates" "$packages"/*.crate
cargo package --locked --allow-dirty --quiet --no-verify --workspace --exclude benches \
  --exclude playground --exclude urlspool-python
mkdir -p "$packages/crates"
for crate in "$packages"/*.crate; do tar -xzf "$crate" -C "$packages/crates"; done
cp Cargo.lock "$packages/crates"
(
  cd "$packages/crates"
  printf '[workspace]\nmembers = ["*-0*"]\n[patch.crates-io]\n' >Cargo.toml
  for folder in *-0*; do echo "${folder%-*} = { path = \"$folder\" }" >>Cargo.toml; done
  CARGO_TARGET_DIR=$target cargo build --quiet
)
# Installs the program as in docs/start.md.
CARGO_TARGET_DIR=$target packaging/install_test.sh .
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
  tool "installing $(basename "$package") in a clean Debian" "none can be made here" \
    packaging/linux_test.sh "$package"
done
