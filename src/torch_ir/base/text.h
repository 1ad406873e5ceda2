// Counts and lists in sentences, and one message for several problems that a user can fix at once.
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

// Returns a single problem unchanged, and several as a counted list: "2 problems with the inputs:\n
// Input 'x' ...\n  Input 'y' ...". `problems` must not be empty; each is one line.
// A line such as "... and 41 more." counts as 41. Such a message survives any prefix, and
// message_line (terminal.h) prints it line by line.
std::string problem_list(const std::vector<std::string>& problems, std::string_view what);

// The first line of a message that ends with a problem_list of several, then the problems without
// their indent; empty for any other message.
std::vector<std::string_view> lines_of_problem_list(std::string_view message);

}  // namespace torch_ir
