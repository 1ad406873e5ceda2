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

}  // namespace torch_ir
