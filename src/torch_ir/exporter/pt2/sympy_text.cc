#include "torch_ir/exporter/pt2/sympy_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "torch_ir/base/error.h"
#include "torch_ir/base/limits.h"
#include "torch_ir/base/printable.h"

namespace torch_ir {
namespace {

// The assumptions of sympy, and the precision of its floats.
constexpr std::string_view kKeywords[] = {
    "algebraic",   "antihermitian", "commutative",   "complex",  "composite",  "dps",
    "even",        "evaluate",      "extended_real", "finite",   "hermitian",  "imaginary",
    "infinite",    "integer",       "irrational",    "negative", "noninteger", "nonnegative",
    "nonpositive", "nonzero",       "odd",           "positive", "precision",  "prime",
    "rational",    "real",          "zero",
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_name_part(char c) { return is_name_start(c) || is_digit(c); }

// Functions of sympy, and of torch/utils/_sympy/functions.py; each between spaces.
constexpr std::string_view kFunctions =
    " Abs And BitwiseFn_bitwise_and BitwiseFn_bitwise_or BitwiseFn_bitwise_xor CeilDiv"
    " CeilToInt CleanDiv Equality ExprCondPair FloatPow FloatTrueDiv FloorToInt"
    " GreaterThan ITE Identity IntTrueDiv IsNonOverlappingAndDenseIndicator LShift"
    " LessThan Max Min Mod ModularIndexing Not Or Piecewise PowByNatural PythonMod RShift"
    " RoundDecimal RoundToInt StrictGreaterThan StrictLessThan ToFloat TruncToFloat"
    " TruncToInt Unequality Where Xor ceiling exp floor log sign ";

// Names in an expression that are not symbols.
constexpr std::string_view kConstants[] = {"true", "false", "oo", "int_oo"};

// How tightly the outermost operator of a text binds.
enum class Binding { kSum, kProduct, kSign, kPower, kAtom };

// A value of the text, already as it is to be written.
struct Term {
  // A leaf is a number, "-12"; a name, "oo"; or a string, 's0', without its quotes.
  enum class Kind { kExpression, kNumber, kName, kString };

  std::string text;
  Binding binding = Binding::kAtom;
  Kind kind = Kind::kExpression;
  // Of a quotient, whose parts are written apart in a product.
  std::string dividend = {};
  std::string divisor = {};
};

struct Call {
  std::string name;
  // Those given by name ("integer=True") left out.
  std::vector<Term> arguments;
};

// Reads the text once, and writes each call when it has read it.
class SreprReader {
 public:
  explicit SreprReader(std::string_view text) : text_(text) {}

  std::string read() {
    if (text_.size() > kMaxSerializedExpressionLength)
      fail(fmt::format("is longer than {} characters", kMaxSerializedExpressionLength));
    const Term root = parse_value(1);
    if (position_ < text_.size()) fail_here();
    if (root.kind == Term::Kind::kName) refuse("name", root.text);
    std::string text = operand(root, Binding::kSum);
    if (refusal_) throw *refusal_;
    return text;
  }

 private:
  // --- The text ---

  [[noreturn]] void fail(const std::string& what) const {
    throw ExportError(fmt::format("the expression '{}' {}", printable(text_.substr(0, 80)), what));
  }

  [[noreturn]] void fail_here() const {
    fail(fmt::format("is not understood at character {}", position_ + 1));
  }

  char peek() const { return position_ < text_.size() ? text_[position_] : '\0'; }

  bool accept(char c) {
    if (peek() != c) return false;
    ++position_;
    return true;
  }

  std::string take_while(bool (*belongs)(char)) {
    const size_t begin = position_;
    while (position_ < text_.size() && belongs(text_[position_])) ++position_;
    return std::string(text_.substr(begin, position_ - begin));
  }

  Term parse_value(int depth) {
    if (depth > kMaxExpressionDepth)
      fail(fmt::format("is nested deeper than {} levels", kMaxExpressionDepth));
    if (is_name_start(peek())) return parse_name(depth);
    if (peek() == '\'' || peek() == '"') return parse_string();
    const std::string sign = accept('-') ? "-" : "";
    const std::string digits = take_while(is_digit);
    if (digits.empty()) fail_here();
    return {sign + digits, sign.empty() ? Binding::kAtom : Binding::kSign, Term::Kind::kNumber};
  }

  Term parse_string() {
    const char quote = text_[position_++];
    const size_t end = text_.find(quote, position_);
    if (end == std::string_view::npos) fail_here();
    std::string content(text_.substr(position_, end - position_));
    position_ = end + 1;
    return {std::move(content), Binding::kAtom, Term::Kind::kString};
  }

  Term parse_name(int depth) {
    Call call{take_while(is_name_part), {}};
    if (!accept('(')) return {std::move(call.name), Binding::kAtom, Term::Kind::kName};
    if (accept(')')) return write(call);
    do {
      while (accept(' ')) {
      }
      parse_argument(depth, call);
    } while (accept(','));
    if (!accept(')')) fail_here();
    return write(call);
  }

  // What a symbol is assumed to be and how precise a float is, which are given by name, is left
  // out.
  void parse_argument(int depth, Call& call) {
    Term value = parse_value(depth + 1);
    if (value.kind != Term::Kind::kName || !accept('=')) {
      return call.arguments.push_back(std::move(value));
    }
    if (std::ranges::find(kKeywords, value.text) == std::end(kKeywords)) {
      fail(fmt::format("has the unknown argument '{}'", printable(value.text)));
    }
    parse_value(depth + 1);
  }

  // --- The terms ---

  // Says so when the whole text has been read: a text that is no expression at all is worse.
  Term refuse(const char* what, const std::string& text, bool is_unsupported = false) {
    const std::string message = fmt::format(
        "an expression has the {} '{}', which is not understood", what, printable(text));
    if (!refusal_) {
      refusal_ = is_unsupported ? ExportError(kNotSupported, message) : ExportError(message);
    }
    return {};
  }

  // The text of `term` as an operand of an operator that needs at least `binding`.
  std::string operand(const Term& term, Binding binding) {
    if (term.kind == Term::Kind::kString) refuse("string", term.text);
    if (term.kind == Term::Kind::kName &&
        std::ranges::find(kConstants, term.text) == std::end(kConstants)) {
      refuse("name", term.text);
    }
    return term.binding >= binding ? term.text : "(" + term.text + ")";
  }

  static bool is_leaf(const Call& call, Term::Kind kind) {
    return call.arguments.size() == 1 && call.arguments[0].kind == kind;
  }

  Term write_symbol(const Call& call) {
    if (!is_leaf(call, Term::Kind::kString)) return refuse("call", call.name);
    const std::string& name = call.arguments[0].text;
    const bool is_name =
        !name.empty() && is_name_start(name[0]) && std::ranges::all_of(name, is_name_part);
    return is_name ? Term{name} : refuse("symbol", name);
  }

  Term write_integer(const Call& call) {
    if (!is_leaf(call, Term::Kind::kNumber)) return refuse("call", call.name);
    return {call.arguments[0].text, call.arguments[0].binding};
  }

  // A double is an integer times a power of two; where both parts fit, it is written so.
  Term write_float(const Call& call) {
    if (!is_leaf(call, Term::Kind::kString)) return refuse("call", call.name);
    const std::string& digits = call.arguments[0].text;
    char* end = nullptr;
    double value = std::strtod(digits.c_str(), &end);
    const bool is_number = !digits.empty() && *end == '\0' && std::isfinite(value);
    constexpr int kMaxShift = 62;
    int shift = 0;
    for (; is_number && value != std::floor(value) && shift < kMaxShift; ++shift) value *= 2;
    if (!is_number || value != std::floor(value) || std::abs(value) >= 0x1p62) {
      return refuse("float", digits);
    }
    const auto numerator = static_cast<int64_t>(value);
    if (shift > 0) {
      return {fmt::format("{}/{}", numerator, int64_t{1} << shift), Binding::kProduct};
    }
    return {std::to_string(numerator), numerator < 0 ? Binding::kSign : Binding::kAtom};
  }

  // The two arguments with `op` between them.
  Term write_binary(const Call& call, Binding left, const char* op, Binding result) {
    if (call.arguments.size() != 2) return refuse("call", call.name);
    return {operand(call.arguments[0], left) + op + operand(call.arguments[1], Binding::kAtom),
            result};
  }

  Term write_rational(const Call& call) {
    Term term = write_binary(call, Binding::kProduct, "/", Binding::kProduct);
    if (call.arguments.size() != 2) return term;
    term.dividend = operand(call.arguments[0], Binding::kSign);
    term.divisor = operand(call.arguments[1], Binding::kAtom);
    return term;
  }

  Term write_floor_division(const Call& call) {
    return write_binary(call, Binding::kAtom, "//", Binding::kProduct);
  }

  Term write_power(const Call& call) {
    if (call.arguments.size() != 2 || call.arguments[1].text != "-1") {
      return write_binary(call, Binding::kAtom, "**", Binding::kPower);
    }
    const std::string divisor = operand(call.arguments[0], Binding::kAtom);
    return {"1/" + divisor, Binding::kProduct, Term::Kind::kExpression, "1", divisor};
  }

  Term write_sum(const Call& call) {
    std::string text;
    for (const Term& argument : call.arguments) {
      const std::string term = operand(argument, Binding::kProduct);
      if (text.empty()) {
        text = term;
      } else if (term.starts_with('-')) {
        text += " - " + term.substr(1);
      } else {
        text += " + " + term;
      }
    }
    return {std::move(text), Binding::kSum};
  }

  // Factors before divisors: "s0*(s0 + 1)/2". A leading -1 is a sign.
  Term write_product(const Call& call) {
    const bool is_negative = call.arguments.size() > 1 && call.arguments[0].text == "-1";
    std::vector<std::string> factors;
    std::vector<std::string> divisors;
    for (size_t i = is_negative ? 1 : 0; i < call.arguments.size(); ++i) {
      const Term& argument = call.arguments[i];
      if (argument.divisor.empty()) {
        // A sign is read as part of the first factor only.
        factors.push_back(operand(argument, factors.empty() ? Binding::kSign : Binding::kPower));
        continue;
      }
      if (argument.dividend != "1") factors.push_back(argument.dividend);
      divisors.push_back(argument.divisor);
    }
    if (factors.empty()) factors.emplace_back("1");
    std::string text = (is_negative ? "-" : "") + fmt::format("{}", fmt::join(factors, "*"));
    for (const std::string& divisor : divisors) text += "/" + divisor;
    return {std::move(text), Binding::kProduct};
  }

  // One that stays a call.
  Term write_function(const Call& call) {
    const bool is_known = kFunctions.find(" " + call.name + " ") != std::string_view::npos ||
                          call.name.starts_with("OpaqueUnaryFn_");
    if (!is_known) return refuse("function", call.name, /*is_unsupported=*/true);
    std::vector<std::string> arguments;
    for (const Term& argument : call.arguments) {
      arguments.push_back(operand(argument, Binding::kSum));
    }
    return {fmt::format("{}({})", call.name, fmt::join(arguments, ", "))};
  }

  Term write(const Call& call) {
    using Writer = Term (SreprReader::*)(const Call&);
    static const std::unordered_map<std::string_view, Writer> kWriters = {
        {"Integer", &SreprReader::write_integer},
        {"Symbol", &SreprReader::write_symbol},
        {"Dummy", &SreprReader::write_symbol},
        {"Rational", &SreprReader::write_rational},
        {"Float", &SreprReader::write_float},
        {"Add", &SreprReader::write_sum},
        {"Mul", &SreprReader::write_product},
        {"Pow", &SreprReader::write_power},
        {"FloorDiv", &SreprReader::write_floor_division},
    };
    const auto found = kWriters.find(call.name);
    return (this->*(found == kWriters.end() ? &SreprReader::write_function : found->second))(call);
  }

  std::string_view text_;
  size_t position_ = 0;
  std::optional<ExportError> refusal_;
};

}  // namespace

std::string infix_of_srepr(std::string_view text) { return SreprReader(text).read(); }

}  // namespace torch_ir
