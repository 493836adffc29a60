# Without optimisation, which does not change the asserted counts.
cargo test --locked --quiet -p benches --bench stages -- --test >/dev/null
