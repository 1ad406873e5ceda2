#!/bin/bash
# The command that a page prints for its saved tensors replays the model, as typed by a person.
#
#   replay_test.sh HARNESS TORCH_IR
set -euo pipefail
harness="$PWD/$1"
bin="$TEST_TMPDIR/bin"
out="$TEST_TMPDIR/out"
mkdir -p "$bin"
ln -s "$PWD/$2" "$bin/torch-ir"
export PATH="$bin:$PATH"

# Models with two inputs, with integers, and with a constant that is not a weight.
models=(SiameseEncoder WeightTying MaskedLinear)
"$harness" --output "$out" --save-tensors "${models[@]/#/--model=}"

cd "$out"
for model in "${models[@]}"; do
  command="$(sed -n '/^torch-ir verify/,/^```/p' "$model.md" | sed '$d')"
  [[ -n $command ]] || { echo "$model.md prints no command"; exit 1; }
  echo "$command"
  bash -euc "$command"
done

# The comparison is a real one.
torch-ir compare tensors/MaskedLinear.inputs.safetensors tensors/MaskedLinear.expected.safetensors \
  && { echo "inputs and outputs cannot be equal"; exit 1; }
exit 0
