# Programs that the scripts of this folder build with, in an environment of their own.

tools=${CARGO_TARGET_DIR:-target}/package/tools

# Installs Python programs unless they are there: zig, a C compiler for every target, and what cargo needs to use it.
python_tools() {
  [ -x "$tools/bin/python" ] || python3 -m venv "$tools" || return
  "$tools/bin/pip" install --quiet --disable-pip-version-check "$@" || return
  PATH=$(realpath "$tools/bin"):$PATH
}

# Installs a program of cargo unless it is there; false if that is not possible.
cargo_tool() {
  command -v "$1" >/dev/null || cargo install --locked --quiet --debug "$1" >/dev/null 2>&1
}

# Prints the program that runs a binary for a target here, or nothing if it runs by itself; false if it cannot be run.
runner() {
  case $1 in
    "$(uname -m)"-*) ;;
    *) command -v "qemu-${1%%-*}-static" || command -v "qemu-${1%%-*}" ;;
  esac
}

skipped() { printf 'SKIPPED: %s\n' "$*" >&2; }
