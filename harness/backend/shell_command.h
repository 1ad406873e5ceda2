// run_shell_command: a line of the user's, run by /bin/sh, and how it ended.
//
// Used in the process of one model for an external executor. The keeper of that process
// (process/worker.h) ends the command with it, and all that the command has started; what it prints
// is printed by this process, so that whoever watches it sees the last lines even of a command that
// is cut off.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace torch_ir {

// A line for the shell with places for the names of files.
//
// What `harness --executor COMMAND` is given: "my_sim {ir} {weights} {inputs} {outputs}". A
// placeholder is replaced by a path as the shell needs it, quoted where it has to be, also where it
// stands in quotes itself. "{{word}}" is the text "{word}"; "${word}" and braces around anything
// but a lowercase word are the shell's own.
class CommandTemplate {
 public:
  // Throws Error when `text` lacks a placeholder that is in `placeholders`, or has one that is not.
  CommandTemplate(const std::string& text, const std::vector<std::string>& placeholders);

  // The line, with a path for each placeholder.
  std::string fill(const std::map<std::string, std::string>& paths) const;

 private:
  // Text as it stands, and the placeholder behind it; none at the end.
  using Piece = std::pair<std::string, std::string>;

  std::vector<Piece> pieces_;
};

struct CommandEnd {
  // Exit status 0.
  bool succeeded = false;
  // Whether a signal ended it, or what the shell ran for it.
  bool has_crashed = false;
  // Nothing where a signal ended it.
  std::optional<int> exit_status = std::nullopt;
  // "exited with status 3", "was killed by signal 9 (Killed)".
  std::string description = {};
  // The end of what it printed, standard output and error together; not more than 4 KiB.
  std::string output = {};
};

// Runs `line` in `directory` without a standard input, and waits for it; not for what it leaves
// running in the background. Throws Error when it can not be started.
CommandEnd run_shell_command(const std::string& line, const std::string& directory);

// The last lines of `output` that are not blank, joined by " | ", as part of a message of one line.
std::string last_lines(const std::string& output);

}  // namespace torch_ir
