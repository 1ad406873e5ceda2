// Command: one command of torch-ir. Console: the streams that commands write to.
//
// Each command is a file with one function that returns its Command, listed below. run_cli parses
// its arguments, runs it, and turns exceptions into messages and exit statuses.
#pragma once

#include <functional>
#include <iosfwd>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace torch_ir {

enum ExitStatus : int {
  // Done, and everything that was compared is equal.
  kDone = 0,
  // Done, but something differs.
  kDifferent = 1,
  // The input or the usage is wrong.
  kBadInput = 2,
};

class Console {
 public:
  Console(std::ostream& out, std::ostream& err) : out_(out), err_(err) {}

  // For results that the user requested: a summary, a graph.
  std::ostream& out() { return out_; }
  // For remarks, such as a verdict that the exit status also tells; --quiet suppresses them.
  std::ostream& talk();
  // "torch-ir: warning: MESSAGE" on the error stream, once; --quiet suppresses it unless it says
  // that something is not checked.
  void warn(const std::string& message, bool is_about_checks = false);
  // "torch-ir: MESSAGE" on the error stream, for what a command does; --quiet suppresses it.
  void note(const std::string& message);
  // "torch-ir: MESSAGE" on the error stream, always.
  void fail(const std::string& message);

  void set_quiet(bool quiet) { quiet_ = quiet; }

 private:
  std::ostream& out_;
  std::ostream& err_;
  bool quiet_ = false;
  std::set<std::string> warnings_;
};

struct Command {
  // Returns the exit status. Throws torch_ir::Error.
  using Action = std::function<int(Console&)>;

  std::string name;
  std::string summary;
  std::string examples;
  // Declares the arguments; the action is called once they are parsed.
  std::function<Action(CLI::App& parser)> declare;
};

// Makes a Command::declare: `declare` adds the options, `run` gets the parsed values.
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
Command cut_command();

// In the order in which --help lists them.
std::vector<Command> all_commands();

// Runs torch-ir with `arguments` (without its name), for main and for tests; returns its exit
// status. Never throws: any failure is one line on the error stream and exit status 2.
int run_cli(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

}  // namespace torch_ir
