release
tool "mirrors of public-inbox" "git is not installed" tests/tools/git_mirror.sh "$binary"
