// The commands of torch-ir.
#pragma once

#include <vector>

#include "torch_ir/cli/command.h"

namespace torch_ir {

Command info_command();
Command visualize_command();
Command validate_command();
Command import_command();
Command execute_command();
Command verify_command();
Command compare_command();
Command diff_command();
Command benchmark_command();
Command ops_command();
Command completion_command();

// All of them, in the order in which --help lists them.
std::vector<Command> all_commands();

}  // namespace torch_ir
