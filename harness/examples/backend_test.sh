#!/bin/bash
# Tests the harness with the example backend, whose outputs it compares with the models'.
#
#   backend_test.sh BFLOAT16_HARNESS
set -euo pipefail
harness="$PWD/$1"
cd "$TEST_TMPDIR"

expect() {
  local status=$1 text=$2 actual=0
  shift 2
  "$harness" --output reports --model MaskedLinear "$@" >printed 2>&1 || actual=$?
  [[ $actual == "$status" ]] || { cat printed; echo "exit status $actual, expected $status: $*"; exit 1; }
  grep -qF -- "$text" printed || { cat printed; echo "missing in the output: '$text': $*"; exit 1; }
}

expect 0 'MaskedLinear  PASSED'
# bfloat16's three digits fail the harness's tolerance, but pass a coarse one.
expect 1 'MaskedLinear  FAILED' --executor bfloat16
# The page names the program with the backend.
grep -qxF 'bfloat16_harness --model MaskedLinear --executor bfloat16' reports/MaskedLinear.md ||
  { cat reports/MaskedLinear.md; echo 'the page has no command of this program'; exit 1; }
expect 0 'MaskedLinear  PASSED' --executor bfloat16 --rtol 0.05 --atol 0.05 --trials 1
expect 0 'right by its own error' --executor bfloat16 --compute-dtype bfloat16
expect 1 'elements wrong' --executor bfloat16 --compute-dtype float16
expect 2 "no program or C++ backend 'bfloat61'; backends: bfloat16" --executor bfloat61
