// problem_list: one message for several problems that a user can fix at once.
//
// Such a message survives any prefix, and message_line (terminal.h) prints it line by line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace torch_ir {

// Returns a single problem unchanged, and several as a counted list: "2 problems with the inputs:\n
// Input 'x' ...\n  Input 'y' ...". `problems` must not be empty; each is one line.
// A line such as "... and 41 more." counts as 41.
std::string problem_list(const std::vector<std::string>& problems, std::string_view what);

// The first line of a message that ends with a problem_list of several, then the problems without
// their indent; empty for any other message.
std::vector<std::string_view> lines_of_problem_list(std::string_view message);

}  // namespace torch_ir
