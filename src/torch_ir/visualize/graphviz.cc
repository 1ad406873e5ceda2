#include "torch_ir/visualize/graphviz.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <thread>

#include "torch_ir/base/subprocess.h"

namespace torch_ir {
namespace {

// A nameless file for one of the streams of a child. With pipes, parent and child could each wait
// for the other to read.
class StreamFile {
 public:
  StreamFile() : file_(std::tmpfile()) {
    if (file_ == nullptr) fail("make a temporary file");
  }

  int descriptor() const { return fileno(file_.get()); }

  void write(const std::string& text) {
    const size_t count = std::fwrite(text.data(), 1, text.size(), file_.get());
    if (count != text.size() || std::fflush(file_.get()) != 0) fail("write a temporary file");
    std::rewind(file_.get());
  }

  std::string read() {
    std::rewind(file_.get());
    std::string text;
    char buffer[1 << 16];
    while (const size_t count = std::fread(buffer, 1, sizeof(buffer), file_.get())) {
      text.append(buffer, count);
    }
    if (std::ferror(file_.get())) fail("read a temporary file");
    return text;
  }

 private:
  [[noreturn]] static void fail(const char* what) {
    throw Error(std::string("cannot ") + what + ": " + std::strerror(errno));
  }

  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, Close> file_;
};

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

// The status of `child` once it has ended, or after it was ended at the limit.
int wait_for(pid_t child, std::chrono::duration<double> time_limit) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  std::chrono::microseconds pause(200);
  bool is_late = false;
  int status = 0;
  while (true) {
    const pid_t ended = waitpid(child, &status, is_late ? 0 : WNOHANG);
    if (ended == child) break;
    if (ended < 0 && errno != EINTR) {
      throw Error(std::string("cannot wait for 'dot': ") + std::strerror(errno));
    }
    if (is_late) continue;
    if (Clock::now() - start > time_limit) {
      is_late = true;
      kill(child, SIGKILL);
    } else {
      std::this_thread::sleep_for(pause);
      pause = std::min(pause * 2, std::chrono::microseconds(10'000));
    }
  }
  if (is_late) {
    throw GraphvizTimeout("Graphviz's 'dot' took more than " +
                          std::to_string(std::llround(time_limit.count())) + " s");
  }
  return status;
}

}  // namespace

RenderedGraph render_with_graphviz(const std::string& dot_text, const std::string& format,
                                   std::chrono::duration<double> time_limit) {
  StreamFile input;
  StreamFile output;
  StreamFile errors;
  input.write(dot_text);
  const SpawnOptions streams = {
      .input = input.descriptor(), .output = output.descriptor(), .error = errors.descriptor()};
  const int status = wait_for(start_dot(format, streams), time_limit);
  RenderedGraph result = {output.read(), errors.read()};
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && !result.image.empty()) return result;
  const std::string how = WIFSIGNALED(status)
                              ? "was ended by signal " + std::to_string(WTERMSIG(status))
                              : "failed with exit status " + std::to_string(WEXITSTATUS(status));
  throw Error("Graphviz's 'dot' " + how + (result.warnings.empty() ? "" : ": " + result.warnings));
}

}  // namespace torch_ir
