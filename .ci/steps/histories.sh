debug
# 100 kills of each take less than a minute on two idle cores.
timed_tool 240 "histories of spools" "no part could be tried here" tests/tools/histories.py \
  "$binary" --kills 100
timed_tool 240 "loads whose database moves" "no part could be tried here" \
  tests/tools/load_kills.py "$binary" --kills 100 --move-database
