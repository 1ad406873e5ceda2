// parse_arguments: parses a command line, with readable messages.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace torch_ir {

// Parses `arguments`, without the program's name, as `parser` declares them. Throws an Error of one
// line that names the option, and passes on what CLI11 throws for --help and --version.
//
// The value of an option is the next word. A value that looks like an option itself must be given
// as --option=VALUE, so that a missing value is noticed.
void parse_arguments(CLI::App& parser, const std::vector<std::string>& arguments);

}  // namespace torch_ir
