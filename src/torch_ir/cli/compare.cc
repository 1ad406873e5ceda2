// torch-ir compare: compares two tensor files, tensor by tensor.

#include "torch_ir/verifier/compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <ostream>
#include <sstream>
#include <utility>

#include "torch_ir/analysis/text_table.h"
#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/cli/command.h"
#include "torch_ir/cli/options.h"
#include "torch_ir/ir/dtype.h"
#include "torch_ir/weights/state_dict.h"

namespace torch_ir {
namespace {

struct CompareArguments {
  std::string actual;
  std::string expected;
  ToleranceRule tolerance;
};

std::string type_text(const at::Tensor& tensor) {
  return fmt::format("{}[{}]", dtype_name(tensor.scalar_type()),
                     fmt::join(tensor.sizes().vec(), ", "));
}

int run_compare(const CompareArguments& arguments, Console& console) {
  const StateDict actual = load_weights(arguments.actual);
  const StateDict expected = load_weights(arguments.expected);
  if (actual.is_empty() && expected.is_empty()) {
    throw Error(arguments.actual + " and " + arguments.expected + " have no tensors to compare");
  }
  TextRows rows;
  const auto add = [&](const std::string& name, const at::Tensor& tensor, std::string verdict) {
    rows.push_back({printable(name), type_text(tensor), std::move(verdict)});
  };
  size_t num_close = 0;
  bool has_exact = false;
  for (const auto& item : actual) {
    const at::Tensor* other = expected.find(item.key());
    if (other == nullptr) {
      add(item.key(), item.value(), "only in " + arguments.actual);
      continue;
    }
    const Tolerance tolerance = tolerance_for(arguments.tolerance, 0, other->scalar_type());
    const TensorComparison comparison = compare_tensors(item.value(), *other, tolerance);
    std::ostringstream verdict;
    verdict << comparison << own_tolerance_text(arguments.tolerance, tolerance);
    add(item.key(), item.value(), verdict.str());
    num_close += comparison.is_close ? 1 : 0;
    has_exact |= compares_exactly(other->scalar_type());
  }
  for (const auto& item : expected) {
    if (actual.contains(item.key())) continue;
    add(item.key(), item.value(), "only in " + arguments.expected);
  }
  console.talk() << text_table(rows)
                 << fmt::format("{} of {} tensors agree ({})\n", num_close, rows.size(),
                                rule_text(arguments.tolerance, has_exact));
  return num_close == rows.size() ? kDone : kDifferent;
}

void declare_compare(CLI::App& parser, CompareArguments& arguments) {
  add_argument(parser, "A", arguments.actual, "The tensors: .safetensors, .pt");
  add_argument(parser, "B", arguments.expected, "The expected tensors");
  add_tolerance_options(parser, arguments.tolerance);
}

}  // namespace

Command compare_command() {
  return {.name = "compare",
          .summary = "Compare two tensor files, tensor by tensor",
          .examples =
              "  torch-ir compare outputs.safetensors expected.safetensors --atol 1e-6\n"
              "  torch-ir compare outputs.safetensors expected.safetensors --tolerance "
              "dtype\n",
          .declare = with_arguments(declare_compare, run_compare)};
}

}  // namespace torch_ir
