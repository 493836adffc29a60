cargo test --locked --quiet --all-features --lib \
  --test tests -- arrow browse read_documents reference parquet columns elasticsearch postgres \
  daemon:: panics::
