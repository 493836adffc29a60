release
tests/tools/hostile_corpus.py "$binary"
tool "system calls" "strace cannot trace here" tests/tools/system_calls.py "$binary"
