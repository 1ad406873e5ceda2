// run_shell_command and ShellServer: run a user's command with /bin/sh, e.g. an external executor,
// once for each graph or as a server.
//
// The keeper (process/worker.h) ends the command, and everything that it started, together with
// this process. This process also prints the command's output, so that the supervisor has it even
// if the command is killed.
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
// "{{word}}" is the text "{word}". "${word}", and braces around anything but a lowercase word, are
// for the shell.
class CommandTemplate {
 public:
  // Throws Error when `text` has some of `placeholders` but not all, or another one.
  CommandTemplate(const std::string& text, const std::vector<std::string>& placeholders);

  bool has_placeholders() const { return pieces_.size() > 1; }

  std::string fill(const std::map<std::string, std::string>& paths) const;

 private:
  using Piece = std::pair<std::string, std::string>;

  std::vector<Piece> pieces_;
};

struct CommandEnd {
  bool succeeded = false;
  bool is_unsupported = false;
  // Whether a signal ended the shell or its command, or a server ended without an answer.
  bool has_crashed = false;
  // Empty if a signal ended it.
  std::optional<int> exit_status = std::nullopt;
  // "exited with status 3", "was killed by signal 9 (Killed)".
  std::string description = {};
  // The message of a server's answer.
  std::string message = {};
  // At most the last 4 KiB of standard output and error; for a server, of standard error only.
  std::string output = {};
};

// Runs `line` in `directory` without standard input and waits for it, but not for its background
// processes. Throws Error when it cannot be started.
CommandEnd run_shell_command(const std::string& line, const std::string& directory);

// A command that reads lines from standard input and answers each with a line on standard output.
// It has a process group of its own, which ends with this object.
class ShellServer {
 public:
  // Throws Error when it cannot be started.
  ShellServer(const std::string& line, const std::string& directory);
  ~ShellServer();
  ShellServer(const ShellServer&) = delete;
  ShellServer& operator=(const ShellServer&) = delete;

  // Sends a line and returns the answer. Without an answer, `end` has the reason, and the server
  // cannot be used again. `end.output` is the output since the last answer.
  std::optional<std::string> ask(const std::string& request, CommandEnd& end);

 private:
  void read();
  // Waits for a line, for too long a text, or for the end of the process, and returns the status of
  // an ended process.
  std::optional<int> wait();

  pid_t pid_ = -1;
  // Both ends stay open, so that writing to an ended server raises no signal.
  int input_[2] = {-1, -1};
  OutputPipe answers_;
  OutputPipe errors_;
  // The part of the answer that was read.
  std::string text_;
};

// The last non-blank lines of `output`, joined by " | " for a one-line message.
std::string last_lines(const std::string& output);

}  // namespace torch_ir
