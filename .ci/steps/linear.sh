release
if install valgrind; then
  tests/tools/linear.py "$binary"
else
  skipped "linear time: valgrind, which counts instructions, is not installed"
fi
