#!/bin/bash
# Runs the harness and the tests that depend most on LibTorch with several versions of LibTorch, and
# updates the table of docs/install.md.
#
#   tools/compatibility.sh [VERSION...]
#
# On two cores a version takes half an hour. Results are kept in reports/compatibility, and are
# not measured again; `build --disk_cache=FOLDER` in user.bazelrc keeps what an interrupted run
# has built. Below the table, explain failures by hand.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

page=docs/install.md
kept=reports/compatibility
tests=(//harness/regression:regression_test //harness:replay_test
  //src/torch_ir/runtime:runtime_test)
[[ $# -gt 0 ]] || set -- 2.8.0 2.10.0 2.12.0 2.13.0 2.14.1 2.15.0

passed_models() {
  python3 -c 'import json, sys
models = json.load(open(sys.argv[1]))["models"]
print(sum(model["status"] == "passed" for model in models), "of", len(models))' "$1"
}

# row VERSION: its line of the table, in the order of the columns.
row() {
  local row="| $1 |" out="$kept/$1" test
  rm -rf "$out"
  tools/bazel run //harness -- --output "$out" >&2 || true
  mkdir -p "$out"
  row+=" $(passed_models "$out/results.json" || echo "does not build") |"
  for test in "${tests[@]}"; do
    tools/bazel test --keep_going --build_event_json_file="$out/events.json" "$test" >&2 || true
    row+=" $(python3 tools/count_tests.py "$out/events.json" || true) |"
  done
  echo "$row"
}

mkdir -p "$kept"
for LIBTORCH; do
  export LIBTORCH
  [[ ! -e $kept/$LIBTORCH.row ]] || continue
  tools/bazel build @libtorch//:root.txt
  row "$LIBTORCH" >"$kept/new.row"
  mv "$kept/new.row" "$kept/$LIBTORCH.row"
done

# A version's new row replaces its old one; other rows stay.
table='/^\| LibTorch \|/ { table = 1 } !/^\|/ { table = 0 }'
rows="$({
  awk "$table"' table && /^\| [0-9]/' "$page"
  cat "$kept"/*.row
} | awk '{ rows[$2] = $0 } END { for (version in rows) print rows[version] }' | sort -V)"
awk -v rows="$rows" "$table"' !(table && /^\| [0-9]/) { print } table && /^\|--/ { print rows }' \
  "$page" >"$kept/page"
cp "$kept/page" "$page"
