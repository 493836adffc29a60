if has mdbook || cargo install --locked --quiet --debug mdbook@0.5.4 >/dev/null 2>&1; then
  tool "the site" "its playground cannot be built" packaging/site.sh
  if [ -e target/site/playground/urlspool_bg.wasm ]; then
    install chromedriver chromium-driver || true
    tool "the playground in a browser" "chromium or chromedriver is not installed" \
      tests/tools/playground_browser.py target/site
  fi
else
  skipped "the site: mdbook is not installed, and cargo cannot install it here"
fi
