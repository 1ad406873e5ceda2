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
cp "${archive%.pt2}.inputs.safetensors" "my models/in.safetensors"
torch-ir import "my models/a net.pt2" -o "my models/net" >/dev/null
torch-ir split "my models/a net.pt2" -o "my models/calls" >/dev/null

# run_again REPORTS PAGE ARGUMENT...: a run, and what its page and SUMMARY.md or OPERATORS.md say to run.
run_again() {
  local reports="$1" page="$1/$2" command file
  shift 2
  rm -rf reports
  harness "$@" >said || { echo "failed: $*"; cat said; exit 1; }
  for file in "$page" "$reports"/{SUMMARY,OPERATORS}.md; do
    [[ -e $file ]] || continue
    cp "$file" before.md
    command="$(grep '^harness ' "$file" | tail -n 1)"
    [[ -n $command ]] || { echo "$file prints no command"; exit 1; }
    echo "$command"
    bash -euc "$command" >said || { echo "failed: $command"; cat said; exit 1; }
    [[ $file != "$page" ]] || cmp "$file" before.md
  done
}

executor='torch-ir execute {ir} --weights {weights} --inputs {inputs} -o {outputs}'
run_again reports WeightTying.md --model WeightTying --seed 3
run_again reports a_net.md "my models/a net.pt2" --inputs "my models/in.safetensors"
run_again reports a_net.md "my models"
run_again reports net.md --ir "my models/net" --split
run_again reports OPERATORS.md --ir "my models/calls"
run_again reports OPERATORS.md --suite operators --operator aten.abs
run_again reports WeightTying.md --model WeightTying --executor "$executor"
(cd "my models/net" && run_again reports net.md --ir .)
# The reports would replace what they are about.
mkdir -p kept
cp -r "my models/net" kept/net
rm -rf reports && mkdir -p reports/repro && mv kept/net reports/repro/net
harness --ir reports/repro/net --output again >/dev/null
command="$(grep '^harness ' again/net.md | tail -n 1)"
bash -euc "$command" >/dev/null
