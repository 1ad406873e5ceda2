#!/bin/bash
# Tests which files install.sh installs and removes, and its error messages.
#
#   install_test.sh INSTALL PUBLIC_HEADER...
set -euo pipefail

install="$PWD/$1"
public_headers="$(printf '%s\n' "${@:2}" | sed 's|^src/||' | sort)"
work="$TEST_TMPDIR"

fail() {
  echo "install_test: $*" >&2
  exit 1
}

# Both leave the output in $said.
expect_status() {
  local wanted="$1" status=0
  shift
  said="$("$@" 2>&1)" || status=$?
  [[ $status == "$wanted" ]] || fail "exit status $status, not $wanted: $*"$'\n'"$said"
}

expect_refusal() {
  local wanted="$1"
  shift
  expect_status 2 "$@"
  [[ $said == "install: "*"$wanted"* ]] || fail "no '$wanted' in: $said"
  [[ $(wc -l <<<"$said") == 1 ]] || fail "more than one line: $said"
}

# A relative prefix is relative to the caller's directory; a second installation replaces the first.
export BUILD_WORKING_DIRECTORY="$work"
expect_status 0 "$install" --prefix relative
expect_status 0 "$install" --prefix=relative
for file in bin/harness bin/torch-ir include/torch_ir/torch_ir.h include/harness/backend/backend.h \
  lib/libtorch_ir.so lib/libtorch_ir_harness.so \
  share/torch_ir/export_model.py share/torch_ir/score_suite.py \
  share/torch_ir/examples/{executor,torch_executor,onnxruntime_executor,simulated_device,ir_graph,safetensors_file}.py \
  share/torch_ir/examples/backend.cc lib/cmake/torch_ir/torch_irConfig.cmake lib/torch_ir/libtorch/lib/libtorch_cpu.so; do
  [[ -s $work/relative/$file ]] || fail "there is no $file"
done
said="$(cd "$work/relative/include" && find . -type f -printf '%P\n' | sort)"
[[ $said == "$public_headers" ]] || fail "headers: $(diff <(echo "$said") <(echo "$public_headers"))"
[[ -z $(find "$work/relative" -name '.torch_ir*') ]] || fail "the stage is still there"
! grep -rn '@[A-Z_]*VERSION@' "$work/relative/lib/cmake" || fail "a version was not filled in"

# Programs find LibTorch below the prefix, and nowhere else.
(cd / && "$work/relative/bin/torch-ir" --version >/dev/null) || fail "torch-ir does not start"
said="$(objdump -p "$work/relative/bin/torch-ir" | awk '/R(UN)?PATH/ { print $2 }')"
[[ $said == '$ORIGIN/../lib:$ORIGIN/../lib/torch_ir/libtorch/lib' ]] || fail "run path $said"
# A linked oneDNN would mix with LibTorch's (fast/onednn/functions.h).
for file in bin/harness bin/torch-ir lib/libtorch_ir.so lib/libtorch_ir_harness.so; do
  ! objdump -p "$work/relative/$file" | grep -q 'NEEDED.*libdnnl' || fail "$file links oneDNN"
done

# The harness reads its tables in the prefix, and reports errors in them.
tables="$work/relative/share/torch_ir/operators"
list_categories() {
  (cd / && env -u TEST_SRCDIR -u RUNFILES_DIR "$work/relative/bin/harness" --suite operators --list-categories)
}
expect_status 0 list_categories
[[ $said == attention*sorting ]] || fail "categories: $said"
printf 'abs: float32\n  usual | x[3\n' >"$tables/mine.cases"
expect_status 2 list_categories
[[ $said == "harness: $tables/mine.cases:2:14: expected ']'" ]] || fail "a broken row: $said"
mv "$tables" "$work/tables"
expect_status 2 list_categories
[[ $said == "harness: cannot find the tables of operator cases"*"$tables"* ]] || fail "no tables: $said"
mv "$work/tables" "$tables"
rm "$tables/mine.cases"

# Files of an earlier version that this one lacks are removed; other files stay.
echo bin/old >>"$work/relative/lib/torch_ir/installed.txt"
touch "$work/relative/bin/old" "$work/relative/bin/other"
expect_status 0 "$install" --prefix relative
[[ ! -e $work/relative/bin/old && -e $work/relative/bin/other ]] || fail "bin: $(ls "$work/relative/bin")"
# A damaged list removes no other files.
cp "$work/relative/lib/torch_ir/installed.txt" "$work/list"
for line in '' . ./bin ../other /etc; do
  { echo "$line"; cat "$work/list"; } >"$work/relative/lib/torch_ir/installed.txt"
  expect_refusal "names '$line', which is not below it" "$install" --prefix relative --uninstall
  [[ -e $work/relative/bin/other ]] || fail "'$line' in the list removed everything"
done
cp "$work/list" "$work/relative/lib/torch_ir/installed.txt"
expect_status 0 "$install" --prefix relative --uninstall
[[ $(find "$work/relative" ! -type d) == "$work/relative/bin/other" ]] || fail "$(find "$work/relative")"
expect_refusal "torch-ir is not installed in $work/relative" "$install" --prefix relative --uninstall

DESTDIR="$work/stage" expect_status 0 "$install" --prefix /opt/torch-ir
[[ -x $work/stage/opt/torch-ir/bin/torch-ir ]] || fail "DESTDIR is not in front of the prefix"
[[ $(readlink "$work/stage/opt/torch-ir/lib/torch_ir/libtorch") != "$work"* ]] || fail "DESTDIR stays"

# A failed installation leaves nothing.
expect_refusal "missing --prefix DIR" "$install"
expect_refusal "unknown argument '--root'" "$install" --root /
touch "$work/file"
expect_refusal "cannot write to $work/file/prefix" "$install" --prefix "$work/file/prefix"
mkdir -p "$work/taken/bin/harness"
expect_refusal "$work/taken/bin/harness already exists" "$install" --prefix taken/
[[ $(find "$work/taken" | wc -l) == 3 ]] || fail "left: $(find "$work/taken")"
mkdir -p "$work/blocked"
touch "$work/blocked/include"
expect_refusal "cannot write below $work/blocked/include" "$install" --prefix blocked
[[ $(find "$work/blocked" | wc -l) == 2 ]] || fail "left: $(find "$work/blocked")"
(
  # A full disk: no file may be larger than a few blocks.
  ulimit -f 8
  trap '' XFSZ
  expect_refusal "cannot write $work/full/" "$install" --prefix full
)
[[ ! -e $work/full ]] || fail "left: $(find "$work/full")"
