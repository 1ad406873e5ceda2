#include "torch_ir/visualize/labels.h"

#include <cstddef>

namespace torch_ir {
namespace {

constexpr size_t kMaxNameCharacters = 100;
constexpr size_t kMaxIdentifierCharacters = 64;
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD
constexpr std::string_view kEllipsis = "...";

bool is_ascii_alphanumeric(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

// The length of the UTF-8 sequence at the start of `text`, or 0 when there is none. Overlong forms,
// surrogates and values above U+10FFFF are none.
size_t sequence_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const bool overlong = (lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xF0 && byte(1) < 0x90);
  const bool surrogate = lead == 0xED && byte(1) >= 0xA0;
  const bool too_large = lead == 0xF4 && byte(1) >= 0x90;
  return overlong || surrogate || too_large ? 0 : length;
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
    const size_t length = sequence_length(name);
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
