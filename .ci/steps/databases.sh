cargo test --locked --quiet --features postgres,elasticsearch --test tests -- load::elasticsearch load::postgres
cargo build --locked --quiet --features postgres
for database in sqlite postgresql; do
  tool "loads into $database" "no server is installed" tests/tools/load_kills.py "$target/debug/urlspool" --kills 40 --target "$database"
done
