#include "torch_ir/visualize/graphviz.h"

#include <signal.h>
#include <sys/wait.h>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <thread>

#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"
#include "torch_ir/base/subprocess.h"

namespace torch_ir {
namespace {

// A nameless file for a stream of a child. With pipes, parent and child could wait for each other.
using StreamFile = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

StreamFile make_stream_file() {
  StreamFile file(std::tmpfile(), std::fclose);
  if (!file) throw Error(std::string("cannot make a temporary file: ") + std::strerror(errno));
  return file;
}

std::string path_of(const StreamFile& file) {
  return "/proc/self/fd/" + std::to_string(fileno(file.get()));
}

pid_t start_dot(const std::string& format, const SpawnOptions& streams) {
  int reason = 0;
  const pid_t child = spawn({"dot", "-T" + format}, streams, reason);
  if (reason == 0) return child;
  if (reason != ENOENT) {
    throw Error(std::string("cannot run Graphviz's 'dot': ") + std::strerror(reason));
  }
  throw Error("Graphviz's 'dot', which draws " + format +
              " files, is not on the PATH: install graphviz, or write .mmd or .dot instead");
}

// Waits for `child` and returns its status. Kills it at the limit, and throws.
int wait_for_dot(pid_t child, std::chrono::duration<double> time_limit) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (Clock::now() - start > time_limit) {
      kill(child, SIGKILL);
      wait_for_process(child);
      throw Error("Graphviz's 'dot' took more than " +
                  std::to_string(std::llround(time_limit.count())) +
                  " s; draw modules, or fewer nodes");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return status;
}

}  // namespace

std::string run_graphviz(const std::string& dot_text, const std::string& format,
                         const GraphvizOptions& options) {
  const StreamFile input = make_stream_file();
  const StreamFile output = make_stream_file();
  const StreamFile errors = make_stream_file();
  write_file(path_of(input), dot_text);
  std::rewind(input.get());
  const SpawnOptions streams = {
      .input = fileno(input.get()), .output = fileno(output.get()), .error = fileno(errors.get())};
  const int status = wait_for_dot(start_dot(format, streams), options.time_limit);
  std::string image = read_file(path_of(output));
  const std::string messages = read_file(path_of(errors));
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || image.empty()) {
    const std::string how = WIFSIGNALED(status)
                                ? "was ended by signal " + std::to_string(WTERMSIG(status))
                                : "failed with exit status " + std::to_string(WEXITSTATUS(status));
    throw Error("Graphviz's 'dot' " + how + (messages.empty() ? "" : ": " + messages));
  }
  if (options.on_warning && !messages.empty()) options.on_warning("Graphviz: " + messages);
  return image;
}

}  // namespace torch_ir
