#include "harness/process/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <utility>

#include "harness/process/process_tree.h"
#include "torch_ir/base/error.h"
#include "torch_ir/base/subprocess.h"

namespace torch_ir {

ChildProcess::ChildProcess(const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {"harness"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    throw Error(std::string("can not make a pipe: ") + strerror(errno));
  }
  lifeline_ = ends[1];
  int reason = 0;
  pid_ = spawn(std::move(words),
               {.input = ends[0],
                .output = pipe_.writing_end(),
                .error = pipe_.writing_end(),
                .program = "/proc/self/exe",
                .is_apart = true},
               reason);
  pipe_.close_writing_end();
  ::close(ends[0]);
  if (reason != 0) {
    ::close(lifeline_);
    throw Error(std::string("can not start a process: posix_spawn: ") + strerror(reason));
  }
  // Since Linux 5.3. Not inherited by other children.
  exit_descriptor_ = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
}

ChildProcess::~ChildProcess() {
  kill();
  if (lifeline_ >= 0) ::close(lifeline_);
  if (exit_descriptor_ >= 0) ::close(exit_descriptor_);
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
  ::close(std::exchange(lifeline_, -1));
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
  for (const ProcessState& it : processes) {
    pid_t child = it.parent;
    // Numbers that were given anew while the list was made could lead round and round.
    for (size_t i = 0; i < processes.size() && child != 0 && parents[child] != self; ++i) {
      child = parents[child];
    }
    if (child != 0 && parents[child] == self) bytes[child] += it.resident_bytes;
  }
  return bytes;
}

void PlainWarnings::process(const c10::Warning& warning) {
  std::fprintf(stderr, "warning: %s\n", warning.msg().c_str());
}

}  // namespace torch_ir
