cargo clippy --version >/dev/null 2>&1 || rustup component add clippy
cargo clippy --locked --workspace --all-targets --all-features -- -D warnings
# Code used only by features off by default looks unused without them.
cargo clippy --locked --lib --bins -- -D warnings
