#!/bin/sh
# Builds urlspool with profile-guided optimisation, as for packages. The inputs of the benchmarks
# are the training data.
#
#     benches/pgo.sh [FOLDER]
#
# FOLDER (target/pgo by default) needs about 2 GB. The result is FOLDER/urlspool, after about six
# minutes on two cores. It finds the same records as any other build; the script compares them on
# the fixtures and the inputs. Needs the llvm-tools of the toolchain (`rustup component add
# llvm-tools`).
set -eu
cd "$(dirname "$0")/.."
folder=${1:-target/pgo}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
sysroot=$(rustc --print sysroot)
profdata=$(find "$sysroot" -name llvm-profdata | head -n 1)
if [ -z "$profdata" ]; then
    echo "benches/pgo.sh: no llvm-profdata in $sysroot: run \`rustup component add llvm-tools\`" >&2
    exit 69
fi
host=$(rustc -vV | sed -n 's/^host: //p')

# `--target` keeps the flags from build scripts and macros.
build() {
    RUSTFLAGS="$1" cargo build --profile dist --locked --bin urlspool --target "$host" \
        --target-dir "$folder/$2"
}

# Scans the data for training and comparison: every input, container and layout of the fixtures.
scan() {
    "$1" scan -q -j1 "$folder/inputs" corpus --rejects "$2.rejects" --events "$2.events" \
        >"$2.records" 2>/dev/null || [ $? -eq 1 ]
    "$1" scan -q --format urls --unique message "$folder/inputs" corpus >"$2.urls" 2>/dev/null ||
        [ $? -eq 1 ]
}

cargo bench --locked -p benches --bench inputs -- "$folder/inputs" 24
rm -rf "$folder/profile"
build "-Cprofile-generate=$folder/profile" trained
scan "$folder/trained/$host/dist/urlspool" "$folder/trained"
"$profdata" merge -o "$folder/urlspool.profdata" "$folder/profile"
build "-Cprofile-use=$folder/urlspool.profdata" optimised
cp "$folder/optimised/$host/dist/urlspool" "$folder/urlspool"
scan "$folder/urlspool" "$folder/optimised"
for kind in records rejects events urls; do
    cmp "$folder/trained.$kind" "$folder/optimised.$kind"
done
rm -f "$folder"/trained.* "$folder"/optimised.*
echo "benches/pgo.sh: $folder/urlspool"
