#include "torch_ir/cli/command.h"

#include <ostream>
#include <string_view>

namespace torch_ir {
namespace {

std::ostream& nowhere() {
  static std::ostream stream(nullptr);
  return stream;
}

bool is_blank(char c) { return static_cast<unsigned char>(c) <= ' ' || c == '\x7F'; }

// Messages are one line each, whatever a library, or a name in a file, put into them, and no longer
// than a person would read.
std::string on_one_line(const std::string& message) {
  constexpr size_t kMaxSize = 1000;
  std::string line;
  for (const char c : message) {
    const bool is_second_blank = line.empty() || line.back() == ' ';
    if (!is_blank(c)) {
      line += c;
    } else if (!is_second_blank) {
      line += ' ';
    }
  }
  if (line.ends_with(' ')) line.pop_back();
  if (line.size() <= kMaxSize) return line;
  // The end often says what to do.
  constexpr std::string_view kGap = " ... ";
  const size_t half = (kMaxSize - kGap.size()) / 2;
  return line.substr(0, half) + std::string(kGap) + line.substr(line.size() - half);
}

}  // namespace

std::ostream& Console::talk() { return quiet_ ? nowhere() : out_; }

void Console::warn(const std::string& message) {
  if (!quiet_) err_ << "torch-ir: warning: " << on_one_line(message) << '\n';
}

void Console::fail(const std::string& message) {
  err_ << "torch-ir: " << on_one_line(message) << '\n';
}

std::vector<Command> all_commands() {
  return {info_command(),      visualize_command(), validate_command(),  import_command(),
          execute_command(),   verify_command(),    compare_command(),   diff_command(),
          benchmark_command(), ops_command(),       completion_command()};
}

}  // namespace torch_ir
