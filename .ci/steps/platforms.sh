for platform in x86_64-unknown-linux-musl aarch64-apple-darwin x86_64-pc-windows-gnu wasm32-unknown-unknown; do
  if rustup target add "$platform" >/dev/null 2>&1; then
    cargo check --locked --quiet --lib --no-default-features --target "$platform"
    echo "$platform: the library without features builds"
  else
    skipped "$platform: its standard library cannot be installed here"
  fi
done
# The oldest Rust that Cargo.toml promises.
oldest=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
if rustup toolchain install "$oldest" --profile minimal >/dev/null 2>&1; then
  cargo "+$oldest" check --locked --quiet
  echo "Rust $oldest: the program builds"
else
  skipped "Rust $oldest: this toolchain cannot be installed here"
fi
