RUSTDOCFLAGS="-D warnings" cargo doc --locked --no-deps --quiet --all-features
# Lints the workflows of the forge.
linter=$target/actionlint
if has actionlint || { has go && GOBIN=$linter go install \
  github.com/rhysd/actionlint/cmd/actionlint@v1.7.7 >/dev/null 2>&1; }; then
  PATH=$PATH:$linter actionlint -no-color .github/workflows/*.yml ||
    fail "actionlint finds faults in .github/workflows"
else
  skipped "the workflows: actionlint is not installed, and go cannot install it here"
fi
