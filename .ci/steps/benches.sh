# Without optimisation, which does not change the asserted counts.
cargo test --locked --quiet -p benches --bench stages -- --test >/dev/null
# With the programs that are installed. Exits with 1 if urlspool misreads one of twelve inputs.
debug
tool "urlspool among other programs" "" \
  python3 benches/accuracy/score.py --program "$binary" --folder news
