cargo build --locked --quiet -p urlspool --examples
cargo run --locked --quiet --example text_urls <corpus/text/appendix.txt >/dev/null
cargo run --locked --quiet --example message_urls corpus/mail/multipart.eml >/dev/null
cargo run --locked --quiet --example scan_folder corpus/mail >/dev/null
first_uses() {
  CARGO_TARGET_DIR=$target cargo run --quiet --manifest-path examples/first-use/Cargo.toml \
    --features "$1" | wc -l
}
lines=$(first_uses "")
[ "$lines" = 3 ] || fail "the first uses of the library without features do not print 3 lines"
lines=$(first_uses files)
[ "$lines" -gt 3 ] || fail "the first uses of the library with files print no records"
