#!/usr/bin/env bash
# Imports a wheel and finds URLs with it: in a new environment, and in Debian 11, whose Python 3.9
# and glibc 2.31 are among the oldest in use; with qemu for another processor. For a musl wheel,
# which has no Debian, compares its symbols with those of musl.
#
#   packaging/wheel_test.sh FILE.whl
#
# Debian is unpacked, not installed, and needs root and debootstrap. Reports skipped tests.
set -euo pipefail
wheel=$(realpath "$1")
cd "$(dirname "$0")/.."
source packaging/tools.sh
name=$(basename "$wheel")
processor=$(grep -oE '(x86_64|aarch64)\.whl$' <<<"$name") ||
  { echo "$name: for no processor that is known here" >&2; exit 1; }
processor=${processor%.whl}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "$name: $*" >&2; exit 1; }
cat >"$work/test.py" <<'PYTHON'
import sys
import urlspool
found = urlspool.urls("<URL:http://a.example/x\n y>")
assert [url["url"] for url in found] == ["http://a.example/xy"]
assert len(list(urlspool.scan(sys.argv[1]))) == 4
print("Python", *sys.version_info[:2])
PYTHON
mkdir "$work/package"
python3 -m zipfile -e "$wheel" "$work/package"
module=$(echo "$work"/package/urlspool/*.so)

if [[ $name == *musllinux* ]]; then
  libc=(/lib/ld-musl-*.so.1)
  [ -e "${libc[0]}" ] ||
    { skipped "$name: no musl is installed, whose symbols could be compared"; exit; }
  needed=$(readelf -d "$module" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | tr '\n' ' ')
  [ "$needed" = "libc.so " ] || fail "it needs the libraries $needed, not libc.so alone"
  readelf --dyn-syms -W "${libc[0]}" | awk '$7 != "UND" { sub(/@.*/, "", $8); print $8 }' |
    sort -u >"$work/musl"
  readelf --dyn-syms -W "$module" |
    awk '$7 == "UND" && $5 == "GLOBAL" { sub(/@.*/, "", $8); print $8 }' |
    grep -Ev '^_?Py' | sort -u >"$work/used"
  missing=$(comm -23 "$work/used" "$work/musl" | tr '\n' ' ')
  [ -z "$missing" ] || fail "musl has no $missing"
  tested "$name: each of its $(wc -l <"$work/used") symbols that are not Python's is one of musl"
  skipped "$name: not run; no Python with musl can be had here"
  exit
fi

if [ "$processor" = "$(uname -m)" ]; then
  python3 -m venv "$work/venv"
  "$work/venv/bin/pip" install --quiet --disable-pip-version-check "$wheel"
  python=$(cd "$work" && venv/bin/python test.py "$OLDPWD/corpus/mail/mh")
  [ "$(cd "$work" && venv/bin/urlspool scan --format urls "$OLDPWD/corpus/mail/mh" | wc -l)" = 4 ] \
    || fail "its command does not find 4 URLs"
  tested "$name: finds URLs in a clean environment with $python, also by its command"
fi
qemu=$(runner "$processor-unknown-linux-gnu") ||
  { skipped "$name in a Debian 11: qemu-user-static is not installed"; exit; }
if [ "$(id -u)" != 0 ] || ! command -v debootstrap >/dev/null; then
  skipped "$name in a Debian 11: needs root and debootstrap"
  exit
fi
root=$work/root
debs=$(realpath -m "${CARGO_TARGET_DIR:-target}/package/debs")
mkdir -p "$debs"
debootstrap --foreign --variant=minbase --include=python3 \
  --arch="$(debian_processor "$processor")" --cache-dir="$debs" bullseye "$root" \
  http://deb.debian.org/debian >"$work/log" 2>&1 ||
    { tail -n 3 "$work/log" >&2; skipped "$name: no Debian 11 can be had here"; exit; }
for deb in "$root"/var/cache/apt/archives/*.deb; do dpkg-deb -x "$deb" "$root"; done
cp -r "$work/package" "$work/test.py" corpus/mail/mh "$root"
if [ -n "$qemu" ]; then cp "$qemu" "$root/qemu"; fi
python=$(env -i PYTHONPATH=/package /usr/sbin/chroot "$root" ${qemu:+/qemu} /usr/bin/python3.9 \
  /test.py /mh) || fail "it does not work in a Debian 11"
tested "$name: finds URLs in a Debian 11 with $python${qemu:+, by qemu}"
