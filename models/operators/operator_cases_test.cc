// The tables themselves: how much they cover, and that eager LibTorch runs every case. What an
// executor makes of them is the suite's to say.

#include <ATen/core/Tensor.h>
#include <ATen/ops/isclose.h>
#include <c10/util/Exception.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "torch_ir/ir/validate.h"
#include "torch_ir/registry/operator_call.h"
#include "torch_ir/registry/operator_case.h"

namespace torch_ir {
namespace {

using ::testing::IsEmpty;

// Of the core operators, those that no case can call, and why.
const std::map<std::string, std::string>& core_without_case() {
  static const std::map<std::string, std::string> reasons = {
      {"aten._native_batch_norm_legit.default", "writes the running statistics in place"},
      {"aten.atan2.out", "writes its result into an argument"},
      {"aten.resize_.default", "gives its argument other memory"},
  };
  return reasons;
}

std::vector<std::string> read_core_operators() {
  std::vector<std::string> operators;
  std::ifstream file("models/operators/core_aten.txt");
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line.front() != '#') operators.push_back(line);
  }
  return operators;
}

std::set<std::string> operators_with_cases() {
  std::set<std::string> operators;
  for (const OperatorCase& it : list_operator_cases()) operators.insert(it.op_type);
  return operators;
}

bool are_equal(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b) {
  const auto equal = [](const at::Tensor& x, const at::Tensor& y) {
    return x.scalar_type() == y.scalar_type() && x.sizes() == y.sizes() &&
           (x.numel() == 0 || x.isclose(y, 0, 0, /*equal_nan=*/true).all().item<bool>());
  };
  return std::ranges::equal(a, b, equal);
}

std::vector<at::Tensor> compared_values_of(const OperatorCase& it) {
  const OperatorCall call = call_operator(it);
  return compared_values(it, call.arguments, call.outputs);
}

// What is wrong with a case; empty when nothing is.
std::string problem_of(const OperatorCase& it) {
  try {
    validate_ir(call_operator(it).ir);
    const bool is_same = are_equal(compared_values_of(it), compared_values_of(it));
    return is_same ? "" : it.name() + ": two calls differ\n";
  } catch (const c10::Error& error) {
    return it.name() + ": " + error.what_without_backtrace() + "\n";
  } catch (const std::exception& error) {
    return it.name() + ": " + error.what() + "\n";
  }
}

TEST(OperatorCasesTest, AreManyOfManyOperators) {
  EXPECT_GE(list_operator_cases().size(), 2000u);
  EXPECT_GE(operators_with_cases().size(), 300u);
}

TEST(OperatorCasesTest, CoverTheCoreOperators) {
  const std::vector<std::string> core = read_core_operators();
  EXPECT_EQ(core.size(), 193u);
  const std::set<std::string> covered = operators_with_cases();
  std::vector<std::string> missing;
  for (const std::string& op_type : core) {
    if (!covered.contains(op_type) && !core_without_case().contains(op_type)) {
      missing.push_back(op_type);
    }
  }
  EXPECT_THAT(missing, IsEmpty());
}

TEST(OperatorCasesTest, ExcuseOnlyCoreOperatorsWithoutCase) {
  const std::vector<std::string> core = read_core_operators();
  for (const auto& [op_type, reason] : core_without_case()) {
    EXPECT_EQ(std::ranges::count(core, op_type), 1) << op_type;
    EXPECT_FALSE(operators_with_cases().contains(op_type)) << op_type;
  }
}

TEST(OperatorCasesTest, GiveAReasonForATolerance) {
  for (const OperatorCase& it : list_operator_cases()) {
    EXPECT_EQ(it.tolerance.has_value(), !it.tolerance_reason.empty()) << it.name();
  }
}

TEST(OperatorCasesTest, RunInEagerTwiceWithTheSameResult) {
  std::string problems;
  for (const OperatorCase& it : list_operator_cases()) problems += problem_of(it);
  EXPECT_EQ(problems, "");
}

}  // namespace
}  // namespace torch_ir
