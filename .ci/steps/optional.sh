cargo test --locked --quiet --all-features --lib --test tests -- arrow parquet columns elasticsearch postgres daemon:: panics::
