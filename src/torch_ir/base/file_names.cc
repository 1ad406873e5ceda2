#include "torch_ir/base/file_names.h"

#include <fmt/format.h>
#include <locale.h>
#include <wctype.h>

#include <algorithm>
#include <cstdint>

#include "torch_ir/base/characters.h"
#include "torch_ir/base/file.h"
#include "torch_ir/base/printable.h"

namespace torch_ir {
namespace {

struct CharacterRange {
  char32_t first;
  char32_t last;
};

// Characters beyond ASCII that file names spell out: blanks that nobody sees, and marks and
// compatibility characters of Latin, Greek, Cyrillic, kana, hangul and han, because file systems
// that normalise Unicode replace them.
constexpr CharacterRange kSpelledOut[] = {
    {0x00A0, 0x00A0}, {0x0300, 0x036F}, {0x0374, 0x0374}, {0x037E, 0x037E}, {0x0387, 0x0387},
    {0x1100, 0x11FF}, {0x2000, 0x200F}, {0x2028, 0x202F}, {0x2060, 0x206F}, {0x2126, 0x2126},
    {0x212A, 0x212B}, {0x3000, 0x3000}, {0x3099, 0x309A}, {0xF900, 0xFAFF}, {0xFEFF, 0xFEFF},
};

// Calls `visit` with each character; with a byte that is not UTF-8, too.
void for_each_character(std::string_view text, const auto& visit) {
  while (!text.empty()) {
    const size_t size = std::max<size_t>(1, first_character(text).length);
    visit(text.substr(0, size));
    text.remove_prefix(size);
  }
}

// `character` as file systems, HTML and shells can have it.
std::string in_file_name(std::string_view character) {
  if (character.size() == 1) {
    const char c = character[0];
    return is_alphanumeric(c) || c == '_' || c == '-' || c == '.' ? std::string(1, c) : "_";
  }
  if (printable(character) != character) return "_";
  const char32_t code = first_character(character).code;
  const bool is_spelled = std::ranges::any_of(kSpelledOut, [&](const CharacterRange& range) {
    return range.first <= code && code <= range.last;
  });
  return is_spelled ? fmt::format("_u{:04X}", static_cast<uint32_t>(code)) : std::string(character);
}

}  // namespace

std::string file_name_of(std::string_view text) {
  std::string name = text.empty() || text[0] == '.' ? "_" : "";
  for_each_character(text, [&](std::string_view character) {
    const std::string part = in_file_name(character);
    if (name.size() + part.size() <= kMaxNameBytes) name += part;
  });
  return name;
}

std::u32string without_case(std::string_view name) {
  static const locale_t unicode = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  std::u32string folded;
  for_each_character(name, [&](std::string_view character) {
    const char32_t code = first_character(character).code;
    folded += unicode == nullptr ? code : static_cast<char32_t>(towlower_l(code, unicode));
  });
  return folded;
}

}  // namespace torch_ir
