if has mdbook || cargo install --locked --quiet --debug mdbook@0.5.4 >/dev/null 2>&1; then
  packaging/site.sh
else
  skipped "the site: mdbook is not installed, and cargo cannot install it here"
fi
