// Command: one command of torch-ir, and what it shares with the others.
//
// Each command is a file of its own with one function that returns its Command, which is listed
// below. A command declares its arguments and hands back what to do with them; run_cli parses, runs
// and turns exceptions into messages and exit statuses.
#pragma once

#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

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
  std::function<Action(CLI::App& parser)> declare;
};

// A Command::declare: `declare` adds the options to the parser, `run` gets what was parsed.
template <class Arguments>
std::function<Command::Action(CLI::App&)> with_arguments(void (*declare)(CLI::App&, Arguments&),
                                                         int (*run)(const Arguments&, Console&)) {
  return [declare, run](CLI::App& parser) {
    const auto arguments = std::make_shared<Arguments>();
    declare(parser, *arguments);
    return [arguments, run](Console& console) { return run(*arguments, console); };
  };
}

Command info_command();
Command visualize_command();
Command validate_command();
Command import_command();
Command execute_command();
Command verify_command();
Command compare_command();
Command diff_command();
Command benchmark_command();
Command ops_command();
Command split_command();

// All of them, in the order in which --help lists them.
std::vector<Command> all_commands();

// The program torch-ir with `arguments` (without its name), for main and for tests; returns its
// exit status. Whatever goes wrong is one line on the error stream and exit status 2; nothing is
// thrown.
int run_cli(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

}  // namespace torch_ir
