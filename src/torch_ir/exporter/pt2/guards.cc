#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "torch_ir/base/characters.h"
#include "torch_ir/base/error.h"
#include "torch_ir/exporter/pt2/read_program.h"
#include "torch_ir/ir/sym_expr.h"

// An archive stores guards as Python text on the arguments of the model: "(L['x']['a'].size()[0] %
// 4) == 0". This file puts the names of graph inputs in place of the arguments; IR::guards has a
// condition that cannot be read as the archive has it.
namespace torch_ir {
namespace {

// The length of the "['a b']", "[0]" or ".field" at the start of `text`; 0 if there is none, or a
// method.
size_t length_of_step(std::string_view text) {
  if (text.starts_with('[')) {
    const std::string_view end = text.starts_with("['")    ? "']"
                                 : text.starts_with("[\"") ? "\"]"
                                                           : "]";
    const size_t length = text.find(end);
    return length == std::string_view::npos ? 0 : length + end.size();
  }
  const size_t length = text.find_first_of("(.[", 1);
  const bool is_field = text.starts_with('.') && length < text.size() && text[length] != '(';
  return is_field ? length : 0;
}

// Removes the path of an argument from the start of `text` and returns the name that torch.export
// makes of it: "inputs_a_0" for "['inputs']['a'][0]".
std::string take_path(std::string_view& text) {
  std::string name;
  while (const size_t length = length_of_step(text)) {
    std::string_view key = text.substr(1, length - (text[0] == '[' ? 2 : 1));
    text.remove_prefix(length);
    if (key.starts_with('\'') || key.starts_with('"')) key = key.substr(1, key.size() - 2);
    if (!name.empty()) name += '_';
    for (size_t i = 0; i < key.size(); ++i) {
      if (key[i] == '\\') ++i;
      const char c = i < key.size() && is_alphanumeric(key[i]) ? key[i] : '_';
      name += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
  }
  return name;
}

// The graph input with that name, or, for "flat_args_2", with that number; empty if there is none.
std::string find_input(const Signature& signature, const std::string& name) {
  size_t index = 0;
  for (const PortSpec& input : signature.inputs) {
    const bool is_argument =
        input.kind == InputKind::kUserInput &&
        (input.role == PortSpec::Role::kFixed || input.role == PortSpec::Role::kValue);
    if (!is_argument) continue;
    if (input.name == name || name == fmt::format("flat_args_{}", index)) return input.name;
    ++index;
  }
  return "";
}

std::optional<std::string> with_input_names(std::string_view guard, const Signature& signature) {
  std::string text;
  while (!guard.empty()) {
    if (!guard.starts_with("L[")) {
      text += guard.front();
      guard.remove_prefix(1);
      continue;
    }
    guard.remove_prefix(1);
    const std::string input = find_input(signature, take_path(guard));
    if (input.empty()) return std::nullopt;
    text += input;
  }
  return text;
}

std::string without_parentheses(const std::string& side) {
  int depth = 0;
  for (size_t i = 0; i < side.size() && side[0] == '('; ++i) {
    depth += (side[i] == '(' ? 1 : 0) - (side[i] == ')' ? 1 : 0);
    if (depth == 0) return i + 1 == side.size() ? side.substr(1, i - 1) : side;
  }
  return side;
}

// A size of an input as the graph has it, "s0"; anything else as it is.
std::string in_symbols(const std::string& side, const Program& program) {
  for (const GraphInput& input : program.inputs) {
    const Value& value = program[input.value];
    for (size_t d = 0; d < value.symbolic_shape.size(); ++d) {
      if (side == fmt::format("{}.size()[{}]", value.name, d)) return value.symbolic_shape[d];
    }
  }
  return side;
}

// Without parentheses around the sides of a comparison; empty if shapes say that they are equal.
std::string simplified(const std::string& guard, const Program& program) {
  const size_t op = guard.find_first_of("=!<>");
  const size_t begin = guard.find(' ', op) + 1;
  const bool is_one =
      op != 0 && begin != 0 && guard.find_first_of("=!<>", begin) == std::string::npos;
  if (!is_one) return guard;
  const std::string left = without_parentheses(guard.substr(0, op - 1));
  const std::string right = without_parentheses(guard.substr(begin));
  const bool is_implied =
      guard[op] == '=' && in_symbols(left, program) == in_symbols(right, program);
  return is_implied ? "" : left + guard.substr(op - 1, begin - op + 1) + right;
}

}  // namespace

std::vector<std::string> find_guards(const std::vector<std::string>& guards_code,
                                     const Signature& signature, const Program& program) {
  std::vector<std::string> guards;
  for (const std::string& code : guards_code) {
    std::string guard = with_input_names(code, signature).value_or(code);
    try {
      SymExpr::parse_condition(guard);
      guard = simplified(guard, program);
    } catch (const ValidationError&) {
      guard = code;
    }
    const bool is_new = std::ranges::find(guards, guard) == guards.end();
    if (is_new && !guard.empty()) guards.push_back(std::move(guard));
  }
  return guards;
}

}  // namespace torch_ir
