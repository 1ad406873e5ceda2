// run_cli: the program torch-ir, as a function.
//
// Called by main, and by tests. Whatever goes wrong is one line on the error stream and exit
// status 2; nothing is thrown.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace torch_ir {

// Runs torch-ir with `arguments` (without the program's name); returns its exit status.
int run_cli(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

}  // namespace torch_ir
