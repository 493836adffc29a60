#!/usr/bin/env bash
# Installs a package in a clean Debian, runs the daemon there as its user, and removes the package.
#
#   packaging/linux_test.sh FILE.deb|FILE.rpm [RELEASE]     a Debian; default: this machine's
#
# An RPM package is installed by this machine's `rpm`, next to the programs of Debian. Needs root
# and debootstrap. Exits with 77 if these are missing or no mirror can be reached.
set -euo pipefail
package=$(realpath "$1")
. /etc/os-release
release=${2:-${VERSION_CODENAME:-stable}}
cd "$(dirname "$0")/.."
source packaging/tools.sh
name=$(basename "$package")
[ "$(id -u)" = 0 ] || { skipped "$name in a clean root: not root"; exit 77; }
command -v debootstrap >/dev/null ||
  { skipped "$name in a clean root: debootstrap is not installed"; exit 77; }
case $name in
  *.rpm) command -v rpm >/dev/null ||
    { skipped "$name in a clean root: rpm is not installed"; exit 77; } ;;
esac
base=$(mktemp -d)
root=$base/root
trap 'umount "$root/proc" 2>/dev/null || true; rm -rf "$base"' EXIT
# Keeps the packages of the clean Debian for the next test.
debs=$(realpath -m "${CARGO_TARGET_DIR:-target}/package/debs")
mkdir -p "$debs"
debootstrap --variant=minbase --include=adduser \
  --cache-dir="$debs" "$release" "$root" http://deb.debian.org/debian >"$base/log" 2>&1 ||
  { tail -n 3 "$base/log" >&2; skipped "$name in a clean root: no clean Debian can be made here"; \
    exit 77; }
mount -t proc proc "$root/proc"
within() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
  DEBIAN_FRONTEND=noninteractive "$@"; }
fail() { echo "$name: $*" >&2; exit 1; }
# Lists all files except records of removed packages and backups of user lists.
listing() {
  (cd "$root" && find . -xdev -path ./proc -prune -o -path ./tmp -prune -o -path ./var/lib/dpkg \
    -prune -o -path ./var/log -prune -o \
    -path ./var/cache -prune -o -path ./var/lib/apt -prune -o -path ./var/lib/rpm -prune -o \
      -path ./etc/ld.so.cache -prune -o \
    -name '*-' -prune -o -print | sort)
}
case $name in
  *.deb)
    install_package() { cp "$package" "$root/tmp/urlspool.deb" &&
      within apt-get install -qqy /tmp/urlspool.deb; }
    remove_package() { within apt-get remove -qqy urlspool; }
    ;;
  *.rpm)
    # Debian has the required programs under other names.
    install_package() { rpm --root "$root" --dbpath /var/lib/rpm --nodeps --install "$package"; }
    remove_package() { rpm --root "$root" --dbpath /var/lib/rpm --erase urlspool; }
    ;;
  *) fail "neither a .deb nor a .rpm" ;;
esac

listing >"$base/before"
install_package >"$base/install" 2>&1 ||
  { cat "$base/install" >&2; fail "the package cannot be installed"; }
version=$(within urlspool --version)

for file in /etc/urlspool/urlspool.toml /lib/systemd/system/urlspool.service \
  /usr/share/man/man1/urlspool.1.gz \
  /usr/share/bash-completion/completions/urlspool; do
  [ -e "$root$file" ] || [ -e "$root/usr$file" ] || fail "$file is missing"
done
[ "$(within stat -c %U:%G:%a /var/lib/urlspool)" = urlspool:urlspool:750 ] ||
  fail "/var/lib/urlspool has the wrong owner or mode"
within urlspool config check /etc/urlspool/urlspool.toml >/dev/null ||
  fail "the configuration of the package cannot be used"

# Runs the daemon as the unit does.
mkdir -p "$root/var/mail-test"
cp -r corpus/mail/mh "$root/var/mail-test/"
printf '\n[[spool]]\npath = "/var/mail-test"\n' >>"$root/etc/urlspool/urlspool.toml"
as_user() { within setpriv --reuid=urlspool --regid=urlspool --clear-groups "$@"; }
as_user urlspool watch --config /etc/urlspool/urlspool.toml 2>"$base/log" &
daemon=$!
for _ in $(seq 100); do
  as_user urlspool status --config /etc/urlspool/urlspool.toml >"$base/status" 2>/dev/null && break
  sleep 0.1
done
grep -q . "$base/status" || { cat "$base/log" >&2; fail "the daemon does not answer"; }
sleep 7
pkill -TERM -P "$daemon" || kill -TERM "$daemon"
wait "$daemon" || { cat "$base/log" >&2; fail "the daemon ends with $?"; }
records=$(cat "$root"/var/lib/urlspool/out/*.jsonl | wc -l)
[ "$records" = 4 ] ||
  { cat "$base/log" >&2; fail "the daemon wrote $records records of corpus/mail/mh, not 4"; }
found=$(within sh -c 'urlspool load --into /tmp/urls.db /var/lib/urlspool/out >&2 &&
  urlspool search /tmp/urls.db mh1' 2>"$base/load") ||
  { cat "$base/load" >&2; fail "the segments cannot be loaded"; }
grep -q 'http://mh1.example/' <<<"$found" || fail "a search does not find the loaded record"

remove_package >"$base/remove" 2>&1 ||
  { cat "$base/remove" >&2; fail "the package cannot be removed"; }
[ ! -e "$root/usr/bin/urlspool" ] || fail "removing the package left the program"
[ -e "$root/var/lib/urlspool/out" ] || fail "removing the package removed the data"
case $name in
  *.deb)
    [ -e "$root/etc/urlspool/urlspool.toml" ] ||
      fail "removing the package removed the configuration"
    within apt-get purge -qqy urlspool >/dev/null 2>&1 || fail "the package cannot be purged"
    if grep -q '^urlspool:' "$root/etc/passwd" "$root/etc/group"; then
      fail "the user or group urlspool is left behind"
    fi
    kept='^$'
    ;;
  *.rpm)
    # As usual in RPM distributions, data, a changed configuration and the user stay.
    [ -e "$root/etc/urlspool/urlspool.toml.rpmsave" ] ||
      fail "removing the package removed the changed configuration"
    kept='^\./(etc/urlspool|var/lib/urlspool)(/|$)'
    ;;
esac
rm -rf "$root/var/mail-test"
listing >"$base/after"
left=$(comm -13 "$base/before" "$base/after" | grep -i urlspool | grep -Ev "$kept" || true)
[ -z "$left" ] || fail "left behind: $left"
tested "$name: $version installed in a clean Debian ($release)," \
  "its daemon wrote 4 records as its user, removed without leftovers"
