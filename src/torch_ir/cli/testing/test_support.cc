#include "torch_ir/cli/testing/test_support.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "torch_ir/base/file.h"
#include "torch_ir/cli/command.h"
#include "torch_ir/ir/json.h"
#include "torch_ir/ir/testing/test_graphs.h"
#include "torch_ir/weights/safetensors.h"

namespace torch_ir {

void expect_refused(const Outcome& outcome, const std::string& message) {
  expect_failed(outcome, "torch-ir: " + message + "\n", 1 + std::ranges::count(message, '\n'));
}

void expect_failed(const Outcome& outcome, const testing::Matcher<std::string>& error,
                   int64_t num_lines) {
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, error);
  EXPECT_EQ(std::ranges::count(outcome.err, '\n'), num_lines) << outcome.err;
}

CliTest::CliTest() {
  const testing::TestInfo& test = *testing::UnitTest::GetInstance()->current_test_info();
  folder_ = testing::TempDir() + test.test_suite_name() + "." + test.name();
  std::filesystem::remove_all(folder_);
  std::filesystem::create_directories(folder_);
}

Outcome CliTest::torch_ir(const std::vector<std::string>& arguments) {
  std::ostringstream out;
  std::ostringstream err;
  const int status = run_cli(arguments, out, err);
  return {status, out.str(), err.str()};
}

std::string CliTest::printed(const std::vector<std::string>& arguments, int status) {
  const Outcome outcome = torch_ir(arguments);
  EXPECT_EQ(outcome.status, status) << testing::PrintToString(arguments) << '\n' << outcome.out;
  EXPECT_EQ(outcome.err, "");
  return outcome.out;
}

std::string CliTest::file(const std::string& name, const std::string& content) const {
  write_file(path(name), content);
  return path(name);
}

std::string CliTest::graph_file(const std::string& name, const IR& ir) const {
  save_ir(ir, path(name));
  return path(name);
}

std::string CliTest::tensor_file(
    const std::string& name, const std::vector<std::pair<std::string, at::Tensor>>& tensors) const {
  StateDict dict;
  for (const auto& [key, tensor] : tensors) dict.insert(key, tensor);
  save_weights_safetensors(dict, path(name));
  return path(name);
}

std::vector<std::string> CliTest::files() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    names.push_back(entry.path().filename());
  }
  std::ranges::sort(names);
  return names;
}

CliTest::MaskedLinear CliTest::masked_linear() const {
  IR ir = masked_linear_graph();
  ir.constants.insert("mask", at::tensor({1.0f, 0.0f, 1.0f, 0.0f}));
  const at::Tensor x = at::tensor({0.5f, -1.5f, 2.0f, 0.25f}).view({1, 4});
  const at::Tensor weight = at::arange(16, at::kFloat).view({4, 4}) / 7;
  const at::Tensor bias = at::tensor({0.125f, -2.0f, 0.75f, 3.0f});
  const at::Tensor output = at::mul(at::linear(x, weight, bias), ir.constants["mask"]);
  return {graph_file("model.json", ir),
          tensor_file("weights.safetensors", {{"linear.weight", weight}, {"linear.bias", bias}}),
          tensor_file("inputs.safetensors", {{"x", x}}),
          tensor_file("expected.safetensors", {{"mul", output}}), output};
}

}  // namespace torch_ir
