features=$(cargo metadata --locked --no-deps --format-version 1 |
  python3 -c 'import json, sys; print(*next(p["features"] for p in json.load(sys.stdin)["packages"] if p["name"] == "urlspool"))')
# Without pedantic lints: code that does little without a feature is as it is for the others.
# What is built for nobody but tests and fuzz targets is linted with all features.
for feature in none $features archives,arrow,cli,files cli,load; do
  case $feature in default | settings | internals | planted-faults) continue ;; esac
  cargo clippy --locked --quiet --lib --no-default-features --features "${feature#none}" -- -A clippy::pedantic -D warnings || fail "the feature $feature alone"
done
cargo test --locked --quiet --lib --no-default-features
crates=$(cargo tree --locked -e normal --no-default-features --prefix none | awk '{print $1}' | sort -u | wc -l)
echo "$crates crates without default features"
[ "$crates" -le 66 ] || fail "more than 66 crates without default features"
