cargo fmt --version >/dev/null 2>&1 || rustup component add rustfmt
cargo fmt --all -- --check
