#include "harness/process/child_process.h"

#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>

#include "torch_ir/base/error.h"
#include "torch_ir/base/subprocess.h"

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

ChildProcess::ChildProcess(const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {"harness"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  int reason = 0;
  pid_ = spawn(std::move(words),
               {.output = pipe_.writing_end(),
                .error = pipe_.writing_end(),
                .program = "/proc/self/exe",
                .is_apart = true},
               reason);
  pipe_.close_writing_end();
  if (reason != 0) {
    throw Error(std::string("can not start a process: posix_spawn: ") + strerror(reason));
  }
  // Since Linux 5.3. Not inherited by other children.
  exit_descriptor_ = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
}

ChildProcess::~ChildProcess() {
  kill();
  if (exit_descriptor_ >= 0) ::close(exit_descriptor_);
}

std::optional<int> ChildProcess::poll() {
  if (status_) return status_;
  siginfo_t info = {};
  if (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
      info.si_pid == pid_) {
    // Also ends what it left behind; the group's number is safe until the process is waited for.
    kill();
  }
  return status_;
}

void ChildProcess::kill() {
  if (status_) return;
  ::kill(-pid_, SIGKILL);
  status_ = wait_for_process(pid_);
  read_output();
}

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

void PlainWarnings::process(const c10::Warning& warning) {
  std::fprintf(stderr, "warning: %s\n", warning.msg().c_str());
}

}  // namespace torch_ir
