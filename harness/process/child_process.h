// ChildProcess: this program once more, as a process of its own that may crash or hang.
//
// Used by the runner for each model. Started with posix_spawn, in a process group of its own, so
// that a Ctrl-C reaches the parent only; it continues under a keeper (keeper.h), so that its end,
// or the parent's, is the end of all that it started.
#pragma once

#include <c10/util/Exception.h>
#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "torch_ir/base/subprocess.h"

namespace torch_ir {

class ChildProcess {
 public:
  // Starts this program with `arguments`. Throws Error when the system refuses.
  explicit ChildProcess(const std::vector<std::string>& arguments);
  // Kills the process when it still runs, and all that it has started.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Readable when the process has printed something; negative when it can print no more.
  int output_descriptor() const { return pipe_.descriptor(); }
  // Readable when the process has ended; negative where the system can not tell.
  int exit_descriptor() const { return exit_descriptor_; }
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
  // While this end of a pipe is open, its keeper lets it live.
  int lifeline_ = -1;
  int exit_descriptor_ = -1;
  std::optional<int> status_;
  OutputPipe pipe_;
};

// How much memory the processes keep that each child of this one has started, and they in turn, by
// the number of the child; without the child itself, which is a keeper. What several of them share
// is counted for each.
std::map<pid_t, int64_t> resident_bytes();

// LibTorch's warnings on standard error as they are, without the clock and the thread that its own
// handler puts in front: what a model printed last is part of the reports, which are the same for
// the same model. Held by the process that runs a model, on its main thread.
class PlainWarnings : public c10::WarningHandler {
 public:
  // "warning: ...", a line or more.
  void process(const c10::Warning& warning) override;
};

}  // namespace torch_ir
