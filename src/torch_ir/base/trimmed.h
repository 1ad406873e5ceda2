// A line without the blanks around it, for what reads files line by line.
#pragma once

#include <string_view>

namespace torch_ir {

// The part of `line` between its blanks: spaces, tabs, and the rest of another system's line break.
inline std::string_view trimmed(std::string_view line) {
  constexpr std::string_view kBlanks = " \t\r\v\f";
  const size_t first = line.find_first_not_of(kBlanks);
  if (first == line.npos) return {};
  return line.substr(first, line.find_last_not_of(kBlanks) + 1 - first);
}

}  // namespace torch_ir
