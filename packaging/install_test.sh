#!/usr/bin/env bash
# Runs the commands in `docs/start.md`, section `Install`, in a clean home, in a folder of sources,
# and uses the installed program.
#
#   packaging/install_test.sh FOLDER     this repository, or an unpacked published package
#
# PROFILE is dist by default, as on the page.
set -euo pipefail
cd "$(dirname "$0")/.."
source packaging/tools.sh
profile=${PROFILE:-dist}
cd "$1"
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
fail() { echo "docs/start.md, Install: $*" >&2; exit 1; }
mapfile -t commands < <(awk '
  /^## /{here = $0 == "## Install"} here && /^```/{fence++; next} here && fence == 1' docs/start.md)
[ "${#commands[@]}" -ge 3 ] || fail "there are only ${#commands[@]} commands"
within() {
  env HOME="$home" CARGO_HOME="${CARGO_HOME:-$HOME/.cargo}" \
    RUSTUP_HOME="${RUSTUP_HOME:-$HOME/.rustup}" CARGO_INSTALL_ROOT="$home/.cargo" \
    PATH="$home/.cargo/bin:$PATH" bash -euo pipefail -c "$1"
}
for command in "${commands[@]}"; do
  within "${command/--profile dist/--quiet --profile $profile}" >/dev/null ||
    fail "failed: $command"
done
[ "$(within 'command -v urlspool')" = "$home/.cargo/bin/urlspool" ] ||
  fail "the program is not where cargo installs"
[ "$(within 'urlspool scan --format urls -' <<<'see <URL:http://a.example/x>')" = \
  http://a.example/x ] || fail "the program finds no URL"
within 'source ~/.local/share/bash-completion/completions/urlspool &&
  complete -p urlspool >/dev/null' || fail "bash has no completions"
[ -s "$home/.local/share/man/man1/urlspool.1" ] || fail "there is no manual page"
installed=$(within 'urlspool --version')
tested "docs/start.md, Install: $installed in a clean home, with completions and manual pages"
