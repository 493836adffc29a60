#!/usr/bin/env bash
# Installs a package in a clean Debian, runs the daemon there as its user, and removes the package.
#
# Needs root and debootstrap. Exits with 77 where these are missing or no mirror can be reached.
set -euo pipefail
package=$(realpath "$1")
here=$(realpath "$(dirname "$0")/..")
[ "$(id -u)" = 0 ] || { echo "SKIPPED: not root" >&2; exit 77; }
command -v debootstrap >/dev/null || { echo "SKIPPED: debootstrap is not installed" >&2; exit 77; }
base=$(mktemp -d)
root=$base/root
trap 'umount "$root/proc" 2>/dev/null || true; rm -rf "$base"' EXIT
. /etc/os-release
debootstrap --variant=minbase --include=adduser "${VERSION_CODENAME:-stable}" "$root" http://deb.debian.org/debian >"$base/log" 2>&1 ||
  { tail -n 3 "$base/log" >&2; echo "SKIPPED: no clean Debian can be made here" >&2; exit 77; }
mount -t proc proc "$root/proc"
within() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive "$@"; }
fail() { echo "deb_test: $*" >&2; exit 1; }
# All files but those that dpkg and apt keep about packages that were removed, and backups of the lists of users.
listing() {
  (cd "$root" && find . -xdev -path ./proc -prune -o -path ./tmp -prune -o -path ./var/lib/dpkg -prune -o -path ./var/log -prune -o \
    -path ./var/cache -prune -o -path ./var/lib/apt -prune -o -path ./etc/ld.so.cache -prune -o -name '*-' -prune -o -print | sort)
}

listing >"$base/before"
cp "$package" "$root/tmp/urlspool.deb"
within apt-get install -qqy /tmp/urlspool.deb >"$base/install" 2>&1 || { cat "$base/install" >&2; fail "the package cannot be installed"; }
echo "installed: $(within urlspool --version)"

for file in /etc/urlspool/urlspool.toml /lib/systemd/system/urlspool.service /usr/share/man/man1/urlspool.1.gz \
  /usr/share/bash-completion/completions/urlspool; do
  [ -e "$root$file" ] || [ -e "$root/usr$file" ] || fail "$file is missing"
done
[ "$(within stat -c %U:%G:%a /var/lib/urlspool)" = urlspool:urlspool:750 ] || fail "/var/lib/urlspool has the wrong owner or mode"
within urlspool check-config /etc/urlspool/urlspool.toml >/dev/null || fail "the configuration of the package cannot be used"

# The daemon, as the unit starts it.
mkdir -p "$root/var/mail-test"
cp -r "$here/corpus/mail/mh" "$root/var/mail-test/"
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
[ "$records" = 4 ] || { cat "$base/log" >&2; fail "the daemon wrote $records records of corpus/mail/mh, not 4"; }
echo "the daemon wrote $records records and ended with 0"
within sh -c 'urlspool load --into /tmp/urls.db /var/lib/urlspool/out && urlspool search /tmp/urls.db mh1' || fail "the segments cannot be loaded"

within apt-get remove -qqy urlspool >/dev/null 2>&1 || fail "the package cannot be removed"
[ -e "$root/etc/urlspool/urlspool.toml" ] && [ -e "$root/var/lib/urlspool/out" ] || fail "removing the package removed the data"
within apt-get purge -qqy urlspool >/dev/null 2>&1 || fail "the package cannot be purged"
rm -rf "$root/var/mail-test"
listing >"$base/after"
# `apt-get install` brings what the package depends on; what that brings stays.
within dpkg -l | awk '/^ii/ { print $2 }' | sort >"$base/packages"
left=$(comm -13 "$base/before" "$base/after" | grep -i urlspool || true)
[ -z "$left" ] || fail "left behind: $left"
grep -q '^urlspool:' "$root/etc/passwd" "$root/etc/group" && fail "the user or group urlspool is left behind"
echo "removed without leftovers"
