#!/bin/bash
# The command that a page prints for a reproducer shows the failure, as typed by a person: for a
# backend and for an executor.
#
#   reproducer_test.sh BFLOAT16_HARNESS TORCH_IR
set -euo pipefail
bin="$TEST_TMPDIR/bin"
mkdir -p "$bin"
ln -sf "$PWD/$1" "$bin/harness"
ln -sf "$PWD/$2" "$bin/torch-ir"
export PATH="$bin:$PATH"
cd "$TEST_TMPDIR"

fail() { echo "$*"; exit 1; }

# The code block number N of the section about the reproducer of a page.
block() {
  sed -n '/^## Reproducer/,/^## /p' "$2" |
    awk -v wanted="$1" '/^```/ {inside = !inside; if (inside) ++n; next} inside && n == wanted'
}

# replay NAME FLAG...: runs a model that fails with these flags, and then its reproducer.
replay() {
  local model=$1 status=0 message command
  shift
  harness --output out --model "$model" --quiet "$@" && fail "$model passes: $*"
  message="$(block 1 "out/$model.md")"
  command="$(block 2 "out/$model.md")"
  [[ -n $message && -n $command ]] || fail "out/$model.md prints no reproducer"
  echo "$command"
  (cd "out/repro/$model" && bash -euc "$command" >printed 2>&1) || status=$?
  cat "out/repro/$model/printed"
  [[ $status == 1 ]] || fail "exit status $status, expected 1: $command"
  # The harness writes it to the page.
  grep -rqF -- "$message" "out/repro/$model" || fail "it does not show: $message"
}

replay MaskedLinear --executor bfloat16 --seed 3
[[ $(block 2 out/MaskedLinear.md) == 'harness --ir . --executor bfloat16 --seed 3' ]]

# A program that takes the wrong operator, called with all that a shell has special.
wrong="sed \"s/aten\\.relu\\.default/aten.ne\"'g.default/' {ir} > {outputs}.json &&
  torch-ir execute {outputs}.json --weights {weights} --inputs {inputs} --outputs {outputs} --quiet"
replay DenseBlock --trials 1 --executor "$wrong"

# The same with values of nodes.
mkdir -p tools
cat >tools/simulate <<'END'
#!/bin/bash
sed 's/aten\.relu\.default/aten.neg.default/' "$1" >"$4.json"
torch-ir execute "$4.json" --weights "$2" --inputs "$3" --outputs "$4" --quiet
# It tells no values: an empty file of safetensors.
printf '\x02\0\0\0\0\0\0\0{}' >"$5"
END
chmod +x tools/simulate
command="tools/simulate {ir} {weights} {inputs} {outputs} {intermediates}"
replay SiameseEncoder --trials 1 --executor "$PWD/$command"

# A name relative to the folder where the run was started means the same from there only.
harness --output out --model SiameseEncoder --trials 1 --quiet --executor "$command" &&
  fail "it passes"
grep -qF -- '--ir DIR/repro/SiameseEncoder' out/SiameseEncoder.md || fail "no hint on the page"
line="$(block 2 out/SiameseEncoder.md)"
bash -euc "${line/--ir ./--ir out/repro/SiameseEncoder --output again}" >printed 2>&1 && fail "passes"
grep -rqF -- "$(block 1 out/SiameseEncoder.md)" again || { cat printed; fail "another message"; }
