cargo clippy --version >/dev/null 2>&1 || rustup component add clippy
cargo clippy --locked --all-targets --all-features -- -D warnings
cargo clippy --locked --all-targets -p benches -- -D warnings
cargo clippy --locked -p urlspool-python -- -D warnings
# Code that only features off by default need looks unused without them.
cargo clippy --locked --lib --bins -- -D warnings
