// torch-ir compare: two tensor files, tensor by tensor.

#include "torch_ir/verifier/compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <ostream>
#include <sstream>

#include "torch_ir/analysis/text_table.h"
#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/cli/command.h"
#include "torch_ir/cli/options.h"
#include "torch_ir/ir/dtype.h"
#include "torch_ir/verifier/tolerance.h"
#include "torch_ir/weights/state_dict.h"

namespace torch_ir {
namespace {

struct CompareArguments {
  std::string actual;
  std::string expected;
  ToleranceRule tolerance;
};

// A line of the table.
struct Line {
  std::string name;
  std::string type;
  std::string verdict;
  bool is_close;
  // Whether integers or booleans were compared.
  bool is_exact = false;
};

std::string type_text(const at::Tensor& tensor) {
  return fmt::format("{}[{}]", dtype_name(tensor.scalar_type()),
                     fmt::join(tensor.sizes().vec(), ", "));
}

Line compare_both(const std::string& name, const at::Tensor& actual, const at::Tensor& expected,
                  const ToleranceRule& rule) {
  const Tolerance tolerance = tolerance_for(rule, 0, expected.scalar_type());
  const TensorComparison comparison = compare_tensors(actual, expected, tolerance);
  std::ostringstream verdict;
  verdict << comparison << own_tolerance_text(rule, tolerance);
  return {printable(name), type_text(actual), verdict.str(), comparison.is_close,
          compares_exactly(expected.scalar_type())};
}

Line only_in(const std::string& path, const std::string& name, const at::Tensor& tensor) {
  return {printable(name), type_text(tensor), "only in " + path, false};
}

// The tensors of the first file in its order, then those that only the second one has.
std::vector<Line> compare_files(const CompareArguments& arguments) {
  const StateDict actual = load_weights(arguments.actual);
  const StateDict expected = load_weights(arguments.expected);
  if (actual.is_empty() && expected.is_empty()) {
    throw Error(arguments.actual + " and " + arguments.expected +
                " hold no tensors: there is nothing to compare");
  }
  std::vector<Line> lines;
  for (const auto& item : actual) {
    const std::string& name = item.key();
    const at::Tensor* other = expected.find(name);
    lines.push_back(other == nullptr
                        ? only_in(arguments.actual, name, item.value())
                        : compare_both(name, item.value(), *other, arguments.tolerance));
  }
  for (const auto& item : expected) {
    if (actual.contains(item.key())) continue;
    lines.push_back(only_in(arguments.expected, item.key(), item.value()));
  }
  return lines;
}

int run_compare(const CompareArguments& arguments, Console& console) {
  const std::vector<Line> lines = compare_files(arguments);
  const auto num_close = static_cast<size_t>(std::ranges::count_if(lines, &Line::is_close));
  TextRows rows;
  for (const Line& line : lines) rows.push_back({line.name, line.type, line.verdict});
  console.talk() << text_table(rows);
  const bool has_exact = std::ranges::any_of(lines, &Line::is_exact);
  console.talk() << fmt::format("{} of {} tensors agree ({})\n", num_close, lines.size(),
                                rule_text(arguments.tolerance, has_exact));
  return num_close == lines.size() ? kDone : kDifferent;
}

void declare_compare(CLI::App& parser, CompareArguments& arguments) {
  add_argument(parser, "A", arguments.actual, "The tensors (.safetensors or .pt)");
  add_argument(parser, "B", arguments.expected, "The tensors that they should be");
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
