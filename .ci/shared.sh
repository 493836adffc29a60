# Functions and settings for all steps of .ci/run.

# Nothing is built twice here, and a failed test names its line without debug info. The builds then
# take less time and a third less disk.
export CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=0
# The generated cases are the same in every run. Longer runs with other seeds are for fuzz/.
export PROPTEST_RNG_SEED=1738
# More generated cases, spool files, mailboxes cut everywhere and damaged databases than by default.
export PROPTEST_CASES=1024 URLSPOOL_SPOOL_FILES=500 URLSPOOL_MAILBOXES=20 URLSPOOL_FLIPS=30
export URLSPOOL_CI_BEGUN=${URLSPOOL_CI_BEGUN:-$(date +%s)}
target=${CARGO_TARGET_DIR:-$PWD/target}
tools=../shared/tools

# Prints the seconds since the start.
seconds() { echo "$(($(date +%s) - URLSPOOL_CI_BEGUN))"; }

# Prints the name of a step, and the seconds since the start.
step() { printf '\n== %s (%d s)\n' "$*" "$(seconds)"; }

# Reports a skipped check, and why.
skipped() { printf '\n== SKIPPED: %s\n' "$*"; }

fail() { echo "$*" >&2; exit 1; }

has() { command -v "$1" >/dev/null; }

# Installs a Debian package unless its program exists. Returns false if that is impossible.
# install PROGRAM [PACKAGE]
install() {
  has "$1" && return
  if [ "$(id -u)" = 0 ] && has apt-get; then
    { apt-get update -q && apt-get install -qy "${2:-$1}"; } >/dev/null 2>&1 || true
  fi
  has "$1"
}

# Runs a tool of tests/tools. Exit code 77 means that the check is impossible here.
# tool NAME REASON-FOR-A-SKIP COMMAND...
tool() {
  local name=$1 reason=$2 rc=0
  shift 2
  "$@" || rc=$?
  case $rc in
    0) ;;
    77) skipped "$name: $reason" ;;
    *) fail "$name: exit code $rc" ;;
  esac
}

# Like `tool`, with a time limit.
# timed_tool SECONDS NAME REASON COMMAND...
timed_tool() {
  local seconds=$1 name=$2 reason=$3 rc=0
  shift 3
  timeout -k 20 "$seconds" "$@" || rc=$?
  case $rc in
    0) ;;
    77) skipped "$name: $reason" ;;
    124) skipped "$name: not done in $seconds s" ;;
    *) fail "$name: exit code $rc" ;;
  esac
}

# Builds the program with all features, as tests do. An environment variable triggers planted
# faults.
debug() {
  cargo build --locked --quiet --all-features
  binary=$target/debug/urlspool
}

# Installs a cargo program without optimisation, in a third of the time.
cargo_install() { has "$1" || cargo install --locked --quiet --debug "$1"; }

# Builds the program as packaged, except for the optimisation.
release() {
  cargo build --locked --release --quiet
  binary=$target/release/urlspool
}
