cargo test --locked --quiet --features planted-faults -- daemon:: panics::
