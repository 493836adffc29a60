# Without optimisation: the counts that they assert do not depend on it.
cargo test --locked --quiet -p benches --bench stages -- --test >/dev/null
