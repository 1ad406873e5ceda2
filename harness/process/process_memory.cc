#include "harness/process/process_memory.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>

namespace torch_ir {
namespace {

namespace fs = std::filesystem;

struct ProcessState {
  pid_t group = 0;
  int64_t resident_pages = 0;
};

// Of the text of /proc/PID/stat, see proc(5): "PID (NAME) STATE PARENT GROUP ...", where NAME may
// be anything. A text that is cut is that of a process that has gone.
ProcessState parse_state(const std::string& text) {
  // Of GROUP and of the resident pages, counted from STATE.
  constexpr int kGroup = 2;
  constexpr int kResidentPages = 21;
  ProcessState state;
  const size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return state;
  std::istringstream fields(text.substr(name_end + 1));
  std::string field;
  for (int i = 0; i <= kResidentPages && fields >> field; ++i) {
    if (i == kGroup) state.group = static_cast<pid_t>(std::stol(field));
    if (i == kResidentPages) state.resident_pages = std::stoll(field);
  }
  return state;
}

bool is_number(const std::string& name) {
  return !name.empty() && name.find_first_not_of("0123456789") == std::string::npos;
}

}  // namespace

std::map<pid_t, int64_t> resident_bytes() {
  static const int64_t page_size = ::sysconf(_SC_PAGESIZE);
  std::map<pid_t, int64_t> bytes;
  std::error_code error;
  for (fs::directory_iterator entry("/proc", error), end; entry != end; entry.increment(error)) {
    if (!is_number(entry->path().filename().string())) continue;
    std::ifstream file(entry->path() / "stat");
    std::string text;
    std::getline(file, text, '\0');
    const ProcessState state = parse_state(text);
    bytes[state.group] += state.resident_pages * page_size;
  }
  return bytes;
}

}  // namespace torch_ir
