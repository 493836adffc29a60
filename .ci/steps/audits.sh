release
# pywb and DuckDB come from the Python package registry. Checks without them are skipped and
# reported.
audit_tools=$target/audit-tools
if python3 -m venv "$audit_tools" >/dev/null 2>&1; then
  "$audit_tools/bin/pip" install --quiet pywb warcio duckdb bagit >/dev/null 2>&1 || true
fi
export PATH=$audit_tools/bin:$PATH
if has wayback; then
  cargo test --locked --quiet --test tests -- --ignored \
    --exact documents::commands::commands_with_pywb_print_what_the_pages_show
else
  skipped "the worked audit of docs/audit.md: pywb is not installed"
fi
SLACK=2 timed_tool 150 "a whole audit" "no private network can be created here" python3 \
  tests/tools/audit_check.py "$binary" --links 300
