// run_shell_command and ShellServer: run a user's line with /bin/sh, e.g. an external executor,
// once for each graph or as a process that stays.
//
// The keeper (process/worker.h) ends the command and everything it started together with this
// process. Output is also printed here, so the supervisor sees it even if the command is cut off.
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "torch_ir/base/subprocess.h"

namespace torch_ir {

// A shell line with placeholders for paths, e.g. "my_sim {ir} {weights} {inputs} {outputs}".
//
// Paths are quoted for the shell where needed, even when the placeholder itself is inside quotes.
// "{{word}}" is the text "{word}"; "${word}" and braces around anything but a lowercase word are
// left to the shell.
class CommandTemplate {
 public:
  // Throws Error when `text` lacks one of `placeholders` or has another one.
  CommandTemplate(const std::string& text, const std::vector<std::string>& placeholders);

  std::string fill(const std::map<std::string, std::string>& paths) const;

 private:
  using Piece = std::pair<std::string, std::string>;

  std::vector<Piece> pieces_;
};

struct CommandEnd {
  bool succeeded = false;
  bool is_unsupported = false;
  // Whether a server gave an answer, and stays.
  bool is_answer = false;
  // Whether a signal ended the shell or the command it ran, or a server ended without an answer.
  bool has_crashed = false;
  // Empty if a signal ended it.
  std::optional<int> exit_status = std::nullopt;
  // "exited with status 3", "was killed by signal 9 (Killed)".
  std::string description = {};
  // What a server says in its answer.
  std::string message = {};
  // The last 4 KiB at most of standard output and error; of a server, of standard error.
  std::string output = {};
};

// Runs `line` in `directory` without standard input and waits for it, but not for its background
// processes. Throws Error when it cannot be started.
CommandEnd run_shell_command(const std::string& line, const std::string& directory);

// A command that stays, reads lines from standard input and answers each with a line on standard
// output. It has a process group of its own, which ends with this object.
class ShellServer {
 public:
  // Throws Error when it cannot be started.
  ShellServer(const std::string& line, const std::string& directory);
  ~ShellServer();
  ShellServer(const ShellServer&) = delete;
  ShellServer& operator=(const ShellServer&) = delete;

  // Sends a line and waits for the answer. Without one, `end` says why, and the server is of no
  // more use; `end.output` is what it has printed meanwhile.
  std::optional<std::string> ask(const std::string& request, CommandEnd& end);

 private:
  void read();
  // Waits for a line, too long a text, or the end of the process, and returns its status then.
  std::optional<int> wait();

  pid_t pid_ = -1;
  // Both ends, so that writing to a server that has ended raises no signal.
  int input_[2] = {-1, -1};
  OutputPipe answers_;
  OutputPipe errors_;
  // What was read of the answer.
  std::string text_;
};

// The last non-blank lines of `output`, joined by " | " for a one-line message.
std::string last_lines(const std::string& output);

}  // namespace torch_ir
