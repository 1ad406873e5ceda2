#include "harness/process/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "torch_ir/base/error.h"

namespace torch_ir {
namespace {

// Parses /proc/PID/stat, see proc(5): "PID (NAME) STATE PARENT GROUP ...", where NAME may be
// anything. Returns nothing for a truncated text: that process has gone.
std::optional<ProcessState> parse_state(const std::string& text) {
  static const int64_t page_size = ::sysconf(_SC_PAGESIZE);
  // Fields counted from STATE.
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

}  // namespace

std::vector<ProcessState> list_processes() {
  namespace fs = std::filesystem;
  std::vector<ProcessState> processes;
  std::error_code error;
  for (fs::directory_iterator entry("/proc", error), end; entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.find_first_not_of("0123456789") != name.npos) continue;
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

void send_all(int socket, std::string_view text) {
  while (!text.empty()) {
    const ssize_t size = ::send(socket, text.data(), text.size(), MSG_NOSIGNAL);
    if (size < 0 && errno != EINTR) return;
    text.remove_prefix(static_cast<size_t>(std::max<ssize_t>(size, 0)));
  }
}

ChildProcess::ChildProcess(const std::string& argument) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    throw Error(std::string("cannot create a socket: ") + strerror(errno));
  }
  channel_ = ends[1];
  int reason = 0;
  pid_ = spawn({"harness", argument},
               {.input = ends[0],
                .output = pipe_.writing_end(),
                .error = pipe_.writing_end(),
                .program = "/proc/self/exe",
                .is_apart = true},
               reason);
  pipe_.close_writing_end();
  ::close(ends[0]);
  if (reason != 0) {
    ::close(channel_);
    throw Error(std::string("cannot start a process: posix_spawn: ") + strerror(reason));
  }
  // Needs Linux 5.3. Other children do not inherit it.
  exit_descriptor_ = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
}

ChildProcess::~ChildProcess() {
  kill();
  if (channel_ >= 0) ::close(channel_);
  if (exit_descriptor_ >= 0) ::close(exit_descriptor_);
}

// poll() notices if the process has ended.
void ChildProcess::send(const std::string& line) { send_all(channel_, line + '\n'); }

void ChildProcess::stop_sending() { ::shutdown(channel_, SHUT_WR); }

std::vector<std::string> ChildProcess::receive() {
  char buffer[1 << 16];
  ssize_t size = 0;
  while (channel_ >= 0 && (size = ::recv(channel_, buffer, sizeof(buffer), MSG_DONTWAIT)) > 0) {
    unfinished_line_.append(buffer, static_cast<size_t>(size));
  }
  if (size == 0) can_receive_ = false;
  std::vector<std::string> lines;
  size_t begin = 0;
  for (size_t end = 0; (end = unfinished_line_.find('\n', begin)) != std::string::npos;
       begin = end + 1) {
    lines.push_back(unfinished_line_.substr(begin, end - begin));
  }
  unfinished_line_.erase(0, begin);
  return lines;
}

std::vector<int> ChildProcess::descriptors() const {
  return {pipe_.descriptor(), can_receive_ ? channel_ : -1, exit_descriptor_};
}

std::optional<int> ChildProcess::poll() {
  int status = 0;
  if (!status_ && ::waitpid(pid_, &status, WNOHANG) == pid_) {
    status_ = status;
    read_output();
  }
  return status_;
}

void ChildProcess::kill() {
  if (status_) return;
  // Messages sent so far can still be read.
  ::shutdown(channel_, SHUT_RDWR);
  // A model may have stopped its keeper.
  ::kill(pid_, SIGCONT);
  status_ = wait_for_process(pid_);
  read_output();
}

std::map<pid_t, int64_t> resident_bytes() {
  const pid_t self = ::getpid();
  const std::vector<ProcessState> processes = list_processes();
  std::map<pid_t, pid_t> parents;
  for (const ProcessState& it : processes) parents[it.process] = it.parent;
  std::map<pid_t, int64_t> bytes;
  for (const ProcessState& state : processes) {
    pid_t child = state.parent;
    // A process id that was reused meanwhile could form a cycle.
    for (size_t i = 0; i < processes.size() && child != 0 && parents[child] != self; ++i) {
      child = parents[child];
    }
    if (child != 0 && parents[child] == self) bytes[child] += state.resident_bytes;
  }
  return bytes;
}

}  // namespace torch_ir
