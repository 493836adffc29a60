cargo test --locked --quiet --features parquet --test tests -- arrow:: parquet::
cargo test --locked --quiet --features parquet --lib -- record::columns sink::parquet
