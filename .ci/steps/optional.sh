cargo test --locked --quiet --all-features --lib --test tests -- arrow read_documents parquet columns elasticsearch postgres daemon:: panics::
