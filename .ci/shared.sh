# Functions and settings of all steps of .ci/run.

# Nothing is built a second time here, and a test that fails names its line: without the rest the
# builds take less time and a third less of the disk.
export CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=0
# The generated cases are the same in every run; longer runs with other seeds are for fuzz/.
export PROPTEST_RNG_SEED=1738
# More generated cases, spool files, mailboxes that are cut everywhere and damaged databases
# than `cargo test` runs.
export PROPTEST_CASES=1024 URLSPOOL_SPOOL_FILES=500 URLSPOOL_MAILBOXES=20 URLSPOOL_FLIPS=30
export URLSPOOL_CI_BEGUN=${URLSPOOL_CI_BEGUN:-$(date +%s)}
target=${CARGO_TARGET_DIR:-$PWD/target}
tools=../shared/tools

# The seconds since the start.
seconds() { echo "$(($(date +%s) - URLSPOOL_CI_BEGUN))"; }

# Names a step, and the seconds since the start.
step() { printf '\n== %s (%d s)\n' "$*" "$(seconds)"; }

# Says aloud what is not checked, and why.
skipped() { printf '\n== SKIPPED: %s\n' "$*"; }

fail() { echo "$*" >&2; exit 1; }

has() { command -v "$1" >/dev/null; }

# Installs a Debian package unless its program is there; returns false if that is not possible.
# install PROGRAM [PACKAGE]
install() {
  has "$1" && return
  if [ "$(id -u)" = 0 ] && has apt-get; then
    { apt-get update -q && apt-get install -qy "${2:-$1}"; } >/dev/null 2>&1 || true
  fi
  has "$1"
}

# Runs a tool of tests/tools: 77 is a check that cannot be made here.
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

# As `tool`, for at most so many seconds.
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

# The program with all features, as tests build it; planted faults wait for a variable of the environment.
debug() {
  cargo build --locked --quiet --all-features
  binary=$target/debug/urlspool
}

# Installs a program of cargo, built without optimisation, which takes a third of the time.
cargo_install() { has "$1" || cargo install --locked --quiet --debug "$1"; }

# The program as packages have it but for its optimisation.
release() {
  cargo build --locked --release --quiet
  binary=$target/release/urlspool
}
