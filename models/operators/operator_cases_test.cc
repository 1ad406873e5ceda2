// Tests the tables themselves: their coverage, and that eager LibTorch runs every case. The suite
// tests executors.

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
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

#include "torch_ir/cases/suite_case.h"
#include "torch_ir/ir/binding.h"
#include "torch_ir/operators/call_recording.h"
#include "torch_ir/operators/operator_effects.h"
#include "torch_ir/registry/operator_case.h"

namespace torch_ir {
namespace {

using ::testing::IsEmpty;

// The core operators that no case can call, and the reasons.
const std::map<std::string, std::string> kCoreWithoutCase = {
    {"aten._native_batch_norm_legit.default", "writes the running statistics in place"},
    {"aten.atan2.out", "writes its result into an argument"},
    {"aten.resize_.default", "gives its argument other memory"},
};

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

bool is_float(const at::Tensor& tensor) {
  return tensor.is_floating_point() || tensor.is_complex();
}

at::Tensor widened(const at::Tensor& tensor) {
  if (!is_float(tensor)) return tensor;
  return tensor.to(tensor.is_complex() ? at::kComplexDouble : at::kDouble);
}

bool are_equal(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b) {
  const auto equal = [](const at::Tensor& x, const at::Tensor& y) {
    if (x.scalar_type() != y.scalar_type() || x.sizes() != y.sizes()) return false;
    // LibTorch does not subtract float8 values.
    const bool is_close =
        widened(x).isclose(widened(y), 0, 0, /*equal_nan=*/true).all().item<bool>();
    return x.numel() == 0 || is_close;
  };
  return std::ranges::equal(a, b, equal);
}

std::vector<at::Tensor> eager_values(const OperatorCase& it) {
  return compared_values(it, it.arguments(), make_suite_case(it).content.expected);
}

// The problem of a case; empty if there is none.
std::string problem_of(const OperatorCase& it) {
  try {
    const bool is_same = are_equal(eager_values(it), eager_values(it));
    return is_same ? "" : it.name() + ": two calls differ\n";
  } catch (const c10::Error& error) {
    return it.name() + ": " + error.what_without_backtrace() + "\n";
  } catch (const std::exception& error) {
    return it.name() + ": " + error.what() + "\n";
  }
}

// Its arguments in float64, including dtype arguments.
std::vector<c10::IValue> widened_arguments(const OperatorCase& it,
                                           const c10::FunctionSchema& schema) {
  const std::vector<c10::IValue> given = it.arguments();
  std::vector<c10::IValue> arguments;
  for (size_t i = 0; i < given.size(); ++i) {
    const c10::IValue& value = given[i];
    const bool is_float_dtype = schema.arguments()[i].name() == "dtype" && value.isInt() &&
                                at::isFloatingType(static_cast<at::ScalarType>(value.toInt()));
    arguments.push_back(is_float_dtype ? c10::IValue(at::kDouble) : map_tensors(value, widened));
  }
  return arguments;
}

bool is_within(const at::Tensor& a, const at::Tensor& b, const Tolerance& tolerance) {
  if (!is_float(a)) return true;
  const at::Tensor expected = widened(b.to(a.scalar_type()));
  const at::Tensor close = widened(a).isclose(expected, tolerance.rtol, tolerance.atol, true);
  return close.all().item<bool>();
}

// Whether an executor that rounds only the final result would pass.
bool admits_the_rounded_result(const OperatorCase& it) {
  const c10::OperatorHandle op = find_operator(it.op_type).value();
  const std::vector<c10::IValue> arguments = widened_arguments(it, op.schema());
  std::vector<c10::IValue> stack = arguments;
  op.callBoxed(stack);
  if (tensors_of(stack).empty()) return true;
  const auto narrow = eager_values(it);
  const auto wide = compared_values(it, arguments, tensors_of(stack));
  for (size_t i = 0; i < narrow.size(); ++i) {
    const auto usual = default_tolerance(narrow[i].scalar_type());
    if (!is_within(narrow[i], wide.at(i), it.tolerance.value_or(usual))) return false;
  }
  return true;
}

TEST(OperatorCasesTest, CoverTheOperatorsOfQuantisedModels) {
  const auto count = [](std::string_view prefix) {
    return std::ranges::count_if(operators_with_cases(), [&](const std::string& op_type) {
      return op_type.starts_with(prefix);
    });
  };
  EXPECT_EQ(count("quantized_decomposed."), 19);
  EXPECT_EQ(count("torchao."), 6);
}

TEST(OperatorCasesTest, CoverTheCoreOperators) {
  const std::vector<std::string> core = read_core_operators();
  EXPECT_EQ(core.size(), 193u);
  const std::set<std::string> covered = operators_with_cases();
  for (const std::string& op_type : core) {
    EXPECT_NE(covered.contains(op_type), kCoreWithoutCase.contains(op_type)) << op_type;
  }
  for (const auto& [op_type, reason] : kCoreWithoutCase) {
    EXPECT_EQ(std::ranges::count(core, op_type), 1) << op_type;
  }
}

TEST(OperatorCasesTest, HaveTolerancesThatAdmitTheRoundedResult) {
  // Cases whose values differ in float64: limits of the dtype, and the step from number to number.
  // Operators of quantised models do not take float64.
  const std::set<std::string> own_dtypes = {"float8", "quantized", "random"};
  const auto depends_on_range = [&](const OperatorCase& it) {
    return it.variant.find("special") != std::string::npos || own_dtypes.contains(it.category) ||
           it.op_type == "aten.nextafter.default";
  };
  std::vector<std::string> too_narrow;
  for (const OperatorCase& it : list_operator_cases()) {
    if (it.property == CaseProperty::kShape || depends_on_range(it)) continue;
    if (!admits_the_rounded_result(it)) too_narrow.push_back(it.name());
  }
  EXPECT_THAT(too_narrow, IsEmpty());
}

TEST(OperatorCasesTest, RunInEagerTwiceWithTheSameResult) {
  std::string problems;
  for (const OperatorCase& it : list_operator_cases()) {
    const std::string problem = problem_of(it);
    // oneDNN has no products of float8 on some processors.
    if (problem.find("could not create a primitive") == std::string::npos) problems += problem;
  }
  EXPECT_EQ(problems, "");
}

// Runs work on copies of the arguments that an operator writes.
TEST(OperatorCasesTest, WriteOnlyArgumentsOfTheirEffects) {
  std::string problems;
  EffectsTable table;
  for (const OperatorCase& it : list_operator_cases()) {
    const c10::OperatorHandle op = find_operator(it.op_type).value();
    const std::vector<c10::IValue> arguments = it.arguments();
    const std::vector<c10::IValue> before = it.arguments();
    std::vector<c10::IValue> stack = arguments;
    try {
      op.callBoxed(stack);
    } catch (const std::exception&) {
      continue;  // RunInEagerTwiceWithTheSameResult reports it.
    }
    const OperatorEffects& effects = table.of(op, [](size_t) { return true; });
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (effects.writes[i] || are_equal(tensors_of({arguments[i]}), tensors_of({before[i]}))) {
        continue;
      }
      problems += it.name() + " writes " + op.schema().arguments()[i].name() + "\n";
    }
  }
  EXPECT_EQ(problems, "");
}

}  // namespace
}  // namespace torch_ir
