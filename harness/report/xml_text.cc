#include "harness/report/xml_text.h"

#include "torch_ir/base/printable.h"

namespace torch_ir {
namespace {

struct Replacement {
  std::string_view character;
  std::string_view xml;
};

constexpr Replacement kEverywhere[] = {
    {"&", "&amp;"},
    {"<", "&lt;"},
    // "]]>" may not stand in text.
    {">", "&gt;"},
    // These are UTF-8, and no characters.
    {"\xef\xbf\xbe", "\\xef\\xbf\\xbe"},
    {"\xef\xbf\xbf", "\\xef\\xbf\\xbf"},
};
constexpr Replacement kInText[] = {{"\n", "\n"}, {"\t", "\t"}};
// A parser makes spaces of plain line breaks and tabs here.
constexpr Replacement kInAttributes[] = {{"\n", "&#10;"}, {"\t", "&#9;"}, {"\"", "&quot;"}};

// How many bytes a character has that begins with `lead`.
size_t length_of(unsigned char lead) {
  return lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
}

// The character at the start of `text`, or as much of one as there is.
std::string_view first_character(std::string_view text) {
  const size_t length = length_of(static_cast<unsigned char>(text.front()));
  size_t end = 1;
  while (end < length && end < text.size() &&
         (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) {
    ++end;
  }
  return text.substr(0, end);
}

template <size_t N>
const Replacement* find(const Replacement (&replacements)[N], std::string_view character) {
  for (const Replacement& replacement : replacements) {
    if (replacement.character == character) return &replacement;
  }
  return nullptr;
}

template <size_t N>
std::string escape(std::string_view text, const Replacement (&more)[N]) {
  std::string xml;
  while (!text.empty()) {
    const std::string_view character = first_character(text);
    text.remove_prefix(character.size());
    const Replacement* replacement = find(kEverywhere, character);
    if (replacement == nullptr) replacement = find(more, character);
    if (replacement != nullptr) {
      xml += replacement->xml;
    } else {
      xml += printable(character);
    }
  }
  return xml;
}

}  // namespace

std::string xml_text(std::string_view text) { return escape(text, kInText); }

std::string xml_attribute(std::string_view text) { return escape(text, kInAttributes); }

}  // namespace torch_ir
