// A program as a process of its own, started with posix_spawn.
//
// Used by the harness for models and executors, and for Graphviz. What becomes of the process is
// its starter's affair; all of it is POSIX.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace torch_ir {

struct SpawnOptions {
  // Descriptors of its standard streams; without an input it reads nothing.
  int input = -1;
  int output = -1;
  int error = -1;
  // What runs, where it is not the first word.
  std::string program = {};
  // Where it starts; empty for where this process is.
  std::string directory = {};
  // Whether it is in a process group of its own, and gets the signals that this process ignores or
  // blocks.
  bool is_apart = false;
};

// Starts the program, looked for on the PATH where it has no '/', with `words` as its arguments,
// and gives its number. What the system says where it refuses, as errno, is in `reason`, 0
// otherwise.
pid_t spawn(std::vector<std::string> words, const SpawnOptions& options, int& reason);

// Takes what a process prints to a pipe.
class OutputPipe {
 public:
  // Throws Error when the system has no pipe.
  OutputPipe();
  ~OutputPipe();
  OutputPipe(const OutputPipe&) = delete;
  OutputPipe& operator=(const OutputPipe&) = delete;

  // For SpawnOptions, until the process has been started: to be closed then.
  int writing_end() const { return writing_end_; }
  void close_writing_end();
  // Readable when something has been printed; negative when no more can come.
  int descriptor() const { return is_open_ ? reading_end_ : -1; }
  // Takes what there is, and tells it `observe` too.
  void read(const std::function<void(std::string_view)>& observe = nullptr);
  // The end of it; not more than 4 KiB.
  const std::string& tail() const { return tail_; }

 private:
  int reading_end_ = -1;
  int writing_end_ = -1;
  bool is_open_ = true;
  std::string tail_;
};

// Waits until it ends, and gives its status as waitpid does.
int wait_for_process(pid_t process);

// "exited with status 3", "was killed by signal 11 (Segmentation fault)".
std::string describe_wait_status(int status);

}  // namespace torch_ir
