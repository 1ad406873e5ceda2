#include "torch_ir/cli/command.h"

#include <ostream>

#include "torch_ir/base/program.h"

namespace torch_ir {
namespace {

std::ostream& nowhere() {
  static std::ostream stream(nullptr);
  return stream;
}

}  // namespace

std::ostream& Console::talk() { return quiet_ ? nowhere() : out_; }

void Console::warn(const std::string& message) {
  if (!quiet_) err_ << message_line("torch-ir", "warning: " + message);
}

void Console::fail(const std::string& message) { err_ << message_line("torch-ir", message); }

std::vector<Command> all_commands() {
  return {info_command(),      visualize_command(), validate_command(), import_command(),
          execute_command(),   verify_command(),    compare_command(),  diff_command(),
          benchmark_command(), ops_command(),       split_command()};
}

}  // namespace torch_ir
