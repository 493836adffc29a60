for tool in git jq sqlite3 duckdb; do
  if install "$tool"; then
    cargo test --locked --quiet --test tests -- --ignored --exact "documents::commands::commands_with_${tool}_print_what_the_pages_show"
  else
    skipped "commands with $tool, which is not installed"
  fi
done
