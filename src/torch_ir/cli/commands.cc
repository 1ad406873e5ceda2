#include "torch_ir/cli/commands.h"

namespace torch_ir {

std::vector<Command> all_commands() {
  return {info_command(),      visualize_command(), validate_command(),  import_command(),
          execute_command(),   verify_command(),    compare_command(),   diff_command(),
          benchmark_command(), ops_command(),       completion_command()};
}

}  // namespace torch_ir
