features=$(cargo metadata --locked --no-deps --format-version 1 |
  python3 -c 'import json, sys
packages = json.load(sys.stdin)["packages"]
print(*next(package["features"] for package in packages if package["name"] == "urlspool"))')
# Without pedantic lints, because code may do little without a feature. Code used only by tests and
# fuzz targets is linted with all features.
for feature in none $features arrow,files; do
  case $feature in default | planted-faults) continue ;; esac
  cargo clippy --locked --quiet -p urlspool --lib --no-default-features \
    --features "${feature#none}" -- -A clippy::pedantic -D warnings ||
    fail "the feature $feature alone"
done
cargo test --locked --quiet --lib -p urlspool -p urlspool-text -p urlspool-sources \
  -p urlspool-mail -p urlspool-record --no-default-features
crates=$(cargo tree --locked -p urlspool -e normal --no-default-features --prefix none |
  awk '{print $1}' | sort -u | wc -l)
echo "$crates crates without default features"
[ "$crates" -le 73 ] || fail "more than 73 crates without default features"
