#!/bin/bash
# Tests a wheel in a new environment, beside torch and on top of it: its two commands run all models, its
# library compiles, and it refuses a torch of another version. Uses the torch of $TORCH_PYTHON, or else
# python3.
#
#   wheel_test.sh WHEEL_PROGRAM CHANGELOG
set -euo pipefail

make_wheel="$PWD/$1"
changelog="$PWD/$2"
python="${TORCH_PYTHON:-python3}"
# Itself, and no launcher, which may have plans of its own for what pip installs.
interpreter="$("$python" -c 'import sys; print(sys.executable)')"
work="$TEST_TMPDIR"

fail() {
  echo "wheel_test: $*" >&2
  exit 1
}

# new_environment NAME: makes an environment with only the wheel.
new_environment() {
  "$interpreter" -m venv --without-pip "$work/$1"
  "$interpreter" -m pip --disable-pip-version-check --python "$work/$1/bin/python" \
    install --quiet --no-index --no-deps "$wheel"
  site="$("$work/$1/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"
}

# The same files give the same bytes, and folders are relative to the caller's directory.
export BUILD_WORKING_DIRECTORY="$work"
wheel="$("$make_wheel" --output first)"
again="$("$make_wheel" --output=second)"
cmp "$wheel" "$again" || fail "two wheels differ"
[[ $wheel == "$work/first/"torch_ir_cpp-*-py3-none-manylinux_*.whl ]] || fail "a wheel named $wheel"
[[ -z $(find "$work/first" -name '.*.whl*') ]] || fail "an unfinished file is left"
unset BUILD_WORKING_DIRECTORY

# Beside torch, as pip installs both.
torch="$("$python" -c 'import importlib.util, os
print(os.path.dirname(importlib.util.find_spec("torch").origin))')"
new_environment beside
ln -s "$torch" "$torch"-*.dist-info "$site"
cd /
said="$(env -i PATH=/usr/bin:/bin "$work/beside/bin/torch-ir" --version)"
[[ $said =~ ^torch-ir\ ([0-9.]+)\ \(LibTorch\ ([0-9]+\.[0-9]+) ]] || fail "torch-ir --version: $said"
version="${BASH_REMATCH[1]}"
minor="${BASH_REMATCH[2]}"
grep -q "^## $version" "$changelog" || fail "CHANGELOG.md does not mention version $version"
[[ $(env -i PATH=/usr/bin:/bin "$work/beside/bin/harness" --version) == "harness $version "* ]] ||
  fail "harness has another version"
# The programs load only libraries of the wheel, of torch, or of every system.
foreign="$(ldd "$site/torch_ir_cpp/bin/torch-ir" | awk '$2 == "=>" { print $3 }' |
  grep -v -e "^$site/torch_ir_cpp/bin/\.\./" \
    -E -e '/lib(c|dl|m|pthread|rt|gcc_s|stdc\+\+)\.so\.[0-9]+$' || true)"
[[ -z $foreign ]] || fail "libraries of this machine: $foreign"

# All models, as the first command of the README runs them.
"$work/beside/bin/harness" --output "$work/reports" >"$work/said" || fail "harness: $(cat "$work/said")"
read -r passed models < <("$python" -c 'import json, sys
models = json.load(open(sys.argv[1]))["models"]
print(sum(model["status"] == "passed" for model in models), len(models))' "$work/reports/results.json")
[[ $passed -ge 12 && $passed == "$models" ]] || fail "$passed of $models models passed"
grep -qx "harness --model SiameseEncoder" "$work/reports/SiameseEncoder.md" ||
  fail "the command on a page differs from the installed one"
status=0
"$work/beside/bin/torch-ir" info /nowhere.json 2>"$work/said" || status=$?
[[ $status == 2 ]] || fail "exit status $status of a command that fails: $(cat "$work/said")"

# The library and its headers.
cat >"$work/program.cc" <<'SOURCE'
#include <iostream>
#include "torch_ir/ir/json.h"
int main() { std::cout << torch_ir::serialize_ir({}).size() << "\n"; }
SOURCE
"${CXX:-c++}" -std=c++20 -I "$site/torch_ir_cpp/include" -isystem "$torch/include" \
  -isystem "$torch/include/torch/csrc/api/include" \
  "$work/program.cc" -o "$work/program" -L "$site/torch_ir_cpp/lib" -ltorch_ir \
  -Wl,-rpath,"$site/torch_ir_cpp/lib" -L "$torch/lib" -lc10 -Wl,-rpath,"$torch/lib"
"$work/program" >/dev/null || fail "a program that uses the library does not run"

# On top of an environment that has torch.
new_environment above
echo "$(dirname "$torch")" >"$site/above.pth"
"$work/above/bin/torch-ir" --version >/dev/null || fail "torch in another folder is not found"

# Without torch, and with another version.
expect_refusal() {
  local status=0
  said="$("$work/$1/bin/harness" --list-models 2>&1)" || status=$?
  [[ $status == 2 && $said == "harness: requires torch $minor, but $2; run: pip install 'torch==$minor.*'" ]] ||
    fail "status $status: $said"
}
new_environment alone
expect_refusal alone "$work/alone has none"
mkdir "$site/torch" "$site/torch-2.5.1.dist-info"
touch "$site/torch/__init__.py"
printf 'Metadata-Version: 2.1\nName: torch\nVersion: 2.5.1\n' >"$site/torch-2.5.1.dist-info/METADATA"
expect_refusal alone "$site/torch is 2.5.1"
