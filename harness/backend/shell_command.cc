#include "harness/backend/shell_command.h"

#include <poll.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string_view>
#include <vector>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/base/subprocess.h"

namespace torch_ir {
namespace {

constexpr size_t kMaxLines = 3;
// How long the end of a command that left its output open may go unnoticed.
constexpr int kPatienceMilliseconds = 100;
// A shell tells by such a status that its command was killed by a signal.
constexpr int kShellSignalBase = 128;

pid_t start(const std::string& line, const std::string& directory, int output) {
  int reason = 0;
  const pid_t pid = spawn({"/bin/sh", "-c", line},
                          {.output = output, .error = output, .directory = directory}, reason);
  if (reason == 0) return pid;
  throw Error("can not start /bin/sh in '" + printable(directory) + "': " + strerror(reason));
}

void print(std::string_view text) {
  while (!text.empty()) {
    const ssize_t size = ::write(STDERR_FILENO, text.data(), text.size());
    if (size <= 0) return;
    text.remove_prefix(static_cast<size_t>(size));
  }
}

// Reads until the command has ended, and gives its status.
int follow(pid_t pid, OutputPipe& pipe) {
  for (pipe.read(print); pipe.descriptor() >= 0; pipe.read(print)) {
    int status = 0;
    if (::waitpid(pid, &status, WNOHANG) == pid) {
      pipe.read(print);
      return status;
    }
    pollfd news{.fd = pipe.descriptor(), .events = POLLIN, .revents = 0};
    ::poll(&news, 1, kPatienceMilliseconds);
  }
  return wait_for_process(pid);
}

// That the shell tells of by its own status; 0 for none.
int signal_of_shell(int status) {
  const int signal = WIFEXITED(status) ? WEXITSTATUS(status) - kShellSignalBase : 0;
  return signal > 0 && signal < NSIG ? signal : 0;
}

std::string describe(int status) {
  std::string text = describe_wait_status(status);
  const int signal = signal_of_shell(status);
  if (signal == 0) return text;
  return text + ", as for signal " + std::to_string(signal) + " (" + strsignal(signal) + ")";
}

}  // namespace

CommandEnd run_shell_command(const std::string& line, const std::string& directory) {
  OutputPipe pipe;
  const pid_t pid = start(line, directory, pipe.writing_end());
  pipe.close_writing_end();
  const int status = follow(pid, pipe);
  CommandEnd end;
  end.output = pipe.tail();
  if (WIFEXITED(status)) end.exit_status = WEXITSTATUS(status);
  end.succeeded = end.exit_status == 0;
  end.has_crashed = WIFSIGNALED(status) || signal_of_shell(status) != 0;
  end.description = describe(status);
  return end;
}

std::string last_lines(const std::string& output) {
  std::vector<std::string> lines;
  std::string_view rest = output;
  while (!rest.empty() && lines.size() < kMaxLines) {
    const size_t newline = rest.rfind('\n');
    std::string_view line = newline == std::string_view::npos ? rest : rest.substr(newline + 1);
    rest = newline == std::string_view::npos ? std::string_view() : rest.substr(0, newline);
    // A bar of progress shows what stands behind its last return.
    while (line.ends_with('\r')) line.remove_suffix(1);
    line = line.substr(line.rfind('\r') + 1);
    const size_t first = line.find_first_not_of(" \t");
    if (first != std::string_view::npos) lines.push_back(printable(line.substr(first)));
  }
  std::string text;
  for (size_t i = lines.size(); i-- > 0;) text += (text.empty() ? "" : " | ") + lines[i];
  return text;
}

}  // namespace torch_ir
