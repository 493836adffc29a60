cargo clippy --version >/dev/null 2>&1 || rustup component add clippy
cargo clippy --locked --workspace --all-targets --all-features -- -D warnings
# Code that only features off by default need looks unused without them.
cargo clippy --locked --lib --bins -- -D warnings
