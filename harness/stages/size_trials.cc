#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "harness/stages/trials.h"
#include "torch_ir/analysis/cost.h"
#include "torch_ir/ir/sym_expr.h"
#include "torch_ir/runtime/graph/symbol_binder.h"

namespace torch_ir {
namespace {

// By symbol.
using Sizes = std::map<std::string, int64_t>;

// How far from the wanted sizes to look for allowed ones.
constexpr int64_t kMaxSteps = 64;

// What a run at the ends of the ranges may need; a trial has about four runs.
constexpr int64_t kMostBytes = 64'000'000;
constexpr int64_t kMostMultiplyAdds = 200'000'000;

// The symbols in the shapes of inputs, with their sizes in the example.
Sizes sizes_of_example(const Program& program, const std::vector<at::Tensor>& example) {
  Sizes sizes;
  const SymbolValues values = bind_symbols(program, example);
  std::set<std::string> numbers;
  for (const ValueId input : program.user_inputs()) {
    const Value& value = program[input];
    if (value.is_scalar && !value.expression.empty()) {
      const std::vector<std::string> symbols = SymExpr::parse(value.expression).symbols();
      numbers.insert(symbols.begin(), symbols.end());
    }
    for (const std::string& size : value.symbolic_shape) {
      if (size.empty()) continue;
      for (const std::string& symbol : SymExpr::parse(size).symbols()) {
        if (const auto known = values.find(symbol); known != values.end()) sizes.insert(*known);
      }
    }
  }
  for (const std::string& symbol : numbers) sizes.erase(symbol);
  return sizes;
}

// The least and the greatest size. With `most`, those of ranges with an end are only limited by
// that.
std::pair<int64_t, int64_t> ends_of(const Program& program, const std::string& symbol,
                                    int64_t example, bool most) {
  constexpr int64_t kLeastHigh = 4;
  int64_t low = 1;
  int64_t high = std::max(2 * example, kLeastHigh);
  for (const SymbolRange& range : program.range_constraints) {
    if (range.expression != symbol) continue;
    if (range.min) low = std::max(low, *range.min);
    if (range.max) high = most ? *range.max : std::min(high, *range.max);
  }
  return {low, high};
}

bool is_cheap(const Program& program, const Sizes& sizes) {
  const CostTotals cost = cost_of(at_sizes(program, {sizes.begin(), sizes.end()})).totals;
  return cost.not_counted.empty() && cost.num_unknown_sizes == 0 &&
         cost.input_bytes + cost.peak_bytes <= kMostBytes &&
         cost.multiply_adds <= kMostMultiplyAdds;
}

// `tensor` with `size` entries along `dim`, its own ones again and again, or each where it is if
// they are ordered; undefined without any.
at::Tensor repeated(const at::Tensor& tensor, int64_t dim, int64_t size) {
  const int64_t known = tensor.size(dim);
  if (known == size) return tensor;
  if (known == 0) return {};
  at::Tensor places = at::arange(size).remainder(known);
  if (is_ordered(tensor)) {
    places = (at::arange(size) * (known - 1)).floor_divide(std::max<int64_t>(size - 1, 1));
  }
  return tensor.index_select(dim, places);
}

// Ordered numbers, smaller if they would leave a size that they were within. `sizes` has each of
// the example with that of the trial.
at::Tensor within(const std::vector<std::pair<int64_t, int64_t>>& sizes,
                  const at::Tensor& numbers) {
  const auto most = numbers.numel() == 0 ? -1 : numbers.max().item<int64_t>();
  double factor = 1;
  for (const auto& [known, size] : sizes) {
    const bool leaves = most < known ? most >= size : most == known && most > size;
    if (leaves) factor = std::min(factor, static_cast<double>(size) / static_cast<double>(known));
  }
  if (factor == 1) return numbers;
  return numbers.to(at::kDouble).mul(factor).floor().to(numbers.scalar_type());
}

// Empty if a size has no value.
std::vector<at::Tensor> inputs_at(const Program& program, const Sizes& sizes,
                                  const std::vector<at::Tensor>& example) {
  const SymbolValues values(sizes.begin(), sizes.end());
  const std::vector<ValueId> ids = program.user_inputs();
  std::vector<at::Tensor> inputs = example;
  std::vector<std::pair<int64_t, int64_t>> changes;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::vector<std::string>& shape = program[ids[i]].symbolic_shape;
    for (size_t dim = 0; dim < shape.size(); ++dim) {
      if (shape[dim].empty()) continue;
      const auto size = SymExpr::parse(shape[dim]).evaluate(values);
      if (!size || *size < 0) return {};
      changes.emplace_back(example[i].sizes()[dim], *size);
      inputs[i] = repeated(inputs[i], static_cast<int64_t>(dim), *size);
      if (!inputs[i].defined()) return {};
    }
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (is_ordered(example[i])) inputs[i] = within(changes, inputs[i]);
  }
  return inputs;
}

Sizes moved_to(const Sizes& example, Sizes sizes, int64_t step) {
  for (auto& [symbol, size] : sizes) {
    size += std::clamp(example.at(symbol) - size, -step, step);
  }
  return sizes;
}

std::string name_of(const Sizes& sizes) {
  std::vector<std::string> parts;
  for (const auto& [symbol, size] : sizes) parts.push_back(fmt::format("{} = {}", symbol, size));
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

std::vector<TrialInputs> size_trials(const Program& program,
                                     const std::vector<at::Tensor>& example) {
  const Sizes known = sizes_of_example(program, example);
  if (known.empty()) return {};
  Sizes low;
  Sizes high;
  Sizes between;
  for (const bool most : {true, false}) {
    for (const auto& [symbol, size] : known) {
      std::tie(low[symbol], high[symbol]) = ends_of(program, symbol, size, most);
      between[symbol] = std::midpoint(low[symbol], high[symbol]);
    }
    if (most && is_cheap(program, high)) break;
  }
  std::vector<TrialInputs> trials;
  std::set<Sizes> tried = {known};
  for (const Sizes& wanted : {low, between, high}) {
    for (int64_t step = 0; step < kMaxSteps; ++step) {
      const Sizes sizes = moved_to(known, wanted, step);
      if (tried.contains(sizes)) break;
      std::vector<at::Tensor> inputs = inputs_at(program, sizes, example);
      if (inputs.empty() || !size_problems(program, inputs).empty()) continue;
      tried.insert(sizes);
      trials.push_back({name_of(sizes), std::move(inputs)});
      break;
    }
  }
  return trials;
}

}  // namespace torch_ir
