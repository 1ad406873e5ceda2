// ChildProcess: this program once more, as a process of its own that may crash or hang.
//
// Used by the supervisor of workers (supervise.h). Started with posix_spawn, in a process group of
// its own, so that a Ctrl-C reaches the parent only; it continues under a keeper (worker.h), so
// that its end, or the parent's, is the end of all that it started.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "torch_ir/base/subprocess.h"

namespace torch_ir {

struct ProcessState {
  pid_t process = 0;
  pid_t parent = 0;
  int64_t resident_bytes = 0;
};

// All that this process may see.
std::vector<ProcessState> list_processes();

class ChildProcess {
 public:
  // Starts this program with `argument`. Throws Error when the system refuses.
  explicit ChildProcess(const std::string& argument);
  // Kills the process when it still runs, and all that it has started.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // A line for the process to read.
  void send(std::string line);
  // No more lines will come.
  void stop_sending();
  // The lines that it has sent since the last call.
  std::vector<std::string> receive();

  // Readable when the process has printed, sent or ended; negative where it can do so no more, or
  // the system cannot tell.
  std::vector<int> descriptors() const;
  // Takes what the process has printed so far.
  void read_output() { pipe_.read(); }
  // The end of what it printed, standard output and error together; not more than 4 KiB.
  const std::string& output() const { return pipe_.tail(); }

  // How the process ended, as waitpid tells it; nothing while it runs.
  std::optional<int> poll();
  void kill();
  // The number of its keeper.
  pid_t id() const { return pid_; }

 private:
  pid_t pid_ = -1;
  // Both ways. While this end is open, the keeper lets the process live.
  int channel_ = -1;
  bool can_receive_ = true;
  std::string unfinished_line_;
  int exit_descriptor_ = -1;
  std::optional<int> status_;
  OutputPipe pipe_;
};

// How much memory the processes keep that each child of this one has started, and they in turn, by
// the number of the child; without the child itself, which is a keeper. What several of them share
// is counted for each.
std::map<pid_t, int64_t> resident_bytes();

}  // namespace torch_ir
