// SymExpr: an integer expression over symbols, such as a dynamic size, or a condition on them.
//
// An IR holds expressions as text, in the form that Python prints: "s0", "2*s0 + 1", "(s0 + 1)//2",
// "Mod(s0, 8)", "Max(1, u0)". They are never executed as code.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

namespace torch_ir {

using SymbolValues = std::unordered_map<std::string, int64_t>;
using SymNumber = std::variant<int64_t, double>;

// A node of the tree; its children are earlier entries of SymExpr::nodes.
struct SymNode {
  // An operator of Python ("neg" is the unary -), the name of a function, or empty for a leaf.
  std::string op;
  // For leaves: a symbol, or empty for a number.
  std::string symbol;
  SymNumber number = {};
  std::vector<size_t> children;
};

class SymExpr {
 public:
  // Grammar, with Python's precedence and associativity: integers, names, calls NAME(a, b, ...),
  // unary -, binary + - * / // % **, parentheses. Throws ValidationError for anything else, and for
  // text beyond 10,000 characters or 100 levels.
  static SymExpr parse(std::string_view text);

  // As above, for a condition of Python: also or, and, not, comparisons (a <= b < c), | ^ &,
  // floats, names with dots ("math.floor(x)"), and symbols of the forms "x.size()[0]" and
  // "x.stride()[0]".
  static SymExpr parse_condition(std::string_view text);

  // Returns the value if all symbols are in `values`, every function is known (Mod, FloorDiv,
  // CeilDiv, Max, Min, CleanDiv, ...) and the result is a 64-bit integer; 0 or 1 for a condition.
  std::optional<int64_t> evaluate(const SymbolValues& values) const;

  // A function that evaluate() does not know, or that has the wrong number of arguments.
  std::optional<std::string> unknown_function() const;

  // In order of first appearance.
  std::vector<std::string> symbols() const;

  // The symbol, if the expression is nothing else.
  std::optional<std::string> as_symbol() const;

 private:
  // The last is the root.
  std::vector<SymNode> nodes_;
};

// Solves `expression` == `value` for `symbol`, given `values` of the other symbols. Empty unless
// the expression is linear in `symbol` and has an integer solution.
std::optional<int64_t> solve_linear(const SymExpr& expression, const std::string& symbol,
                                    int64_t value, const SymbolValues& values);

}  // namespace torch_ir
