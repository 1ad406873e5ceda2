#include "torch_ir/visualize/labels.h"

#include <cstddef>

#include "torch_ir/base/printable.h"

namespace torch_ir {
namespace {

constexpr size_t kMaxNameCharacters = 100;
constexpr size_t kMaxIdentifierCharacters = 64;
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD
constexpr std::string_view kEllipsis = "...";

bool is_ascii_alphanumeric(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

// C0, DEL and C1.
bool is_control(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return first < 0x20 || first == 0x7F;
  return first == 0xC2 && static_cast<unsigned char>(character[1]) < 0xA0;
}

}  // namespace

std::string printable_name(std::string_view name) {
  std::string text;
  size_t count = 0;
  while (!name.empty()) {
    if (++count > kMaxNameCharacters) {
      text += kEllipsis;
      break;
    }
    const size_t length = character_size(name);
    const std::string_view character = length == 0 ? kReplacement : name.substr(0, length);
    text += is_control(character) ? " " : character;
    name.remove_prefix(length == 0 ? 1 : length);
  }
  const size_t begin = text.find_first_not_of(' ');
  if (begin == std::string::npos) return "(no name)";
  return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

std::string operator_label(std::string_view op_type) {
  constexpr std::string_view kNamespace = "aten.";
  constexpr std::string_view kOverload = ".default";
  std::string_view label = op_type;
  if (label.starts_with(kNamespace)) label.remove_prefix(kNamespace.size());
  if (label.ends_with(kOverload)) label.remove_suffix(kOverload.size());
  return std::string(label.empty() ? op_type : label);
}

std::string Identifiers::make(std::string_view prefix, std::string_view name) {
  std::string base(prefix);
  base += name;
  if (base.size() > kMaxIdentifierCharacters) base.resize(kMaxIdentifierCharacters);
  for (char& c : base) {
    if (!is_ascii_alphanumeric(c)) c = '_';
  }
  std::string identifier = base;
  for (int64_t i = 2; !taken_.insert(identifier).second; ++i) {
    identifier = base + "_" + std::to_string(i);
  }
  return identifier;
}

}  // namespace torch_ir
