// parse_arguments: the command line of a program, with messages for a person where it does not fit.
//
// Called by torch-ir and by the harness, so that both say the same of the same mistake.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace torch_ir {

// Parses `arguments`, without the program's name, as `parser` declares them. Throws Error, one line
// that names the option, for what does not fit, and what CLI11 throws for --help and --version.
//
// The value of an option is the word behind it, unless that looks like an option itself: that is
// taken only in the form --option=VALUE, so that a value that was left out is noticed.
void parse_arguments(CLI::App& parser, const std::vector<std::string>& arguments);

}  // namespace torch_ir
