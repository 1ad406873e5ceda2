#include "harness/process/worker.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <set>
#include <string_view>

#include "harness/process/child_process.h"
#include "torch_ir/libraries/load_library.h"

namespace torch_ir {
namespace {

sigset_t set_of(int signal) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, signal);
  return signals;
}

// Kills all descendants: this process is a subreaper, so orphans become its children. The harness
// waits for it, so it waits at most kMostPatience for a process that cannot be killed (another
// user's, or held by the system).
void end_descendants() {
  constexpr std::chrono::seconds kMostPatience(2);
  const pid_t self = ::getpid();
  const sigset_t signals = set_of(SIGCHLD);
  const auto deadline = std::chrono::steady_clock::now() + kMostPatience;
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

// Returns the status of `process`, or nothing while it runs. Reaps other children too.
std::optional<int> reap(pid_t process) {
  std::optional<int> end;
  int status = 0;
  pid_t ended = 0;
  while ((ended = ::waitpid(-1, &status, WNOHANG)) > 0) {
    if (ended == process) end = status;
  }
  return end;
}

// Waits until `process` ends, or until the harness closes the other end of the standard input; then
// its status does not matter. Data on the standard input is for the process.
std::optional<int> watch(pid_t process) {
  const sigset_t signals = set_of(SIGCHLD);
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
  // The child has already dumped its core.
  const rlimit none = {.rlim_cur = 0, .rlim_max = 0};
  ::setrlimit(RLIMIT_CORE, &none);
  ::signal(signal, SIG_DFL);
  // Other pending signals stay blocked, so that this one reports how the child ended.
  const sigset_t only_signal = set_of(signal);
  ::sigprocmask(SIG_UNBLOCK, &only_signal, nullptr);
  ::raise(signal);
  ::_exit(128 + signal);
}

// Runs in the new process. Returns a descriptor of its original standard input.
int leave_keeper(pid_t keeper, const sigset_t& mask) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != keeper) ::_exit(1);
  // A model that signals its group reaches only its own.
  ::setpgid(0, 0);
  constexpr int kAboveThoseOfPrograms = 100;
  const int input = ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, kAboveThoseOfPrograms);
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::dup2(nothing, STDIN_FILENO);
  ::close(nothing);
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
  return input;
}

// Global, for the std::terminate handler.
int worker_channel = -1;

void send_message(const char* key, const WorkJson& content) {
  // Messages of models may have any bytes; invalid UTF-8 is replaced.
  WorkJson message = WorkJson::object();
  message[key] = content;
  send_all(worker_channel, message.dump(-1, ' ', false, WorkJson::error_handler_t::replace) + "\n");
}

// Must not allocate.
void send_out_of_memory() { send_all(worker_channel, "{\"out_of_memory\": true}\n"); }

std::terminate_handler usual_terminate = nullptr;

[[noreturn]] void on_terminate() {
  try {
    if (std::current_exception()) throw;
  } catch (const std::bad_alloc&) {
    send_out_of_memory();
  } catch (...) {
  }
  usual_terminate();
  std::abort();
}

class LineReader {
 public:
  std::optional<std::string> next() {
    size_t end = 0;
    while ((end = text_.find('\n')) == std::string::npos) {
      char buffer[1 << 16];
      const ssize_t size = ::read(worker_channel, buffer, sizeof(buffer));
      if (size < 0 && errno == EINTR) continue;
      if (size <= 0) return std::nullopt;
      text_.append(buffer, static_cast<size_t>(size));
    }
    std::string line = text_.substr(0, end);
    text_.erase(0, end + 1);
    return line;
  }

 private:
  std::string text_;
};

// Those of the current request: a model may run several times, but its warnings are read once.
std::set<std::string> said_warnings;

void work(const std::map<std::string, WorkTask>& tasks) {
  LineReader lines;
  const std::optional<std::string> first = lines.next();
  if (!first) return;
  const WorkJson start = WorkJson::parse(*first);
  for (const std::string path : start.at(kLibrariesKey)) load_library(path);
  const DoRequest do_request = tasks.at(start.at(kTaskKey))(start.at(kSetupKey));
  const TellNews tell = [](const WorkJson& news) { send_message(kNewsKey, news); };
  while (const std::optional<std::string> line = lines.next()) {
    said_warnings.clear();
    send_message(kAnswerKey, do_request(WorkJson::parse(*line), tell));
  }
}

}  // namespace

int continue_under_keeper() {
  const pid_t keeper = ::getpid();
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  // A model may signal its parent, but the keeper must outlive the model.
  sigset_t all;
  sigset_t mask;
  sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, &mask);
  const pid_t process = ::fork();
  if (process < 0) throw Error(std::string("cannot start a process: fork: ") + strerror(errno));
  if (process == 0) return leave_keeper(keeper, mask);
  const std::optional<int> status = watch(process);
  end_descendants();
  end_as(status.value_or(SIGKILL));
}

std::optional<int> run_as_worker(int argc, char** argv,
                                 const std::map<std::string, WorkTask>& tasks) {
  if (argc != 2 || std::string_view(argv[1]) != kWorkerFlag) return std::nullopt;
  PlainWarnings warnings;
  const c10::WarningUtils::WarningHandlerGuard guard(&warnings);
  try {
    worker_channel = continue_under_keeper();
    usual_terminate = std::set_terminate(on_terminate);
    work(tasks);
    return 0;
  } catch (const OutputError& error) {
    send_message(kOutputErrorKey, error.what());
    return EX_IOERR;
  } catch (const InputError& error) {
    send_message(kInputErrorKey, error.what());
    return EX_DATAERR;
  } catch (const std::exception& error) {
    if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) send_out_of_memory();
    std::fprintf(stderr, "%s\n", error.what());
    return EX_SOFTWARE;
  }
}

void PlainWarnings::process(const c10::Warning& warning) {
  if (!said_warnings.insert(warning.msg()).second) return;
  std::fprintf(stderr, "warning: %s\n", warning.msg().c_str());
}

}  // namespace torch_ir
