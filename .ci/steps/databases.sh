debug
for database in sqlite postgresql; do
  tool "loads into $database" "no server is installed" tests/tools/load_kills.py "$binary" \
    --kills 20 --target "$database"
done
tool "killed removals" "no part could be tried here" tests/tools/prune_kills.py "$binary" --kills 20
tool "killed removals in PostgreSQL" "no server is installed" tests/tools/prune_kills.py "$binary" \
  --kills 20 --target postgresql
