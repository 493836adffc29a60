release
# The scripts report and skip servers that are not installed or need root.
timed_tool 150 "real servers" "none could be tried here" tests/tools/real_servers.sh "$binary"
timed_tool 150 "messages that servers remove" "no server is installed" tests/tools/real_gone.sh \
  "$binary"
