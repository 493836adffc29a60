RUSTDOCFLAGS="-D warnings" cargo doc --locked --no-deps --quiet
