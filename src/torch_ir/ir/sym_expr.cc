#include "torch_ir/ir/sym_expr.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <span>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/limits.h"
#include "torch_ir/base/printable.h"

namespace torch_ir {
namespace {

bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

class Parser {
 public:
  Parser(std::string_view text, std::vector<SymNode>& nodes) : text_(text), nodes_(nodes) {}

  void parse() {
    if (text_.size() > kMaxExpressionLength)
      fail(fmt::format("is longer than {} characters", kMaxExpressionLength));
    parse_sum(1);
    skip_spaces();
    if (position_ < text_.size()) fail_here();
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw ValidationError(
        fmt::format("the expression '{}' {}", printable(text_.substr(0, 80)), what));
  }

  [[noreturn]] void fail_here() const {
    fail(fmt::format("has a syntax error at character {}", position_ + 1));
  }

  void skip_spaces() {
    while (position_ < text_.size() && text_[position_] == ' ') ++position_;
  }

  bool accept(std::string_view token) {
    skip_spaces();
    if (!text_.substr(position_).starts_with(token)) return false;
    position_ += token.size();
    return true;
  }

  size_t add(SymNode node) {
    nodes_.push_back(std::move(node));
    return nodes_.size() - 1;
  }

  void check_depth(int depth) const {
    if (depth > kMaxExpressionDepth) {
      fail(fmt::format("is nested deeper than {} levels", kMaxExpressionDepth));
    }
  }

  size_t parse_sum(int depth) {
    check_depth(depth);
    size_t left = parse_product(depth);
    while (true) {
      const char* op = accept("+") ? "+" : accept("-") ? "-" : nullptr;
      if (op == nullptr) return left;
      left = add({op, {}, 0, {left, parse_product(depth)}});
    }
  }

  size_t parse_product(int depth) {
    size_t left = parse_unary(depth + 1);
    while (true) {
      skip_spaces();
      const std::string_view rest = text_.substr(position_);
      const auto* const op = std::ranges::find_if(
          kProductOperators, [&](std::string_view token) { return rest.starts_with(token); });
      if (op == std::end(kProductOperators)) return left;
      position_ += op->size();
      left = add({std::string(*op), {}, 0, {left, parse_unary(depth + 1)}});
    }
  }

  size_t parse_unary(int depth) {
    check_depth(depth);
    if (accept("-")) return add({"neg", {}, 0, {parse_unary(depth + 1)}});
    const size_t base = parse_atom(depth);
    if (accept("**")) return add({"**", {}, 0, {base, parse_unary(depth + 1)}});
    return base;
  }

  size_t parse_atom(int depth) {
    if (accept("(")) {
      const size_t inner = parse_sum(depth + 1);
      if (!accept(")")) fail_here();
      return inner;
    }
    skip_spaces();
    if (position_ == text_.size()) fail("ends unexpectedly");
    if (is_digit(text_[position_])) return parse_number();
    if (!is_name_start(text_[position_])) fail_here();
    std::string name = parse_name();
    if (!accept("(")) return add({{}, std::move(name), 0, {}});
    SymNode call{std::move(name), {}, 0, {}};
    if (!accept(")")) {
      do call.children.push_back(parse_sum(depth + 1));
      while (accept(","));
      if (!accept(")")) fail_here();
    }
    return add(std::move(call));
  }

  size_t parse_number() {
    int64_t number = 0;
    const char* const begin = text_.data() + position_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), number);
    if (error != std::errc()) fail("has a number beyond 64 bits");
    position_ += static_cast<size_t>(end - begin);
    return add({{}, {}, number, {}});
  }

  std::string parse_name() {
    const size_t begin = position_;
    while (position_ < text_.size() &&
           (is_name_start(text_[position_]) || is_digit(text_[position_]))) {
      ++position_;
    }
    return std::string(text_.substr(begin, position_ - begin));
  }

  // "//" before "/". parse_unary has already consumed any "**".
  static constexpr std::string_view kProductOperators[] = {"*", "//", "/", "%"};

  std::string_view text_;
  std::vector<SymNode>& nodes_;
  size_t position_ = 0;
};

using Value = std::optional<int64_t>;
using Values = std::span<const int64_t>;

__extension__ using Wide = __int128;

Value checked(Wide value) {
  const bool fits = value >= INT64_MIN && value <= INT64_MAX;
  return fits ? Value(static_cast<int64_t>(value)) : std::nullopt;
}

Value multiply(Values x) {
  Value result = 1;
  for (size_t i = 0; i < x.size() && result; ++i) result = checked(Wide{*result} * x[i]);
  return result;
}

bool can_divide(Values x) { return x[1] != 0 && !(x[0] == INT64_MIN && x[1] == -1); }

Value floor_divide(Values x) {
  if (!can_divide(x)) return std::nullopt;
  const int64_t quotient = x[0] / x[1];
  const bool is_rounded_up = x[0] % x[1] != 0 && (x[0] < 0) != (x[1] < 0);
  return quotient - (is_rounded_up ? 1 : 0);
}

Value modulo(Values x) {
  const Value quotient = floor_divide(x);
  if (!quotient) return std::nullopt;
  return x[0] - *quotient * x[1];
}

Value ceil_divide(Values x) {
  const Value quotient = floor_divide(x);
  if (!quotient) return std::nullopt;
  return *quotient + (x[0] % x[1] != 0 ? 1 : 0);
}

Value exact_divide(Values x) {
  if (!can_divide(x) || x[0] % x[1] != 0) return std::nullopt;
  return x[0] / x[1];
}

Value power(Values x) {
  if (x[1] < 0 || x[1] > 64) return std::nullopt;
  return multiply(std::vector<int64_t>(static_cast<size_t>(x[1]), x[0]));
}

struct Function {
  Value (*evaluate)(Values);
  size_t min_arguments;
  size_t max_arguments;
};

// Operators, and the functions of sympy and torch.utils._sympy.functions.
const Function* find_function(const std::string& name) {
  constexpr size_t kAny = SIZE_MAX;
  static const std::unordered_map<std::string, Function> table = {
      {"+",
       {[](Values x) { return checked(std::accumulate(x.begin(), x.end(), Wide{0})); }, 2, kAny}},
      {"-", {[](Values x) { return checked(Wide{x[0]} - x[1]); }, 2, 2}},
      {"*", {multiply, 2, kAny}},
      {"/", {exact_divide, 2, 2}},
      {"//", {floor_divide, 2, 2}},
      {"%", {modulo, 2, 2}},
      {"**", {power, 2, 2}},
      {"neg", {[](Values x) { return checked(-Wide{x[0]}); }, 1, 1}},
      {"FloorDiv", {floor_divide, 2, 2}},
      {"CleanDiv", {exact_divide, 2, 2}},
      {"CeilDiv", {ceil_divide, 2, 2}},
      {"Mod", {modulo, 2, 2}},
      {"PythonMod", {modulo, 2, 2}},
      {"PowByNatural", {power, 2, 2}},
      {"Max", {[](Values x) { return Value(std::ranges::max(x)); }, 1, kAny}},
      {"Min", {[](Values x) { return Value(std::ranges::min(x)); }, 1, kAny}},
      {"Identity", {[](Values x) { return Value(x[0]); }, 1, 1}},
  };
  const auto found = table.find(name);
  return found == table.end() ? nullptr : &found->second;
}

const Function* callable(const SymNode& node) {
  const Function* function = find_function(node.op);
  const bool is_callable = function != nullptr && node.children.size() >= function->min_arguments &&
                           node.children.size() <= function->max_arguments;
  return is_callable ? function : nullptr;
}

}  // namespace

SymExpr SymExpr::parse(std::string_view text) {
  SymExpr expression;
  Parser(text, expression.nodes_).parse();
  return expression;
}

std::optional<std::string> SymExpr::unknown_function() const {
  for (const SymNode& node : nodes_) {
    if (!node.op.empty() && callable(node) == nullptr) return node.op;
  }
  return std::nullopt;
}

std::optional<int64_t> SymExpr::evaluate(const SymbolValues& values) const {
  std::vector<int64_t> results;
  std::vector<int64_t> arguments;
  results.reserve(nodes_.size());
  for (const SymNode& node : nodes_) {
    if (!node.symbol.empty()) {
      const auto found = values.find(node.symbol);
      if (found == values.end()) return std::nullopt;
      results.push_back(found->second);
      continue;
    }
    if (node.op.empty()) {
      results.push_back(node.number);
      continue;
    }
    const Function* function = callable(node);
    if (function == nullptr) return std::nullopt;
    arguments.clear();
    for (const size_t child : node.children) arguments.push_back(results[child]);
    const Value result = function->evaluate(arguments);
    if (!result) return std::nullopt;
    results.push_back(*result);
  }
  return results.back();
}

std::vector<std::string> SymExpr::symbols() const {
  std::vector<std::string> symbols;
  for (const SymNode& node : nodes_) {
    const bool is_new =
        !node.symbol.empty() && std::ranges::find(symbols, node.symbol) == symbols.end();
    if (is_new) symbols.push_back(node.symbol);
  }
  return symbols;
}

std::optional<std::string> SymExpr::as_symbol() const {
  if (nodes_.size() != 1 || nodes_[0].symbol.empty()) return std::nullopt;
  return nodes_[0].symbol;
}

std::optional<int64_t> solve_linear(const SymExpr& expression, const std::string& symbol,
                                    int64_t value, const SymbolValues& values) {
  SymbolValues trial;
  for (const std::string& other : expression.symbols()) {
    if (const auto found = values.find(other); found != values.end()) trial.insert(*found);
  }
  const auto at = [&](int64_t x) {
    trial[symbol] = x;
    return expression.evaluate(trial);
  };
  // An expression with divisions has a value only for some arguments, so probe two multiples of a
  // number that most sizes divide.
  constexpr int64_t kStep = 5040;
  const Value origin = at(0);
  const Value step = at(kStep);
  if (!origin || !step) return std::nullopt;
  int64_t rise = 0;
  int64_t wanted = 0;
  int64_t scaled = 0;
  const bool overflows = __builtin_sub_overflow(*step, *origin, &rise) ||
                         __builtin_sub_overflow(value, *origin, &wanted) ||
                         __builtin_mul_overflow(wanted, kStep, &scaled);
  if (overflows || rise == 0) return std::nullopt;
  const int64_t solution = scaled / rise;
  return at(solution) == Value(value) ? Value(solution) : std::nullopt;
}

}  // namespace torch_ir
