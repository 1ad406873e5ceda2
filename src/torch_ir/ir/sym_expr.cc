#include "torch_ir/ir/sym_expr.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <span>
#include <utility>

#include "torch_ir/base/characters.h"
#include "torch_ir/base/error.h"
#include "torch_ir/base/limits.h"
#include "torch_ir/base/printable.h"

namespace torch_ir {
namespace {

// Binary operators, the loosest first; "//" before "/", and "<=" before "<".
constexpr std::array<std::array<std::string_view, 6>, 8> kLevels = {{
    {"or"},
    {"and"},
    {"==", "!=", "<=", ">=", "<", ">"},
    {"|"},
    {"^"},
    {"&"},
    {"+", "-"},
    {"*", "//", "/", "%"},
}};
constexpr size_t kComparison = 2;
constexpr size_t kSum = 6;

class Parser {
 public:
  // Expressions have operators from `loosest` on.
  Parser(std::string_view text, size_t loosest, std::vector<SymNode>& nodes)
      : text_(text), loosest_(loosest), nodes_(nodes) {}

  void parse() {
    if (text_.size() > kMaxExpressionLength)
      fail(fmt::format("is longer than {} characters", kMaxExpressionLength));
    parse_level(loosest_, 1);
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
    const std::string_view rest = text_.substr(position_);
    if (token.empty() || !rest.starts_with(token)) return false;
    const bool is_word = is_name_start(token[0]);
    if (is_word && rest.size() > token.size() && is_name_part(rest[token.size()])) return false;
    position_ += token.size();
    return true;
  }

  bool is_condition() const { return loosest_ < kSum; }

  size_t add(SymNode node) {
    nodes_.push_back(std::move(node));
    return nodes_.size() - 1;
  }

  void check_depth(int depth) const {
    if (depth > kMaxExpressionDepth) {
      fail(fmt::format("is nested deeper than {} levels", kMaxExpressionDepth));
    }
  }

  size_t parse_level(size_t level, int depth) {
    check_depth(depth);
    if (level == kLevels.size()) return parse_unary(depth + 1);
    if (level == kComparison && accept("not")) {
      return add({"not", {}, {}, {parse_level(level, depth + 1)}});
    }
    size_t result = parse_level(level + 1, depth);
    size_t left = result;
    for (bool is_first = true;; is_first = false) {
      const auto* const op = std::ranges::find_if(
          kLevels[level], [&](std::string_view token) { return accept(token); });
      if (op == kLevels[level].end()) return result;
      const size_t right = parse_level(level + 1, depth);
      const size_t both = add({std::string(*op), {}, {}, {left, right}});
      // Python's "a < b < c" is "a < b and b < c".
      const bool is_chain = level == kComparison && !is_first;
      result = is_chain ? add({"and", {}, {}, {result, both}}) : both;
      left = level == kComparison ? right : result;
    }
  }

  size_t parse_unary(int depth) {
    check_depth(depth);
    if (accept("-")) return add({"neg", {}, {}, {parse_unary(depth + 1)}});
    const size_t base = parse_atom(depth);
    if (accept("**")) return add({"**", {}, {}, {base, parse_unary(depth + 1)}});
    return base;
  }

  size_t parse_atom(int depth) {
    if (accept("(")) {
      const size_t inner = parse_level(loosest_, depth + 1);
      if (!accept(")")) fail_here();
      return inner;
    }
    skip_spaces();
    if (position_ == text_.size()) fail("ends unexpectedly");
    if (is_digit(text_[position_])) return parse_number();
    if (!is_name_start(text_[position_])) fail_here();
    std::string name = parse_name();
    if (!accept("(")) return add({{}, std::move(name), {}, {}});
    SymNode call{std::move(name), {}, {}, {}};
    if (!accept(")")) {
      do call.children.push_back(parse_level(loosest_, depth + 1));
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
    const bool is_float = end != text_.data() + text_.size() && (*end == '.' || *end == 'e');
    if (!is_condition() || !is_float) {
      position_ += static_cast<size_t>(end - begin);
      return add({{}, {}, number, {}});
    }
    const std::string rest(text_.substr(position_));
    char* float_end = nullptr;
    const double value = std::strtod(rest.c_str(), &float_end);
    position_ += static_cast<size_t>(float_end - rest.c_str());
    return add({{}, {}, value, {}});
  }

  std::string parse_name() {
    const size_t begin = position_;
    const auto skip_name = [&] {
      while (position_ < text_.size() && is_name_part(text_[position_])) ++position_;
    };
    skip_name();
    while (is_condition() && text_.substr(position_).starts_with('.')) {
      ++position_;
      skip_name();
    }
    // "x.size()[0]"
    if (is_condition() && text_.substr(position_).starts_with("()[")) {
      position_ = std::min(text_.find(']', position_), text_.size() - 1) + 1;
    }
    return std::string(text_.substr(begin, position_ - begin));
  }

  std::string_view text_;
  size_t loosest_;
  std::vector<SymNode>& nodes_;
  size_t position_ = 0;
};

using Result = std::optional<int64_t>;
using Values = std::span<const int64_t>;
using Reals = std::span<const double>;

__extension__ using Wide = __int128;

Result checked(Wide value) {
  const bool fits = value >= INT64_MIN && value <= INT64_MAX;
  return fits ? Result(static_cast<int64_t>(value)) : std::nullopt;
}

Result multiply(Values x) {
  Result result = 1;
  for (size_t i = 0; i < x.size() && result; ++i) result = checked(Wide{*result} * x[i]);
  return result;
}

bool can_divide(Values x) { return x[1] != 0 && !(x[0] == INT64_MIN && x[1] == -1); }

Result floor_divide(Values x) {
  if (!can_divide(x)) return std::nullopt;
  const int64_t quotient = x[0] / x[1];
  const bool is_rounded_up = x[0] % x[1] != 0 && (x[0] < 0) != (x[1] < 0);
  return quotient - (is_rounded_up ? 1 : 0);
}

Result modulo(Values x) {
  const Result quotient = floor_divide(x);
  if (!quotient) return std::nullopt;
  return x[0] - *quotient * x[1];
}

Result ceil_divide(Values x) {
  const Result quotient = floor_divide(x);
  if (!quotient) return std::nullopt;
  return *quotient + (x[0] % x[1] != 0 ? 1 : 0);
}

Result exact_divide(Values x) {
  if (!can_divide(x) || x[0] % x[1] != 0) return std::nullopt;
  return x[0] / x[1];
}

Result power(Values x) {
  if (x[1] < 0 || x[1] > 64) return std::nullopt;
  return multiply(std::vector<int64_t>(static_cast<size_t>(x[1]), x[0]));
}

struct Function {
  // Null for a function of floats.
  Result (*evaluate)(Values);
  size_t min_arguments;
  size_t max_arguments;
  // For floats, and if `evaluate` has no result.
  double (*evaluate_real)(Reals) = nullptr;
};

template <class Op>
constexpr Function kRelation = {[](Values x) { return Result(Op()(x[0], x[1])); }, 2, 2,
                                [](Reals x) { return static_cast<double>(Op()(x[0], x[1])); }};

// Operators, the functions of sympy and torch.utils._sympy.functions, and those of guards.
const Function* find_function(const std::string& name) {
  constexpr size_t kAny = SIZE_MAX;
  constexpr Function kMax = {[](Values x) { return Result(std::ranges::max(x)); }, 1, kAny,
                             [](Reals x) { return std::ranges::max(x); }};
  constexpr Function kMin = {[](Values x) { return Result(std::ranges::min(x)); }, 1, kAny,
                             [](Reals x) { return std::ranges::min(x); }};
  static const std::unordered_map<std::string, Function> table = {
      {"+",
       {[](Values x) { return checked(std::accumulate(x.begin(), x.end(), Wide{0})); }, 2, kAny,
        [](Reals x) { return std::accumulate(x.begin(), x.end(), 0.0); }}},
      {"-",
       {[](Values x) { return checked(Wide{x[0]} - x[1]); }, 2, 2,
        [](Reals x) { return x[0] - x[1]; }}},
      {"*",
       {multiply, 2, kAny,
        [](Reals x) { return std::accumulate(x.begin(), x.end(), 1.0, std::multiplies<>()); }}},
      {"/", {exact_divide, 2, 2, [](Reals x) { return x[0] / x[1]; }}},
      {"//", {floor_divide, 2, 2}},
      {"%", {modulo, 2, 2}},
      {"**", {power, 2, 2, [](Reals x) { return std::pow(x[0], x[1]); }}},
      {"neg", {[](Values x) { return checked(-Wide{x[0]}); }, 1, 1, [](Reals x) { return -x[0]; }}},
      {"==", kRelation<std::equal_to<>>},
      {"!=", kRelation<std::not_equal_to<>>},
      {"<=", kRelation<std::less_equal<>>},
      {">=", kRelation<std::greater_equal<>>},
      {"<", kRelation<std::less<>>},
      {">", kRelation<std::greater<>>},
      {"and", kRelation<std::logical_and<>>},
      {"or", kRelation<std::logical_or<>>},
      {"not", {[](Values x) { return Result(x[0] == 0); }, 1, 1}},
      {"|", {[](Values x) { return Result(x[0] | x[1]); }, 2, 2}},
      {"^", {[](Values x) { return Result(x[0] ^ x[1]); }, 2, 2}},
      {"&", {[](Values x) { return Result(x[0] & x[1]); }, 2, 2}},
      {"FloorDiv", {floor_divide, 2, 2}},
      {"CleanDiv", {exact_divide, 2, 2}},
      {"CeilDiv", {ceil_divide, 2, 2}},
      {"Mod", {modulo, 2, 2}},
      {"PythonMod", {modulo, 2, 2}},
      {"PowByNatural", {power, 2, 2}},
      {"Max", kMax},
      {"Min", kMin},
      {"max", kMax},
      {"min", kMin},
      {"Identity", {[](Values x) { return Result(x[0]); }, 1, 1}},
      {"abs",
       {[](Values x) { return checked(x[0] < 0 ? -Wide{x[0]} : Wide{x[0]}); }, 1, 1,
        [](Reals x) { return std::abs(x[0]); }}},
      {"round", {nullptr, 1, 1, [](Reals x) { return std::nearbyint(x[0]); }}},
      {"math.floor", {nullptr, 1, 1, [](Reals x) { return std::floor(x[0]); }}},
      {"math.ceil", {nullptr, 1, 1, [](Reals x) { return std::ceil(x[0]); }}},
      {"math.trunc", {nullptr, 1, 1, [](Reals x) { return std::trunc(x[0]); }}},
      {"torch.sym_float", {nullptr, 1, 1, [](Reals x) { return x[0]; }}},
      {"torch._sym_sqrt", {nullptr, 1, 1, [](Reals x) { return std::sqrt(x[0]); }}},
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

std::optional<SymNumber> call(const Function& function, const std::vector<SymNumber>& arguments) {
  std::vector<int64_t> integers;
  std::vector<double> reals;
  for (const SymNumber& argument : arguments) {
    if (const auto* integer = std::get_if<int64_t>(&argument)) integers.push_back(*integer);
    reals.push_back(std::visit([](auto number) { return static_cast<double>(number); }, argument));
  }
  if (function.evaluate != nullptr && integers.size() == arguments.size()) {
    if (const Result value = function.evaluate(integers)) return *value;
  }
  if (function.evaluate_real == nullptr) return std::nullopt;
  const double value = function.evaluate_real(reals);
  // From 2**53 on a double does not hold every integer.
  if (value == std::trunc(value) && std::abs(value) < 0x1p53) return static_cast<int64_t>(value);
  return std::isfinite(value) ? std::optional<SymNumber>(value) : std::nullopt;
}

}  // namespace

SymExpr SymExpr::parse(std::string_view text) {
  SymExpr expression;
  Parser(text, kSum, expression.nodes_).parse();
  return expression;
}

SymExpr SymExpr::parse_condition(std::string_view text) {
  SymExpr expression;
  Parser(text, 0, expression.nodes_).parse();
  return expression;
}

std::optional<std::string> SymExpr::unknown_function() const {
  for (const SymNode& node : nodes_) {
    if (!node.op.empty() && callable(node) == nullptr) return node.op;
  }
  return std::nullopt;
}

std::optional<int64_t> SymExpr::evaluate(const SymbolValues& values) const {
  std::vector<SymNumber> results;
  std::vector<SymNumber> arguments;
  results.reserve(nodes_.size());
  for (const SymNode& node : nodes_) {
    if (!node.symbol.empty()) {
      const auto found = values.find(node.symbol);
      if (found == values.end()) return std::nullopt;
      results.emplace_back(found->second);
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
    const auto result = call(*function, arguments);
    if (!result) return std::nullopt;
    results.push_back(*result);
  }
  const auto* integer = std::get_if<int64_t>(&results.back());
  return integer == nullptr ? std::nullopt : Result(*integer);
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
  const Result origin = at(0);
  const Result step = at(kStep);
  if (!origin || !step) return std::nullopt;
  int64_t rise = 0;
  int64_t wanted = 0;
  int64_t scaled = 0;
  const bool overflows = __builtin_sub_overflow(*step, *origin, &rise) ||
                         __builtin_sub_overflow(value, *origin, &wanted) ||
                         __builtin_mul_overflow(wanted, kStep, &scaled);
  if (overflows || rise == 0) return std::nullopt;
  const int64_t solution = scaled / rise;
  return at(solution) == Result(value) ? Result(solution) : std::nullopt;
}

}  // namespace torch_ir
