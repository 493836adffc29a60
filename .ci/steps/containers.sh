release
SLACK=5 tests/tools/containers.py "$binary"
