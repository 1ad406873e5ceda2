#include "harness/process/process_tree.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>

namespace torch_ir {
namespace {

// Of the text of /proc/PID/stat, see proc(5): "PID (NAME) STATE PARENT GROUP ...", where NAME may
// be anything. A text that is cut is that of a process that has gone.
std::optional<ProcessState> parse_state(const std::string& text) {
  static const int64_t page_size = ::sysconf(_SC_PAGESIZE);
  // Counted from STATE.
  constexpr int kParent = 1;
  constexpr int kResidentPages = 21;
  const size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  ProcessState state;
  std::istringstream fields(text.substr(name_end + 1));
  std::string field;
  for (int i = 0; i <= kResidentPages; ++i) {
    if (!(fields >> field)) return std::nullopt;
    if (i == kParent) state.parent = static_cast<pid_t>(std::stol(field));
    if (i == kResidentPages) state.resident_bytes = std::stoll(field) * page_size;
  }
  return state;
}

bool is_number(const std::string& name) {
  return !name.empty() && name.find_first_not_of("0123456789") == std::string::npos;
}

}  // namespace

std::vector<ProcessState> list_processes() {
  namespace fs = std::filesystem;
  std::vector<ProcessState> processes;
  std::error_code error;
  for (fs::directory_iterator entry("/proc", error), end; entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!is_number(name)) continue;
    std::ifstream file(entry->path() / "stat");
    std::string text;
    std::getline(file, text, '\0');
    if (std::optional<ProcessState> state = parse_state(text)) {
      state->process = static_cast<pid_t>(std::stol(name));
      processes.push_back(*state);
    }
  }
  return processes;
}

}  // namespace torch_ir
