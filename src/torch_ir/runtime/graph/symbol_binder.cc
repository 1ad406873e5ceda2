#include "torch_ir/runtime/graph/symbol_binder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/base/text.h"

namespace torch_ir {

namespace {

constexpr size_t kMaxShownGuard = 100;
constexpr size_t kMaxListedGuards = 3;
constexpr size_t kMaxListedSizes = 8;

// The only symbol without a value; null if there are none or several.
const std::string* only_unknown(const std::vector<std::string>& symbols,
                                const SymbolValues& values) {
  const std::string* unknown = nullptr;
  for (const std::string& symbol : symbols) {
    if (values.contains(symbol)) continue;
    if (unknown != nullptr) return nullptr;
    unknown = &symbol;
  }
  return unknown;
}

int64_t number_of(const c10::IValue& input) {
  return input.isTensor() ? input.toTensor().item().toLong() : input.toInt();
}

}  // namespace

SymbolBinder::SymbolBinder(const Program& program) {
  const std::vector<ValueId> inputs = program.user_inputs();
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Value& input = program[inputs[i]];
    const auto add = [&](std::optional<size_t> dimension, const std::string& text) {
      if (text.empty()) return;
      const SymExpr expression = SymExpr::parse(text);
      for (const std::string& symbol : expression.symbols()) {
        sizes_with_[symbol].push_back(sizes_.size());
      }
      sizes_.push_back({i, dimension, input.name, text, expression, expression.symbols()});
    };
    const bool is_int = input.is_scalar && input.dtype == c10::kLong;
    if (is_int) add(std::nullopt, input.expression);
    for (size_t d = 0; d < input.symbolic_shape.size(); ++d) add(d, input.symbolic_shape[d]);
    if (program.guards.empty()) continue;
    if (is_int) guard_symbols_.push_back({input.name, i, std::nullopt, false});
    for (size_t d = 0; d < input.shape.size(); ++d) {
      guard_symbols_.push_back({fmt::format("{}.size()[{}]", input.name, d), i, d, false});
      guard_symbols_.push_back({fmt::format("{}.stride()[{}]", input.name, d), i, d, true});
    }
  }
  for (const SymbolRange& range : program.range_constraints) {
    ranges_.emplace_back(range, SymExpr::parse(range.expression));
  }
  for (const std::string& text : program.guards) {
    try {
      add_guard(text);
    } catch (const ValidationError& error) {
      unreadable_guards_.push_back(
          fmt::format("{}: {}", printable(text, kMaxShownGuard), error.what()));
    }
  }
}

void SymbolBinder::add_guard(const std::string& text) {
  SymExpr expression = SymExpr::parse_condition(text);
  if (const auto function = expression.unknown_function()) {
    throw ValidationError(fmt::format("unknown function '{}'", printable(*function)));
  }
  for (const std::string& symbol : expression.symbols()) {
    if (std::ranges::find(guard_symbols_, symbol, &GuardSymbol::name) == guard_symbols_.end()) {
      throw ValidationError(fmt::format("unknown size '{}'", printable(symbol)));
    }
  }
  guards_.emplace_back(text, std::move(expression));
}

std::string SymbolBinder::unchecked_text() const {
  if (unreadable_guards_.empty()) return "";
  const size_t count = unreadable_guards_.size();
  return fmt::format("Runs do not check {} of the model: {}",
                     count == 1 ? "a guard" : fmt::format("{} guards", count),
                     listed(unreadable_guards_, kMaxListedGuards));
}

void SymbolBinder::check_guards(const std::vector<c10::IValue>& inputs,
                                std::vector<std::string>& problems) const {
  if (guards_.empty()) return;
  SymbolValues values;
  for (const auto& [name, input, dimension, is_stride] : guard_symbols_) {
    const c10::IValue& value = inputs[input];
    values[name] = !dimension ? number_of(value)
                              : (is_stride ? value.toTensor().strides()
                                           : value.toTensor().sizes())[*dimension];
  }
  for (const auto& [text, expression] : guards_) {
    if (expression.evaluate(values) == 1) continue;
    const std::vector<std::string> symbols = expression.symbols();
    std::vector<std::string> got;
    for (const std::string& symbol : symbols) {
      const std::string name = symbols.size() == 1 ? "" : printable(symbol) + " = ";
      got.push_back(name + std::to_string(values.at(symbol)));
    }
    problems.push_back(
        fmt::format("Guard failed: {}, got {}", printable(text), listed(got, kMaxListedSizes)));
  }
}

SymbolValues SymbolBinder::bind(const std::vector<c10::IValue>& inputs) const {
  std::vector<std::string> problems;
  SymbolValues symbols = find(inputs, problems);
  if (!problems.empty()) throw ExecutionError(problem_list(problems, "the inputs"));
  return symbols;
}

SymbolValues SymbolBinder::find(const std::vector<c10::IValue>& inputs,
                                std::vector<std::string>& problems) const {
  std::vector<int64_t> values;
  values.reserve(sizes_.size());
  for (const Size& size : sizes_) {
    const c10::IValue& input = inputs[size.input];
    values.push_back(size.dimension ? input.toTensor().size(static_cast<int64_t>(*size.dimension))
                                    : number_of(input));
  }
  SymbolValues symbols;
  for (size_t i = 0; i < sizes_.size(); ++i) {
    if (const auto symbol = sizes_[i].expression.as_symbol()) symbols.emplace(*symbol, values[i]);
  }
  solve(values, symbols);
  check(values, symbols, problems);
  check_guards(inputs, problems);
  return symbols;
}

// Solves expressions with one unknown; each solution may leave others with one.
void SymbolBinder::solve(const std::vector<int64_t>& values, SymbolValues& symbols) const {
  std::vector<int64_t> num_unknown;
  std::vector<size_t> solvable;
  for (size_t i = 0; i < sizes_.size(); ++i) {
    num_unknown.push_back(std::ranges::count_if(
        sizes_[i].symbols, [&](const std::string& symbol) { return !symbols.contains(symbol); }));
    if (num_unknown[i] == 1) solvable.push_back(i);
  }
  for (size_t next = 0; next < solvable.size(); ++next) {
    const Size& size = sizes_[solvable[next]];
    const std::string* unknown = only_unknown(size.symbols, symbols);
    if (unknown == nullptr) continue;
    const auto solution = solve_linear(size.expression, *unknown, values[solvable[next]], symbols);
    if (!solution) continue;
    symbols.emplace(*unknown, *solution);
    for (const size_t i : sizes_with_.at(*unknown)) {
      if (--num_unknown[i] == 1) solvable.push_back(i);
    }
  }
}

void SymbolBinder::check(const std::vector<int64_t>& values, const SymbolValues& symbols,
                         std::vector<std::string>& problems) const {
  for (size_t i = 0; i < sizes_.size(); ++i) {
    const Size& size = sizes_[i];
    const auto expected = size.expression.evaluate(symbols);
    if (const std::string* unknown = only_unknown(size.symbols, symbols)) {
      problems.push_back(fmt::format("{} is {}, which is not {} for any {}.", place(size),
                                     values[i], size.text, *unknown));
    } else if (expected && *expected != values[i]) {
      problems.push_back(
          fmt::format("{} is {}, expected {} = {}.", place(size), values[i], size.text, *expected));
    }
  }
  for (const auto& [range, expression] : ranges_) {
    const auto value = expression.evaluate(symbols);
    if (!value) continue;
    // torch.export sets minimums up to 2 itself, as it specializes on 0 and 1, but its programs
    // accept smaller sizes.
    const bool is_small = range.min && *range.min > 2 && *value < *range.min;
    const bool is_large = range.max && *value > *range.max;
    if (!is_small && !is_large) continue;
    std::string where;
    for (const Size& size : sizes_) {
      if (size.text == range.expression) where = fmt::format(" ({})", place(size));
    }
    problems.push_back(fmt::format("{}{} is {}, but must be {} {}.", printable(range.expression),
                                   where, *value, is_small ? "at least" : "at most",
                                   is_small ? *range.min : *range.max));
  }
}

std::string SymbolBinder::place(const Size& size) {
  if (!size.dimension) return fmt::format("Input '{}'", printable(size.input_name));
  return fmt::format("Dimension {} of input '{}'", *size.dimension, printable(size.input_name));
}

SymbolValues bind_symbols(const Program& program, const std::vector<at::Tensor>& inputs) {
  return SymbolBinder(program).bind(std::vector<c10::IValue>(inputs.begin(), inputs.end()));
}

std::vector<std::string> size_problems(const Program& program,
                                       const std::vector<at::Tensor>& inputs) {
  std::vector<std::string> problems;
  SymbolBinder(program).find(std::vector<c10::IValue>(inputs.begin(), inputs.end()), problems);
  return problems;
}

bool has_shape(const at::Tensor& tensor, const Value& value, SymbolValues& symbols) {
  if (!is_dynamic(value)) return tensor.sizes() == value.shape;
  if (tensor.dim() != static_cast<int64_t>(value.shape.size())) return false;
  for (size_t i = 0; i < value.shape.size(); ++i) {
    const int64_t size = tensor.size(static_cast<int64_t>(i));
    if (value.symbolic_shape[i].empty()) {
      if (size != value.shape[i]) return false;
      continue;
    }
    const SymExpr expression = SymExpr::parse(value.symbolic_shape[i]);
    if (const auto symbol = expression.as_symbol()) symbols.emplace(*symbol, size);
    const auto expected = expression.evaluate(symbols);
    if (expected && *expected != size) return false;
  }
  return true;
}

}  // namespace torch_ir
