#!/bin/bash
# Tests torch_ir_model_test in another workspace that has this checkout as an external
# repository: models that pass, and a golden file that is written, differs, and is updated.
#
# It builds all of torch-ir again. With --test_env=OUTPUT_BASE=FOLDER it keeps its build there,
# and it uses a disk cache in the checkout's user.bazelrc; --test_env=BAZEL_FLAGS=... adds flags.
# With --test_env=PATH it uses the same compiler as other builds, and so their cache entries.
set -euo pipefail

checkout="$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)"
LIBTORCH="$(cat "$1")"
export LIBTORCH
base="${OUTPUT_BASE:-$TEST_TMPDIR/output_base}"
workspace="$TEST_TMPDIR/workspace"

fail() {
  echo "external_workspace_test: $*" >&2
  exit 1
}

bazel() {
  # With the variables of a test, the inner Bazel would think that it runs in a test.
  env -u TEST_TMPDIR -u RUNFILES_DIR -u TEST_SRCDIR -u XML_OUTPUT_FILE \
    tools/bazel --output_user_root="$TEST_TMPDIR/user_root" --output_base="$base" \
    "$@"
}

clean_up() {
  bazel shutdown >/dev/null 2>&1 || true
  [[ -n ${OUTPUT_BASE:-} ]] || chmod -R u+w "$base"
}

# Both leave the output in $said.
expect_status() {
  local wanted="$1" status=0
  shift
  said="$("$@" 2>&1)" || status=$?
  [[ $status == "$wanted" ]] || fail "exit status $status, not $wanted: $*"$'\n'"$said"
}

expect_text() {
  grep -qF -- "$1" <<<"$said" || fail "there is no '$1' in:"$'\n'"$said"
}

mkdir -p "$workspace/mlp"
cd "$workspace"
cat >WORKSPACE <<END
local_repository(name = "torch_ir", path = "$checkout")
load("@torch_ir//tools:repositories.bzl", "torch_ir_dependencies")
torch_ir_dependencies()
END
# As in docs/cpp-models.md, so that a disk cache serves both.
cat >.bazelrc <<END
import $checkout/.bazelrc
build --color=no --curses=no --show_progress_rate_limit=60 ${BAZEL_FLAGS:-}
try-import $checkout/user.bazelrc
END
mkdir tools
ln -s "$checkout/tools/bazel" tools/bazel
cat >mlp/BUILD.bazel <<'END'
load("@torch_ir//harness:defs.bzl", "torch_ir_model_test")

cc_library(
    name = "mlp",
    srcs = ["mlp.cc"],
    alwayslink = True,
    deps = ["@torch_ir"],
)

cc_library(
    name = "gate",
    srcs = ["gate.cc"],
    alwayslink = True,
    deps = ["@torch_ir"],
)

torch_ir_model_test(
    name = "mlp_test",
    categories = ["tabular"],
    golden = "mlp.json",
    golden_page = "mlp.md",
    model = "MLP",
    deps = [":mlp"],
)

torch_ir_model_test(
    name = "all_test",
    size = "medium",
    categories = [
        "gated",
        "tabular",
    ],
    shard_count = 2,
    tags = ["nightly"],
    deps = [
        ":gate",
        ":mlp",
    ],
)
END
cat >mlp/mlp.cc <<'END'
#include <torch/nn/modules/linear.h>

#include "torch_ir/registry/registry.h"

namespace {

struct MLPImpl : torch::nn::Module {
  torch::Tensor forward(const torch::Tensor& x) { return second(first(x).relu()); }
  torch::nn::Linear first = register_module("first", torch::nn::Linear(8, 16));
  torch::nn::Linear second = register_module("second", torch::nn::Linear(16, 2));
};
TORCH_MODULE(MLP);

REGISTER_MODEL(MLP, {.inputs = {{.shape = {4, 8}}},
                     .categories = {"tabular"},
                     .description = "Two linear layers"});

}  // namespace
END
sed -e 's/MLP/Gate/g; s/"tabular"/"gated"/; s/first(x).relu()/first(x).sigmoid()/' \
  -e 's/Two linear layers/Two linear layers and a gate/' mlp/mlp.cc >mlp/gate.cc
trap clean_up EXIT

# Golden files that do not exist yet fail their own test only.
expect_status 3 bazel test //mlp:mlp_test
expect_text "mlp/mlp.json is not there yet; to write it, run: tools/bazel run //mlp:mlp_test.update"
grep -qF '<failure message="mlp/mlp.json is not there yet' bazel-testlogs/mlp/mlp_test/test.xml ||
  fail "test.xml does not start with the cause: $(cat bazel-testlogs/mlp/mlp_test/test.xml)"
grep -qF '<property name="category" value="tabular"/>' bazel-testlogs/mlp/mlp_test/test.xml ||
  fail "test.xml has no categories"
expect_status 0 bazel run @torch_ir//tools:update_goldens -- \
  --output_user_root="$TEST_TMPDIR/user_root" --output_base="$base"
expect_text "wrote mlp/mlp.json"
expect_text "wrote mlp/mlp.md"
[[ -s mlp/mlp.json && -s mlp/mlp.md ]] || fail "the golden files are not in the workspace"
expect_status 0 bazel test //mlp:mlp_test

logs="$(readlink -f bazel-testlogs/mlp/mlp_test)"
grep -q '<testcase name="MLP" ' "$logs/test.xml" || fail "no case of the model: $(cat "$logs/test.xml")"
files="$(cd "$logs/test.outputs" && python3 -m zipfile -l outputs.zip 2>/dev/null || find "$logs/test.outputs")"
[[ $files == *MLP.md* && $files == *ir/MLP.json* ]] || fail "no report among the outputs: $files"

# A golden file that differs from the harness's output fails the test, which names the changes.
cp mlp/mlp.json right.json
sed -i 's/aten.relu.default/aten.tanh.default/' mlp/mlp.json
expect_status 3 bazel test //mlp:mlp_test
expect_text "mlp/mlp.json differs from the harness's output"
expect_text "aten.tanh.default"
expect_text "aten.relu.default"
expect_text "bazel run //mlp:mlp_test.update"
expect_status 0 bazel run //mlp:mlp_test.update
cmp mlp/mlp.json right.json || fail "the update target did not restore the golden file"
expect_status 0 bazel test //mlp:mlp_test

# Several models, one case each, spread over shards, and found by the tags of their categories.
expect_status 0 bazel test //... --build_tests_only --test_tag_filters=gated
for model in Gate MLP; do
  grep -qrF "<testcase name=\"$model\" " --include=test.xml "$(readlink -f bazel-testlogs/mlp/all_test)" ||
    fail "$model has no case"
done
[[ $(find "$(readlink -f bazel-testlogs/mlp/all_test)" -name test.xml | wc -l) == 2 ]] || fail "not two shards"
said="$(bazel query 'attr(tags, "\bnightly\b", //...)' 2>/dev/null)"
[[ $said == //mlp:all_test ]] || fail "tags: $said"

# The BUILD file and the registration must agree.
sed -i 's/categories = \["tabular"\]/categories = ["vision"]/' mlp/BUILD.bazel
expect_status 3 bazel test //mlp:mlp_test
expect_text 'vision'
