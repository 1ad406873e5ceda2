#include "torch_ir/base/printable.h"

#include <cstdint>
#include <cstdio>

namespace torch_ir {
namespace {

// The length of a character in bytes, and its code point; 0 where there is no UTF-8.
struct Character {
  size_t length;
  uint32_t code;
};

Character decode(std::string_view text) {
  struct Form {
    unsigned char mask, lead;
    size_t length;
    // Smaller ones have a shorter form, which is the only one that counts.
    uint32_t smallest;
  };
  constexpr Form kForms[] = {
      {0x80, 0x00, 1, 0}, {0xe0, 0xc0, 2, 0x80}, {0xf0, 0xe0, 3, 0x800}, {0xf8, 0xf0, 4, 0x10000}};
  const auto lead = static_cast<unsigned char>(text.front());
  for (const Form& form : kForms) {
    if ((lead & form.mask) != form.lead) continue;
    if (text.size() < form.length) break;
    uint32_t code = lead & static_cast<unsigned char>(~form.mask);
    for (size_t i = 1; i < form.length; ++i) {
      const auto next = static_cast<unsigned char>(text[i]);
      if ((next & 0xc0) != 0x80) return {0, 0};
      code = code << 6 | (next & 0x3f);
    }
    const bool is_surrogate = code >= 0xd800 && code <= 0xdfff;
    if (code < form.smallest || code > 0x10ffff || is_surrogate) break;
    return {form.length, code};
  }
  return {0, 0};
}

// What moves the cursor, ends the line or turns the direction of what follows.
bool is_control(uint32_t code) {
  struct Range {
    uint32_t first, last;
  };
  constexpr Range kControls[] = {{0x00, 0x1f},     {0x7f, 0x9f},     {0x61c, 0x61c},
                                 {0x200e, 0x200f}, {0x2028, 0x202e}, {0x2066, 0x2069}};
  for (const Range& range : kControls) {
    if (code >= range.first && code <= range.last) return true;
  }
  return false;
}

void append_escaped(std::string& result, std::string_view bytes) {
  for (const char byte : bytes) {
    char escape[5];
    std::snprintf(escape, sizeof(escape), "\\x%02x", static_cast<unsigned char>(byte));
    result += escape;
  }
}

}  // namespace

std::string printable(std::string_view text, size_t max_size) {
  std::string result;
  for (size_t i = 0; i < text.size();) {
    if (i >= max_size) return result + "...";
    const Character character = decode(text.substr(i));
    const size_t length = character.length == 0 ? 1 : character.length;
    const std::string_view bytes = text.substr(i, length);
    if (character.length == 0 || is_control(character.code)) {
      append_escaped(result, bytes);
    } else {
      result += bytes;
    }
    i += length;
  }
  return result;
}

}  // namespace torch_ir
