#include "harness/process/keeper.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <optional>
#include <string>

#include "harness/process/process_tree.h"
#include "torch_ir/base/error.h"

namespace torch_ir {
namespace {

sigset_t child_signal() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGCHLD);
  return signals;
}

// Kills what this process has started, what that has, and so on: who loses its parent becomes a
// child of this process, which is a subreaper. One that can not be killed, as it has another user
// or the system holds it, is not waited for longer than kPatience: the harness waits meanwhile.
void end_descendants() {
  constexpr std::chrono::seconds kPatience(2);
  const pid_t self = ::getpid();
  const sigset_t signals = child_signal();
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  // Most often there is nobody.
  pid_t ended = 0;
  while ((ended = ::waitpid(-1, nullptr, WNOHANG)) >= 0) {
    if (ended > 0) continue;
    if (std::chrono::steady_clock::now() >= deadline) return;
    for (const ProcessState& it : list_processes()) {
      if (it.parent == self) ::kill(it.process, SIGKILL);
    }
    const timespec pause = {.tv_sec = 0, .tv_nsec = 10'000'000};
    ::sigtimedwait(&signals, nullptr, &pause);
  }
}

// How `process` has ended; nothing while it runs. Takes leave of others that have.
std::optional<int> reap(pid_t process) {
  std::optional<int> end;
  int status = 0;
  pid_t ended = 0;
  while ((ended = ::waitpid(-1, &status, WNOHANG)) > 0) {
    if (ended == process) end = status;
  }
  return end;
}

// Waits until `process` ends, or the other end of the standard input does, which the harness holds:
// then nobody wants to know how. What comes in there is for the process to read.
std::optional<int> watch(pid_t process) {
  const sigset_t signals = child_signal();
  const int children = ::signalfd(-1, &signals, SFD_CLOEXEC);
  while (true) {
    pollfd news[] = {{.fd = STDIN_FILENO, .events = 0, .revents = 0},
                     {.fd = children, .events = POLLIN, .revents = 0}};
    if (::poll(news, 2, -1) < 0 && errno != EINTR) return std::nullopt;
    if (news[0].revents != 0) return std::nullopt;
    signalfd_siginfo info = {};
    if (news[1].revents == 0 || ::read(children, &info, sizeof(info)) < 0) continue;
    if (const std::optional<int> status = reap(process)) return status;
  }
}

[[noreturn]] void end_as(int status) {
  if (WIFEXITED(status)) ::_exit(WEXITSTATUS(status));
  const int signal = WTERMSIG(status);
  // It has left its core already.
  const rlimit none = {.rlim_cur = 0, .rlim_max = 0};
  ::setrlimit(RLIMIT_CORE, &none);
  ::signal(signal, SIG_DFL);
  // No other that has come: this one tells how the child has ended.
  sigset_t own;
  sigemptyset(&own);
  sigaddset(&own, signal);
  ::sigprocmask(SIG_UNBLOCK, &own, nullptr);
  ::raise(signal);
  ::_exit(128 + signal);
}

// In the new process. Gives what was its standard input.
int leave_keeper(pid_t keeper, const sigset_t& mask) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != keeper) ::_exit(1);
  // Where a model signals its group, that is its own.
  ::setpgid(0, 0);
  constexpr int kAboveThoseOfPrograms = 100;
  const int input = ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, kAboveThoseOfPrograms);
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::dup2(nothing, STDIN_FILENO);
  ::close(nothing);
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
  return input;
}

}  // namespace

int continue_under_keeper() {
  const pid_t keeper = ::getpid();
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  // A model may signal its parent, and what it has started would outlive a keeper that ended.
  sigset_t all;
  sigset_t mask;
  sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, &mask);
  const pid_t process = ::fork();
  if (process < 0) throw Error(std::string("can not start a process: fork: ") + strerror(errno));
  if (process == 0) return leave_keeper(keeper, mask);
  const std::optional<int> status = watch(process);
  end_descendants();
  end_as(status.value_or(SIGKILL));
}

}  // namespace torch_ir
