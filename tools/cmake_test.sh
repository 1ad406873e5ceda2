#!/bin/bash
# Builds cmake/example against a moved installation, and runs it and the installed programs. Needs
# cmake, and the LibTorch of the build in its place.
#
#   cmake_test.sh INSTALL EXAMPLE_FOLDER ARCHIVE_FOLDER
set -euo pipefail

install="$1"
example="$(cd "$2" && pwd)"
archives="$(cd "$3" && pwd)"
prefix="$TEST_TMPDIR/prefix with a space"

fail() {
  echo "cmake_test: $*" >&2
  exit 1
}

# Both leave the output in $said.
expect_status() {
  local wanted="$1" status=0
  shift
  said="$("$@" 2>&1)" || status=$?
  [[ $status == "$wanted" ]] || fail "exit status $status, not $wanted: $*"$'\n'"$said"
}

expect_text() {
  grep -qE -- "$1" <<<"$said" || fail "the output does not match '$1':"$'\n'"$said"
}

expect_status 0 "$install" --prefix "$TEST_TMPDIR/elsewhere"
mv "$TEST_TMPDIR/elsewhere" "$prefix"

cd "$TEST_TMPDIR"
expect_status 0 cmake -S "$example" -B build -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Release
expect_status 0 cmake --build build --parallel 2
expect_status 0 build/example "$TEST_TMPDIR/example.json"
expect_text "IR\(model_name='Example', nodes=3, inputs=1, outputs=1, weights=4\)"

expect_status 0 build/run_archive "$archives/llama.pt2" "$archives/llama.inputs.safetensors"
expect_text '^[a-z_0-9]+: \[1, 12, 64\]$'

expect_status 0 "$prefix/bin/torch-ir" info example.json
expect_text "Example"
expect_status 0 "$prefix/bin/harness" --model WeightTying --output reports
[[ -s reports/WeightTying.md && -s reports/ir/WeightTying.json ]] || fail "the harness left no report"

# A team's library, whose registrations reach the installed programs, and a harness of its own.
harness="$prefix/bin/harness"
expect_status 0 "$harness" --load-library build/libteam.so --model TeamNet --executor team_chip --output reports
expect_text '^libteam\.so: 1 model, 1 backend, 1 operator$'
expect_text 'TeamNet +PASSED'
expect_status 0 "$prefix/bin/torch-ir" ops reports/ir/TeamNet.json --load-library build/libteam.so
expect_text 'unsupported operators: 0'
expect_status 0 build/team_harness --model TeamNet --executor team_chip --output own_reports
expect_text 'TeamNet +PASSED'
expect_status 0 build/team_harness --list-models
expect_text '^TeamNet'

# The package reports a LibTorch that is missing or another version.
mv "$prefix/lib/torch_ir/libtorch" libtorch
expect_status 1 cmake -S "$example" -B without -DCMAKE_PREFIX_PATH="$prefix"
expect_text "cannot find LibTorch in"
expect_status 0 cmake -S "$example" -B given -DCMAKE_PREFIX_PATH="$prefix;$TEST_TMPDIR/libtorch"

other="$TEST_TMPDIR/other/share/cmake/Torch"
mkdir -p "$other"
echo 'set(Torch_FOUND TRUE)' >"$other/TorchConfig.cmake"
echo 'set(PACKAGE_VERSION 1.2.3)' >"$other/TorchConfigVersion.cmake"
expect_status 1 cmake -S "$example" -B mixed -DCMAKE_PREFIX_PATH="$prefix;$TEST_TMPDIR/other"
expect_text "built with LibTorch [0-9.]+"
expect_text "is 1.2.3"
