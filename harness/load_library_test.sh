#!/bin/bash
# Runs both programs with a library of operators from elsewhere, and the installed harness with a
# library of models and a backend.
#
#   load_library_test.sh HARNESS TORCH_IR OPERATORS INSTALLED_HARNESS MODELS NOTHING
set -euo pipefail
harness="$PWD/$1"
torch_ir="$PWD/$2"
installed="$PWD/$4"
models="$PWD/$5"
nothing="$PWD/$6"
mkdir -p "$TEST_TMPDIR/lib" "$TEST_TMPDIR/bin"
cp "$3" "$TEST_TMPDIR/lib/vendor.so"
ln -s "$torch_ir" "$TEST_TMPDIR/bin/torch-ir"
ln -s "$harness" "$TEST_TMPDIR/bin/harness"
cd "$TEST_TMPDIR"
export PATH="$TEST_TMPDIR/bin:$PATH"

mkdir net
cat >net/ir.json <<'JSON'
{"model_name": "Net", "pytorch_version": "2.13.0",
 "graph_inputs": [{"name": "x", "shape": [2, 3], "dtype": "float32"}],
 "graph_outputs": [{"name": "relu", "shape": [2, 3], "dtype": "float32"}],
 "weights": [], "weight_name_mapping": {},
 "nodes": [
   {"name": "foo", "op_type": "myvendor.foo.default",
    "inputs": [{"name": "x", "shape": [2, 3], "dtype": "float32"}],
    "outputs": [{"name": "foo", "shape": [2, 3], "dtype": "float32"}], "attrs": {"scale": 2.0}},
   {"name": "relu", "op_type": "aten.relu.default",
    "inputs": [{"name": "foo", "shape": [2, 3], "dtype": "float32", "producer_node": "foo",
                "producer_output_idx": 0}],
    "outputs": [{"name": "relu", "shape": [2, 3], "dtype": "float32"}], "attrs": {}}]}
JSON

header='{"x":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}}'
{
  printf "\\x$(printf %02x ${#header})\0\0\0\0\0\0\0%s" "$header"
  for byte in 3d 3e 3f bd be bf; do printf "\0\0\0\x$byte"; done
} >net/inputs.safetensors

expect() {
  local status=$1 text=$2 actual=0
  shift 2
  "$@" >printed 2>&1 || actual=$?
  [[ $actual == "$status" ]] || { cat printed; echo "exit status $actual, expected $status: $*"; exit 1; }
  grep -qF -- "$text" printed || { cat printed; echo "'$text' is not printed: $*"; exit 1; }
}

library=(--load-library lib/vendor.so)
expect 0 'unsupported operators: 1' torch-ir ops net/ir.json
expect 0 'unsupported operators: 0' torch-ir ops net/ir.json "${library[@]}"
expect 2 '--load-library' torch-ir benchmark net/ir.json
expect 0 'myvendor.foo.default' torch-ir benchmark net/ir.json "${library[@]}"
expect 0 '2 cases of 2 calls' torch-ir cut net/ir.json "${library[@]}" -o calls

# Workers load it, and the processes that they start.
expect 1 '--load-library' harness --ir net
expect 0 'net  PASSED' harness --ir net "${library[@]}" --save-tensors --split
grep -qxF 'harness --load-library lib/vendor.so --ir net --split --save-tensors' reports/SUMMARY.md ||
  { cat reports/SUMMARY.md; echo 'the page does not say how to run it again'; exit 1; }
command="$(sed -n '/^torch-ir verify/,/^```/p' reports/net.md | sed '$d')"
(cd reports && ln -s ../lib/vendor.so . && bash -euc "${command/vendor.so/.\/vendor.so}")
expect 1 '2 crashed' harness --ir calls "${library[@]}" --output again --executor 'kill -9 $$ #{ir} {weights} {inputs} {outputs}'
expect 1 'killed by signal 9' harness --ir net "${library[@]}" --output again --executor 'kill -9 $$ #{ir} {weights} {inputs} {outputs}'
grep -qF 'harness --load-library vendor.so --ir .' again/net.md ||
  { cat again/net.md; echo 'the reproducer does not load the library'; exit 1; }

expect 2 "cannot load the library 'no.so': no such file" harness --load-library no.so
expect 2 "cannot load the library 'net': it is not a file" torch-ir ops net/ir.json --load-library net
expect 2 "cannot load the library 'net/ir.json': " torch-ir ops net/ir.json --load-library net/ir.json
[[ $(wc -l <printed) == 1 ]] || { cat printed; echo 'more than one line'; exit 1; }
# LibTorch's other libraries are found beside the one in use, others are named.
sed 's/libc10\.so/libshm.so/g; s/\$ORIGIN/$NOWHER/g' lib/vendor.so >lib/neighbour.so
expect 0 'neighbour.so: 1 operator' torch-ir ops net/ir.json --load-library lib/neighbour.so
sed 's/libc10\.so/libxyz.so/g' lib/vendor.so >lib/stranger.so
expect 2 "stranger.so': libxyz.so: cannot open shared object file" torch-ir ops net/ir.json --load-library lib/stranger.so
expect 2 'set LD_LIBRARY_PATH to the folder' torch-ir ops net/ir.json --load-library lib/stranger.so
# An operator cannot be registered twice.
cp lib/vendor.so lib/twice.so
expect 2 "twice.so': " torch-ir ops net/ir.json "${library[@]}" --load-library lib/twice.so

# What a library adds is counted; one that was loaded before adds nothing more.
expect 0 'vendor.so: 1 operator' torch-ir ops net/ir.json "${library[@]}" "${library[@]}"
[[ $(grep -c vendor.so: printed) == 1 ]] || { cat printed; echo 'counted twice'; exit 1; }
expect 0 '' torch-ir ops net/ir.json "${library[@]}" --quiet
! grep -q vendor.so: printed || { cat printed; echo 'not quiet'; exit 1; }
none="cannot load the library '$nothing': it registers nothing that a program can use (model, "
expect 2 "${none}operator, kernel, op handler, converter)" torch-ir ops net/ir.json --load-library "$nothing"
expect 2 "${none}backend, operator, kernel, op handler, converter)" harness --load-library "$nothing"
[[ $(wc -l <printed) == 1 ]] || { cat printed; echo 'more than one line'; exit 1; }

# Models and backends reach the installed harness, whose torch-ir the library shares, and its workers.
team=(--load-library "$models" --model TeamNet --model TeamNetWide --executor team_chip)
expect 0 'libtest_models.so: 2 models, 1 backend, 3 operators' "$installed" "${team[@]}" --output team
expect 0 'TeamNetWide  PASSED' "$installed" "${team[@]}" --output team
expect 0 'TeamNet' "$installed" --list-models --load-library "$models"
cp "$models" twice.so
expect 2 "twice.so': duplicate model 'TeamNet'" "$installed" --load-library "$models" --load-library twice.so
# Another torch-ir has other registries.
expect 2 'it brings a torch-ir of its own' harness "${team[@]}"
