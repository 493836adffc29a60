has cargo-hack || cargo install --locked --quiet cargo-hack
cargo hack --locked test --quiet --lib --each-feature --exclude-features default,settings,planted-faults
crates=$(cargo tree --locked -e normal --no-default-features --prefix none | awk '{print $1}' | sort -u | wc -l)
echo "$crates crates without default features"
[ "$crates" -le 65 ] || fail "more than 65 crates without default features"
