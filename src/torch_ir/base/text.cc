#include "torch_ir/base/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

namespace torch_ir {

std::string with_thousands_separators(int64_t value) {
  std::string text = std::to_string(value);
  const int64_t first_digit = value < 0 ? 1 : 0;
  for (int64_t i = static_cast<int64_t>(text.size()) - 3; i > first_digit; i -= 3) {
    text.insert(static_cast<size_t>(i), 1, ',');
  }
  return text;
}

std::string counted(int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", with_thousands_separators(count), noun, count == 1 ? "" : "s");
}

std::string listed(const std::vector<std::string>& items, size_t max_shown, size_t total) {
  const auto num_shown = std::min(items.size(), max_shown);
  const size_t num_more = std::max(total, items.size()) - num_shown;
  return fmt::format("{}{}", fmt::join(std::span(items).first(num_shown), ", "),
                     num_more > 0 ? fmt::format(" and {} more", num_more) : "");
}

}  // namespace torch_ir
