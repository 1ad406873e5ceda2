// Command: one command of torch-ir, and what it shares with the others.
//
// Each command is a file of its own with one function that returns its Command; commands.h lists
// them. A command declares its arguments and hands back what to do with them; run_cli.h parses,
// runs and turns exceptions into messages and exit statuses.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>

namespace CLI {
class App;
}

namespace torch_ir {

enum ExitStatus : int {
  // Done, and equal where something was compared.
  kDone = 0,
  // Done, and not equal.
  kDifferent = 1,
  // The input or the usage is wrong.
  kBadInput = 2,
};

// Where a command writes.
class Console {
 public:
  Console(std::ostream& out, std::ostream& err) : out_(out), err_(err) {}

  // For what was asked for: a summary, a graph.
  std::ostream& out() { return out_; }
  // For what is only told, such as a verdict that the exit status gives too: nowhere with --quiet.
  std::ostream& talk();
  // "torch-ir: warning: MESSAGE" on the error stream; nowhere with --quiet.
  void warn(const std::string& message);
  // "torch-ir: MESSAGE" on the error stream, always.
  void fail(const std::string& message);

  void set_quiet(bool quiet) { quiet_ = quiet; }

 private:
  std::ostream& out_;
  std::ostream& err_;
  bool quiet_ = false;
};

struct Command {
  // Returns the exit status. Errors are thrown, as torch_ir::Error.
  using Action = std::function<int(Console&)>;

  std::string name;
  // One line, for the list of commands.
  std::string summary;
  // Lines to copy, for --help.
  std::string examples;
  // Declares the arguments on the parser; the action is called once they are parsed.
  Action (*declare)(CLI::App& parser);
};

}  // namespace torch_ir
