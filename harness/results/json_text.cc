#include "harness/results/json_text.h"

#include <algorithm>
#include <string_view>

namespace torch_ir {
namespace {

using json_fields::Json;

std::string scalar_text(const Json& value) {
  return value.dump(-1, ' ', true, Json::error_handler_t::replace);
}

bool is_one_line(const Json& value) {
  return value.is_array() &&
         std::ranges::none_of(value, [](const Json& item) { return item.is_structured(); });
}

void append(const Json& value, const std::string& indent, std::string& text) {
  if (!value.is_structured() || value.empty()) {
    text += scalar_text(value);
    return;
  }
  const bool one_line = is_one_line(value);
  const std::string deeper = indent + "  ";
  std::string_view separator = "";
  text += value.is_object() ? '{' : '[';
  for (const auto& [key, item] : value.items()) {
    text += separator;
    separator = one_line ? ", " : ",";
    if (!one_line) text += '\n' + deeper;
    if (value.is_object()) text += scalar_text(key) + ": ";
    append(item, deeper, text);
  }
  if (!one_line) text += '\n' + indent;
  text += value.is_object() ? '}' : ']';
}

}  // namespace

std::string json_text(const Json& json) {
  std::string text;
  append(json, "", text);
  return text + '\n';
}

}  // namespace torch_ir
