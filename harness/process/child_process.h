// ChildProcess: another process of this program, which may crash or hang without harm.
//
// It has its own process group, so that Ctrl-C reaches only the parent. It runs under a keeper
// (worker.h), so that everything it started ends with it or with the parent.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "torch_ir/base/subprocess.h"

namespace torch_ir {

struct ProcessState {
  pid_t process = 0;
  pid_t parent = 0;
  int64_t resident_bytes = 0;
};

std::vector<ProcessState> list_processes();

// Sends `text` through a socket, as far as the other end reads. Allocates nothing.
void send_all(int socket, std::string_view text);

class ChildProcess {
 public:
  // Starts this program with `argument`. Throws Error if the system refuses.
  explicit ChildProcess(const std::string& argument);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  void send(const std::string& line);
  void stop_sending();
  std::vector<std::string> receive();

  // Descriptors that become readable when the process prints, sends or ends. Negative after the
  // end, or if the system cannot tell.
  std::vector<int> descriptors() const;
  void read_output() { pipe_.read(); }
  // At most the last 4 KiB of standard output and error.
  const std::string& output() const { return pipe_.tail(); }

  // The status from waitpid, or nothing while it runs.
  std::optional<int> poll();
  void kill();
  // The process id of its keeper.
  pid_t id() const { return pid_; }

 private:
  pid_t pid_ = -1;
  // A socket. The keeper ends the process when this end is closed.
  int channel_ = -1;
  bool can_receive_ = true;
  std::string unfinished_line_;
  int exit_descriptor_ = -1;
  std::optional<int> status_;
  OutputPipe pipe_;
};

// Returns, for each child (a keeper, not counted itself), the memory in bytes of all its
// descendants. Shared memory counts for each process.
std::map<pid_t, int64_t> resident_bytes();

}  // namespace torch_ir
