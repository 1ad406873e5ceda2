// torch-ir compare: two tensor files, tensor by tensor.

#include "torch_ir/verifier/compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <memory>
#include <ostream>

#include "torch_ir/cli/commands.h"
#include "torch_ir/cli/options.h"
#include "torch_ir/weights/state_dict.h"

namespace torch_ir {
namespace {

struct Arguments {
  std::string actual;
  std::string expected;
  Tolerance tolerance;
};

// A line of the table: name, verdict, largest and mean difference, and what there is to say.
using Row = std::array<std::string, 5>;

struct Result {
  Row row;
  bool is_close;
};

std::string difference_text(double difference) { return fmt::format("{:.4g}", difference); }

std::string index_text(const std::vector<int64_t>& index) {
  return fmt::format("[{}]", fmt::join(index, ", "));
}

Result compare_both(const std::string& name, const at::Tensor& actual, const at::Tensor& expected,
                    const Tolerance& tolerance) {
  const TensorComparison comparison = compare_tensors(actual, expected, tolerance);
  if (!comparison.mismatch.empty()) {
    return {{name, "different", "-", "-", comparison.mismatch}, false};
  }
  const bool is_equal = comparison.max_diff == 0;
  std::string verdict = comparison.is_close ? (is_equal ? "equal" : "close") : "different";
  std::string remark;
  if (!comparison.is_close) {
    remark = fmt::format("{} of {} elements; at {} {}, expected {}", comparison.num_mismatched,
                         comparison.num_elements, index_text(comparison.worst_index),
                         comparison.worst_actual, comparison.worst_expected);
  }
  return {{name, std::move(verdict), difference_text(comparison.max_diff),
           difference_text(comparison.mean_diff), std::move(remark)},
          comparison.is_close};
}

Result only_in(const std::string& name, const std::string& path) {
  return {{name, "missing", "-", "-", "only in " + path}, false};
}

// The tensors of the first file in its order, then those that only the second one has.
std::vector<Result> compare_files(const Arguments& arguments) {
  const StateDict actual = load_weights(arguments.actual);
  const StateDict expected = load_weights(arguments.expected);
  std::vector<Result> results;
  for (const auto& item : actual) {
    const at::Tensor* other = expected.find(item.key());
    results.push_back(other == nullptr ? only_in(item.key(), arguments.actual)
                                       : compare_both(item.key(), item.value(), *other,
                                                      arguments.tolerance));
  }
  for (const auto& item : expected) {
    if (!actual.contains(item.key())) results.push_back(only_in(item.key(), arguments.expected));
  }
  return results;
}

void print_table(const std::vector<Result>& results, std::ostream& out) {
  std::vector<Row> rows = {{"tensor", "result", "max diff", "mean diff", "remark"}};
  for (const Result& result : results) rows.push_back(result.row);
  std::array<size_t, std::tuple_size_v<Row>> widths = {};
  for (const Row& row : rows) {
    for (size_t i = 0; i + 1 < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const Row& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) line += fmt::format("{:<{}}  ", row[i], widths[i]);
    out << line.substr(0, line.find_last_not_of(' ') + 1) << '\n';
  }
}

int run(const Arguments& arguments, Console& console) {
  const std::vector<Result> results = compare_files(arguments);
  const auto num_close = std::ranges::count_if(results, &Result::is_close);
  print_table(results, console.talk());
  console.talk() << fmt::format("{} of {} tensors agree (rtol {}, atol {})\n", num_close,
                                results.size(), arguments.tolerance.rtol,
                                arguments.tolerance.atol);
  return num_close == static_cast<int64_t>(results.size()) ? kDone : kDifferent;
}

Command::Action declare(CLI::App& parser) {
  const auto arguments = std::make_shared<Arguments>();
  parser.add_option("A", arguments->actual, "The tensors (.safetensors or .pt)")
      ->required()
      ->type_name("");
  parser.add_option("B", arguments->expected, "Those that they should be")
      ->required()
      ->type_name("");
  add_tolerance_options(parser, arguments->tolerance);
  return [arguments](Console& console) { return run(*arguments, console); };
}

}  // namespace

Command compare_command() {
  return {.name = "compare",
          .summary = "Compare two tensor files, tensor by tensor",
          .examples = "  torch-ir compare outputs.safetensors expected.safetensors --atol 1e-6\n",
          .declare = declare};
}

}  // namespace torch_ir
