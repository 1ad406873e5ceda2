// run_shell_command: runs a user's line with /bin/sh, e.g. an external executor.
//
// The keeper (process/worker.h) ends the command and everything it started together with this
// process. Output is also printed here, so the supervisor sees it even if the command is cut off.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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
  // Whether a signal ended the shell or the command it ran.
  bool has_crashed = false;
  // Empty if a signal ended it.
  std::optional<int> exit_status = std::nullopt;
  // "exited with status 3", "was killed by signal 9 (Killed)".
  std::string description = {};
  // The last 4 KiB at most of standard output and error.
  std::string output = {};
};

// Runs `line` in `directory` without standard input and waits for it, but not for its background
// processes. Throws Error when it cannot be started.
CommandEnd run_shell_command(const std::string& line, const std::string& directory);

// The last non-blank lines of `output`, joined by " | " for a one-line message.
std::string last_lines(const std::string& output);

}  // namespace torch_ir
