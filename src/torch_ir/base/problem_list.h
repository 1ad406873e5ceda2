// problem_list: several things that are wrong at once, as one message.
//
// For what a user mends in one go when he sees all of it: the tensors that do not fit a graph.
// Such a message survives whatever is put in front of it, and message_line (program.h) prints it
// line by line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace torch_ir {

// A single problem as it is. Of several, how many there are, and each on a line of its own:
// "2 problems with the inputs:\n  Input 'x' ...\n  Input 'y' ...". `problems` are one line each,
// and at least one.
std::string problem_list(const std::vector<std::string>& problems, std::string_view what);

// The first line of a message that ends with a problem_list of several, and these, without their
// indent; of any other message nothing.
std::vector<std::string_view> lines_of_problem_list(std::string_view message);

}  // namespace torch_ir
