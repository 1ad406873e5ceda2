// Starts programs with posix_spawn. POSIX only; the caller has to wait for the process.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace torch_ir {

struct SpawnOptions {
  // Descriptors of its standard streams; without `input`, its standard input is empty.
  int input = -1;
  int output = -1;
  int error = -1;
  // The program to run, if it is not the first word.
  std::string program = {};
  std::string directory = {};
  // Starts a new process group, and resets the signals that this process ignores or blocks.
  bool is_apart = false;
};

// Starts the program, looked up on the PATH if it has no '/', with `words` as its arguments, and
// returns its process id. `reason` is the errno of a failure, or 0.
pid_t spawn(std::vector<std::string> words, const SpawnOptions& options, int& reason);

class OutputPipe {
 public:
  OutputPipe();
  ~OutputPipe();
  OutputPipe(const OutputPipe&) = delete;
  OutputPipe& operator=(const OutputPipe&) = delete;

  // For SpawnOptions; close it once the process has started.
  int writing_end() const { return writing_end_; }
  void close_writing_end();
  // Readable when something has been printed; negative at the end of the output.
  int descriptor() const { return is_open_ ? reading_end_ : -1; }
  // Reads what is available, and passes it to `observe` too.
  void read(const std::function<void(std::string_view)>& observe = nullptr);
  // The end of the output, at most 4 KiB.
  const std::string& tail() const { return tail_; }
  void forget() { tail_.clear(); }

 private:
  int reading_end_ = -1;
  int writing_end_ = -1;
  bool is_open_ = true;
  std::string tail_;
};

// Waits for the process to end, and returns its status as waitpid does.
int wait_for_process(pid_t process);

// "exited with status 3", "was killed by signal 11 (Segmentation fault)".
std::string describe_wait_status(int status);

}  // namespace torch_ir
