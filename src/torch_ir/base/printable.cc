#include "torch_ir/base/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <ranges>
#include <utility>

#include "torch_ir/base/text.h"

namespace torch_ir {
namespace {

// Characters that move the cursor, end the line or change the direction of text.
bool is_control(char32_t code) {
  constexpr std::pair<char32_t, char32_t> kRanges[] = {{0x00, 0x1f},     {0x7f, 0x9f},
                                                       {0x61c, 0x61c},   {0x200e, 0x200f},
                                                       {0x2028, 0x202e}, {0x2066, 0x2069}};
  return std::ranges::any_of(
      kRanges, [&](const auto& range) { return code >= range.first && code <= range.second; });
}

std::string_view without_bullet(std::string_view line) {
  for (const std::string_view bullet : {"- ", "* ", "\u2022 "}) {
    if (line.starts_with(bullet)) return trimmed(line.substr(bullet.size()));
  }
  return line;
}

std::string_view take_line(std::string_view& text) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.empty()) return line;
  }
  return {};
}

bool is_blank(char c) { return static_cast<unsigned char>(c) <= ' ' || c == '\x7F'; }

bool is_readable(std::string_view line, size_t max_size) {
  constexpr size_t kMaxSize = 1000;
  constexpr size_t kMaxWordSize = 40;
  if (line.size() <= max_size) return true;
  if (line.size() > kMaxSize) return false;
  size_t size = 0;
  for (const auto word : std::views::split(line, ' ')) {
    size += std::min(word.size(), kMaxWordSize) + 1;
  }
  return size <= max_size;
}

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

}  // namespace

std::string printable(std::string_view text, size_t max_size) {
  std::string result;
  for (size_t i = 0; i < text.size();) {
    if (i >= max_size) return result + "...";
    const Character character = first_character(text.substr(i));
    const size_t length = character.length == 0 ? 1 : character.length;
    const std::string_view bytes = text.substr(i, length);
    if (character.length == 0 || is_control(character.code)) {
      for (const char byte : bytes) {
        result += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
      }
    } else {
      result += bytes;
    }
    i += length;
  }
  return result;
}

std::string quoted_list(const std::vector<std::string>& names, size_t max_shown) {
  std::vector<std::string> quoted;
  for (const std::string& name : names) quoted.push_back("'" + printable(name) + "'");
  return listed(quoted, max_shown);
}

std::string few_names(const std::vector<std::string>& names) {
  constexpr size_t kMaxNames = 8;
  return names.empty() ? "nothing" : quoted_list(names, kMaxNames);
}

std::string headline(std::string_view text) {
  std::string line(take_line(text));
  while (line.ends_with(':')) {
    const std::string_view announced = without_bullet(take_line(text));
    if (announced.empty()) break;
    line.append(" ").append(announced);
  }
  std::ranges::replace(line, '\t', ' ');
  return printable(line, std::numeric_limits<size_t>::max());
}

std::string short_line(std::string_view text, size_t max_size) {
  std::string line;
  for (const char c : text) {
    const bool is_second_blank = line.empty() || line.back() == ' ';
    if (!is_blank(c)) {
      line += c;
    } else if (!is_second_blank) {
      line += ' ';
    }
  }
  if (line.ends_with(' ')) line.pop_back();
  if (is_readable(line, max_size)) return line;
  constexpr std::string_view kGap = " ... ";
  size_t first = (max_size - kGap.size()) / 2;
  size_t last = line.size() - first;
  while (first > 0 && is_continuation(line[first])) --first;
  while (last < line.size() && is_continuation(line[last])) ++last;
  return line.substr(0, first) + std::string(kGap) + line.substr(last);
}

std::string_view trimmed(std::string_view line) {
  constexpr std::string_view kBlanks = " \t\r\v\f";
  line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
  return line.substr(0, line.find_last_not_of(kBlanks) + 1);
}

Character first_character(std::string_view text) {
  struct Form {
    unsigned char mask, lead;
    size_t length;
    // Smaller code points must use a shorter form.
    char32_t smallest;
  };
  constexpr Form kForms[] = {
      {0x80, 0x00, 1, 0}, {0xe0, 0xc0, 2, 0x80}, {0xf0, 0xe0, 3, 0x800}, {0xf8, 0xf0, 4, 0x10000}};
  const auto lead = static_cast<unsigned char>(text.front());
  for (const Form& form : kForms) {
    if ((lead & form.mask) != form.lead) continue;
    if (text.size() < form.length) break;
    char32_t code = lead & static_cast<unsigned char>(~form.mask);
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

}  // namespace torch_ir
