#include "harness/process/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "harness/process/spawn_actions.h"
#include "torch_ir/base/error.h"

extern char** environ;

namespace torch_ir {
namespace {

constexpr size_t kOutputLimit = 4096;

struct SpawnAttributes {
  SpawnAttributes() { posix_spawnattr_init(&value); }
  ~SpawnAttributes() { posix_spawnattr_destroy(&value); }
  posix_spawnattr_t value;
};

std::vector<char*> to_argv(std::vector<std::string>& arguments) {
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  return argv;
}

void check(int error, const char* what) {
  if (error != 0)
    throw Error(std::string("can not start a process: ") + what + ": " + strerror(error));
}

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& arguments) {
  int pipe_ends[2];
  check(::pipe2(pipe_ends, O_CLOEXEC) == 0 ? 0 : errno, "pipe");
  const SpawnActions actions(pipe_ends[1]);

  // The parent's handlers are gone after exec, what it ignores or blocks is not.
  SpawnAttributes attributes;
  sigset_t signals;
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(&attributes.value, &signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) sigaddset(&signals, signal);
  posix_spawnattr_setsigdefault(&attributes.value, &signals);
  posix_spawnattr_setpgroup(&attributes.value, 0);
  posix_spawnattr_setflags(&attributes.value,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

  std::vector<std::string> words = {"harness"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const int error = ::posix_spawn(&pid_, "/proc/self/exe", actions.get(), &attributes.value,
                                  to_argv(words).data(), environ);
  ::close(pipe_ends[1]);
  if (error != 0) ::close(pipe_ends[0]);
  check(error, "posix_spawn");
  descriptor_ = pipe_ends[0];
  ::fcntl(descriptor_, F_SETFL, O_NONBLOCK);
  // Since Linux 5.3. Not inherited by other children.
  exit_descriptor_ = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
}

ChildProcess::~ChildProcess() {
  kill();
  ::close(descriptor_);
  if (exit_descriptor_ >= 0) ::close(exit_descriptor_);
}

void ChildProcess::read_output() {
  char buffer[4096];
  ssize_t size = 0;
  while ((size = ::read(descriptor_, buffer, sizeof(buffer))) > 0) {
    output_.append(buffer, static_cast<size_t>(size));
    if (output_.size() > kOutputLimit) output_.erase(0, output_.size() - kOutputLimit);
  }
  if (size == 0) is_output_open_ = false;
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
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  status_ = status;
  read_output();
}

std::string describe_wait_status(int status) {
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    return "was killed by signal " + std::to_string(signal) + " (" + strsignal(signal) + ")";
  }
  return "exited with status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace torch_ir
