debug
for database in sqlite postgresql; do
  tool "loads into $database" "no server is installed" tests/tools/load_kills.py "$binary" --kills 20 --target "$database"
done
