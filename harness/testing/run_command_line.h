// The command line of the harness as a function, for tests.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace torch_ir {

struct HarnessOutcome {
  int status;
  std::string out;
  std::string err;
};

// `arguments` without the name of the program; with a bar as on a terminal where `has_bar`.
HarnessOutcome run_command_line(std::vector<std::string> arguments, bool has_bar = false);

// Relative path and content of all files below `directory`.
std::map<std::string, std::string> files_below(const std::string& directory);

}  // namespace torch_ir
