// Counts and lists in sentences.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace torch_ir {

// 57617 as "57,617".
std::string with_thousands_separators(int64_t value);

// "1 node", "2,000 nodes"; `noun` has a plural in -s.
std::string counted(int64_t count, std::string_view noun);

// "a, b": at most `max_shown` items, then " and 7 more" for the rest of `total`, by default the
// number of items.
std::string listed(const std::vector<std::string>& items, size_t max_shown, size_t total = 0);

}  // namespace torch_ir
