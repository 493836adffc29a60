release
# What is not installed, or needs root, the scripts say aloud and pass over.
timed_tool 150 "real servers" "none could be tried here" tests/tools/real_servers.sh "$binary"
timed_tool 150 "messages that servers remove" "no server is installed" tests/tools/real_gone.sh "$binary"
