#include "torch_ir/cli/command.h"

#include <algorithm>
#include <ostream>

namespace torch_ir {
namespace {

std::ostream& nowhere() {
  static std::ostream stream(nullptr);
  return stream;
}

// Messages are one line each, whatever a library put into them.
std::string on_one_line(const std::string& message) {
  std::string line;
  for (size_t begin = message.find_first_not_of(" \n"); begin != std::string::npos;) {
    const size_t end = std::min(message.find('\n', begin), message.size());
    if (!line.empty()) line += ' ';
    line.append(message, begin, end - begin);
    begin = message.find_first_not_of(" \n", end);
  }
  return line;
}

}  // namespace

std::ostream& Console::talk() { return quiet_ ? nowhere() : out_; }

void Console::warn(const std::string& message) {
  if (!quiet_) err_ << "torch-ir: warning: " << on_one_line(message) << '\n';
}

void Console::fail(const std::string& message) {
  err_ << "torch-ir: " << on_one_line(message) << '\n';
}

}  // namespace torch_ir
