if ! python3 -m venv --help >/dev/null 2>&1; then
  skipped "the Python package: venv is not installed"
elif has java; then
  python/check.sh --engines
else
  python/check.sh
  skipped "Spark and Dask clusters: java is not installed"
fi
