#include "torch_ir/base/headline.h"

#include <algorithm>
#include <limits>

#include "torch_ir/base/printable.h"
#include "torch_ir/base/trimmed.h"

namespace torch_ir {
namespace {

std::string_view without_bullet(std::string_view line) {
  for (const std::string_view bullet : {"- ", "* ", "\u2022 "}) {
    if (line.starts_with(bullet)) return trimmed(line.substr(bullet.size()));
  }
  return line;
}

// Takes the next line that is not blank off `text`; empty when there is none.
std::string_view take_line(std::string_view& text) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.empty()) return line;
  }
  return {};
}

}  // namespace

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

}  // namespace torch_ir
