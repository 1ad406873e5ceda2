// run_shell_command: a line of the user's, run by /bin/sh, and how it ended.
//
// Used in the process of one model for an external executor. The keeper of that process
// (process/keeper.h) ends the command with it, and all that the command has started; what it prints
// is printed by this process, so that whoever watches it sees the last lines even of a command that
// is cut off.
#pragma once

#include <optional>
#include <string>

namespace torch_ir {

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
