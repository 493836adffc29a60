for tool in git jq sqlite3 duckdb; do
  if install "$tool"; then
    cargo test --locked --quiet --test tests -- --ignored \
      --exact "documents::commands::commands_with_${tool}_print_what_the_pages_show"
  else
    skipped "commands with $tool, which is not installed"
  fi
done
if install promtool prometheus; then
  (cd packaging/prometheus && promtool check rules urlspool.rules.yml &&
    promtool test rules urlspool.test.yml)
else
  skipped "the alert rules: promtool is not installed"
fi
