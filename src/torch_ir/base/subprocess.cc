#include "torch_ir/base/subprocess.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "torch_ir/base/error.h"

extern char** environ;

namespace torch_ir {
namespace {

// exec resets the parent's handlers, but keeps ignored and blocked signals.
void set_apart(posix_spawnattr_t& attributes) {
  sigset_t signals;
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(&attributes, &signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) sigaddset(&signals, signal);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

}  // namespace

pid_t spawn(std::vector<std::string> words, const SpawnOptions& options, int& reason) {
  const std::string& program = options.program.empty() ? words.at(0) : options.program;
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (options.input < 0) {
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  } else {
    posix_spawn_file_actions_adddup2(&actions, options.input, STDIN_FILENO);
  }
  posix_spawn_file_actions_adddup2(&actions, options.output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, options.error, STDERR_FILENO);
  if (!options.directory.empty()) {
    posix_spawn_file_actions_addchdir_np(&actions, options.directory.c_str());
  }
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  if (options.is_apart) set_apart(attributes);
  pid_t process = -1;
  reason = ::posix_spawnp(&process, program.c_str(), &actions, &attributes, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return process;
}

OutputPipe::OutputPipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    throw Error(std::string("cannot create a pipe: ") + strerror(errno));
  }
  reading_end_ = ends[0];
  writing_end_ = ends[1];
  ::fcntl(reading_end_, F_SETFL, O_NONBLOCK);
}

OutputPipe::~OutputPipe() {
  close_writing_end();
  ::close(reading_end_);
}

void OutputPipe::close_writing_end() {
  if (writing_end_ >= 0) ::close(std::exchange(writing_end_, -1));
}

void OutputPipe::read(const std::function<void(std::string_view)>& observe) {
  constexpr size_t kLimit = 4096;
  char buffer[4096];
  ssize_t size = 0;
  while ((size = ::read(reading_end_, buffer, sizeof(buffer))) > 0) {
    const std::string_view text(buffer, static_cast<size_t>(size));
    if (observe) observe(text);
    tail_ += text;
    if (tail_.size() > kLimit) tail_.erase(0, tail_.size() - kLimit);
  }
  if (size == 0) is_open_ = false;
}

int wait_for_process(pid_t process) {
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

std::string describe_wait_status(int status) {
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    return "was killed by signal " + std::to_string(signal) + " (" + strsignal(signal) + ")";
  }
  return "exited with status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace torch_ir
