# shellcheck shell=bash
# Functions of the scripts in this folder: their build tools, and their reports.

tools=${CARGO_TARGET_DIR:-target}/package/tools

# Installs Python programs unless they exist: zig, a C compiler for every target, and cargo's
# adapter for it.
python_tools() {
  [ -x "$tools/bin/python" ] || python3 -m venv "$tools" || return
  "$tools/bin/pip" install --quiet --disable-pip-version-check "$@" || return
  PATH=$(realpath "$tools/bin"):$PATH
}

# Installs a cargo program unless it exists. Returns false if that is impossible.
cargo_tool() {
  command -v "$1" >/dev/null || cargo install --locked --quiet --debug "$1" >/dev/null 2>&1
}

# Prints the program that runs a target's binary here, or nothing if the binary runs by itself.
# Returns false if it cannot run.
runner() {
  case $1 in
    # Binaries for macOS are built on it. There the processor has another name.
    "$(uname -m)"-* | *-apple-darwin) ;;
    *) command -v "qemu-${1%%-*}-static" || command -v "qemu-${1%%-*}" ;;
  esac
}

# Prints Debian's name of a target's processor.
debian_processor() {
  case $1 in
    x86_64*) echo amd64 ;;
    aarch64*) echo arm64 ;;
    *) return 1 ;;
  esac
}

# Writes manual pages and completions of a binary. If the binary cannot run here, the pages of
# another processor's binary stay.
# pages FOLDER BINARY TARGET
pages() {
  local qemu
  qemu=$(runner "$3") || { [ -d "$1/man" ]; return; }
  rm -rf "$1"
  mkdir -p "$1/completions"
  for shell in bash zsh fish; do
    $qemu "$2" generate completions "$shell" >"$1/completions/$shell" || return
  done
  $qemu "$2" generate man --all "$1/man" >/dev/null
}

# Copies the files that accompany the program in an archive: release_files FOLDER PAGES
release_files() {
  cp README.md CHANGELOG.md LICENSE-* "$1"
  cp -r docs config "$2/man" "$2/completions" "$1"
}

# Each line also goes to the file REPORT, if it is set.
report() { if [ -n "${REPORT-}" ]; then tee -a "$REPORT"; else cat; fi; }
made() { printf 'made     %8.1f MiB  %s\n' "$(wc -c <"$1" | awk '{ print $1 / 1048576 }')" \
  "$(basename "$1")" | report; }
tested() { printf 'tested   %s\n' "$*" | report; }
skipped() { printf 'SKIPPED: %s\n' "$*" | report >&2; }
