#!/bin/bash
# The commands that pages print to run a model again run as printed, and give the same page: for models,
# archives, graphs, cases and executors, in folders with spaces.
#
#   run_again_test.sh HARNESS TORCH_IR ARCHIVE
set -euo pipefail
bin="$TEST_TMPDIR/bin"
archive="$PWD/$3"
mkdir -p "$bin" "$TEST_TMPDIR/a folder/my models"
ln -s "$PWD/$1" "$bin/harness"
ln -s "$PWD/$2" "$bin/torch-ir"
export PATH="$bin:$PATH"
cd "$TEST_TMPDIR/a folder"
cp "$archive" "my models/a net.pt2"
cp "${archive%.pt2}.inputs.safetensors" "my models/a net.inputs.safetensors"
torch-ir import "my models/a net.pt2" -o "my models/net" >/dev/null
torch-ir cut "my models/a net.pt2" -o "my models/calls" >/dev/null

# run_again PAGE ARGUMENT...: a run, and what its page says to run.
run_again() {
  local page="reports/$1" command
  shift
  rm -rf reports
  harness "$@" >said || { echo "failed: $*"; cat said; exit 1; }
  cp "$page" before.md
  command="$(grep '^harness ' "$page" | tail -n 1)"
  [[ -n $command ]] || { echo "$page prints no command"; exit 1; }
  echo "$command"
  bash -euc "$command" >said || { echo "failed: $command"; cat said; exit 1; }
  cmp "$page" before.md
}

executor='torch-ir execute {ir} --weights {weights} --inputs {inputs} -o {outputs}'
run_again WeightTying.md --model WeightTying --seed 3 --trials 1 --executor "$executor"
run_again a_net.md "my models/a net.pt2"
run_again SUMMARY.md "my models" --trials 1
run_again net.md --ir "my models/net" --trials 1 --split
run_again OPERATORS.md --ir "my models/calls"
(cd "my models/net" && run_again net.md --ir . --trials 1)
# The reports would replace the graph that they describe.
mkdir -p kept
cp -r "my models/net" kept/net
rm -rf reports && mkdir -p reports/repro && mv kept/net reports/repro/net
harness --ir reports/repro/net --trials 1 --output again >/dev/null
command="$(grep '^harness ' again/net.md | tail -n 1)"
bash -euc "$command" >/dev/null
