#include "harness/results/shell_word.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>

namespace torch_ir {
namespace {

bool is_plain(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         (c != '\0' && std::strchr("_-./:@%+=,", c) != nullptr);
}

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7F;
}

// Octal, since what follows could be read as part of a hexadecimal number.
std::string escaped(char c) {
  if (is_control(c)) return fmt::format("\\{:03o}", static_cast<unsigned char>(c));
  return c == '\'' || c == '\\' ? std::string("\\") + c : std::string(1, c);
}

}  // namespace

std::string shell_word(const std::string& text) {
  if (!text.empty() && std::ranges::all_of(text, is_plain)) return text;
  std::string word;
  if (std::ranges::any_of(text, is_control)) {
    for (const char c : text) word += escaped(c);
    return "$'" + word + "'";
  }
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return "'" + word + "'";
}

}  // namespace torch_ir
