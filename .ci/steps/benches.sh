cargo bench --locked --quiet -p benches --bench stages -- --test >/dev/null
