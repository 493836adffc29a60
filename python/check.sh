#!/usr/bin/env bash
# Builds the wheel, installs it into a clean environment, and runs all checks of the Python package.
#
#   python/check.sh [--release] [--engines]
#
# --release builds as for publication (minutes); --engines also installs Spark, Dask, moto, polars,
# pandas, DuckDB and matplotlib (1 GB).
# Needs cargo and Python 3.9 or later with venv; pip must reach an index.
set -euo pipefail
cd "$(dirname "$0")"

profile=() engines=no
for argument in "$@"; do
  case $argument in
    --release) profile=(--release) ;;
    --engines) engines=yes ;;
    *) echo "usage: check.sh [--release] [--engines]" >&2; exit 2 ;;
  esac
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/build"
"$work/build/bin/pip" install --quiet 'maturin>=1.16,<2'
begun=$SECONDS
"$work/build/bin/maturin" build --quiet "${profile[@]}" --out "$work/dist"
wheel=$(echo "$work"/dist/*.whl)
echo "wheel: $((SECONDS - begun)) s, $(du -k "$wheel" | cut -f 1) KiB, $(basename "$wheel")"

python3 -m venv "$work/venv"
python=$work/venv/bin/python
"$python" -m pip install --quiet "$wheel"
# Without any other package: texts, messages, files.
(cd "$work" && "$python" -c 'import urlspool; assert urlspool.urls("http://a.example/")')
"$python" -c 'from importlib.metadata import files
assert sum("LICENSE" in path.name for path in files("urlspool")) == 2'
echo "works without other packages, and has its licences"

"$python" -m pip install --quiet pytest mypy typing_extensions pyarrow
# Libraries of the formats in docs/recipes.md. Without them their tests are skipped.
"$python" -m pip install --quiet jsonschema stix2 pymisp &&
  "$python" -m pip install --quiet --no-deps --require-hashes -r tests/xarf.txt ||
  echo "SKIPPED: STIX, MISP and XARF, whose libraries cannot be installed here"
# Records are compared with those of the program.
(cd .. && cargo build --locked --quiet --bin urlspool)
target=$(cd .. && cargo metadata --format-version 1 --no-deps |
  "$python" -c 'import json, sys; print(json.load(sys.stdin)["target_directory"])')
export URLSPOOL_PROGRAM=$target/debug/urlspool
run_tests() {
  "$python" -m pytest -q -rs tests
  (cd "$work" && "$python" -m pytest -q -p no:cacheprovider --doctest-modules --pyargs urlspool \
    --ignore-glob '*spark.py' --ignore-glob '*dask.py' --ignore-glob '*_data_source.py')
}
run_tests
# The same generated files as every command.
export URLSPOOL_PYTHON=$python URLSPOOL_SPOOL_FILES=500
(cd .. && cargo test --locked --quiet --test tests -- formats::openers)
"$python" -m mypy --config-file pyproject.toml --no-error-summary -p urlspool
(cd "$work" && "$python" -m mypy.stubtest urlspool._urlspool)
echo "types agree"

if [ $engines = no ]; then
  echo "SKIPPED: pandas, polars, DuckDB, matplotlib, Dask, Spark and S3, which --engines installs"
elif ! "$python" -m pip install --quiet matplotlib pandas polars duckdb \
  'dask[dataframe,distributed]' 'pyspark>=4' s3fs 'moto[server,s3]'; then
  echo "SKIPPED: pandas, polars, DuckDB, matplotlib, Dask, Spark and S3 cannot be installed here"
else
  run_tests
  # A build without optimisation computes longer, so the store must be slower too.
  delay=30
  [ ${#profile[@]} != 0 ] || delay=120
  "$python" ../benches/store_latency.py --mb 64 --delay-ms "$delay"
  # Without Java it tries Dask alone.
  "$python" -W ignore ../tests/tools/clusters.py --large-mb 12 --s3 also ../corpus/mail
fi
