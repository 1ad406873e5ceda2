#include <c10/util/Exception.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <ostream>

#include "torch_ir/base/error.h"
#include "torch_ir/base/options.h"
#include "torch_ir/base/suggestion.h"
#include "torch_ir/base/terminal.h"
#include "torch_ir/cli/command.h"
#include "torch_ir/libraries/load_library.h"
#include "torch_ir/runtime/graph/execution_options.h"

namespace torch_ir {
namespace {

class UsageError : public Error {
 public:
  UsageError(const std::string& program, const std::string& message)
      : Error(message + " (see '" + program + " --help')") {}
};

// Prints each option on one line. CLI11 by itself adds defaults and exclusions to its name.
class OptionLines : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string& type = option->get_type_name();
    return type.empty() || option->get_type_size() == 0 ? "" : " " + type;
  }
  std::string make_option_desc(const CLI::Option* option) const override {
    const std::string& value = option->get_default_str();
    const bool is_required = option->get_required() && !option->get_positional();
    return option->get_description() + (value.empty() ? "" : " (default: " + value + ")") +
           (is_required ? " (required)" : "");
  }
};

class ConsoleWarnings : public c10::WarningHandler {
 public:
  explicit ConsoleWarnings(Console& console) : console_(console) {}
  void process(const c10::Warning& warning) override { console_.warn(warning.msg()); }

 private:
  Console& console_;
};

constexpr const char* kMore = "More: docs/command-line.md";

void print_help(const std::vector<Command>& commands, std::ostream& out) {
  out << "Inspect, draw, check, run and compare models as graphs: IR JSON, or archives (.pt2).\n"
         "\nExamples:\n"
         "  torch-ir info model.pt2\n"
         "  torch-ir visualize model.json -o graph.svg\n"
         "  torch-ir verify model.pt2 --inputs inputs.safetensors --expected expected.safetensors\n"
         "\nUsage: torch-ir COMMAND [ARGUMENTS]\n\nCommands:\n";
  for (const Command& command : commands) {
    out << "  " << command.name << std::string(12 - command.name.size(), ' ') << command.summary
        << '\n';
  }
  out << "\nOptions:\n"
         "  -h,--help   Print this help; 'torch-ir COMMAND --help' prints the help of a command\n"
         "  --version   Print the versions of torch-ir, LibTorch and oneDNN\n"
         "\nExit status: 0 done and equal, 1 something differs, 2 invalid input or usage.\n"
      << kMore << '\n';
}

const Command& find_command(const std::vector<Command>& commands, const std::string& name) {
  std::vector<std::string> names;
  for (const Command& command : commands) {
    if (command.name == name) return command;
    names.push_back(command.name);
  }
  throw UsageError("torch-ir", "unknown command '" + name + "'" + suggest(name, names));
}

void print_version(Console& console) {
  console.out() << version_text("torch-ir", onednn_version()) << '\n';
}

int run_command(const Command& command, const std::vector<std::string>& arguments,
                Console& console) {
  const std::string program = "torch-ir " + command.name;
  CLI::App parser(command.summary + "\n\nExamples:\n" + command.examples, program);
  parser.formatter(std::make_shared<OptionLines>());
  parser.footer(kMore);
  const Command::Action action = command.declare(parser);
  std::vector<std::string> libraries;
  parser
      .add_option("--load-library", libraries,
                  "Load operators from this trusted shared library (may be repeated)")
      ->type_name("FILE")
      ->allow_extra_args(false);
  bool is_quiet = false;
  parser.add_flag("-q,--quiet", is_quiet, "Print only results and errors");
  parser.set_version_flag("--version", version_text("torch-ir", onednn_version()),
                          "Print the versions of torch-ir, LibTorch and oneDNN");
  try {
    parse_arguments(parser, arguments);
  } catch (const CLI::CallForHelp&) {
    console.out() << parser.help();
    return kDone;
  } catch (const CLI::CallForVersion&) {
    print_version(console);
    return kDone;
  } catch (const Error& error) {
    throw UsageError(program, error.what());
  }
  console.set_quiet(is_quiet);
  for (const std::string& library : libraries) {
    const std::string added = load_library_and_count(library);
    if (!added.empty()) console.note(added);
  }
  return action(console);
}

// The command is the first word that is not an option, so that `torch-ir --quiet info` works too.
int dispatch(std::vector<std::string> arguments, Console& console) {
  const std::vector<Command> commands = all_commands();
  const auto name = std::ranges::find_if(
      arguments, [](const std::string& argument) { return !argument.starts_with('-'); });
  if (name != arguments.end()) {
    const Command& command = find_command(commands, *name);
    arguments.erase(name);
    return run_command(command, arguments, console);
  }
  const std::string option = arguments.empty() ? "" : arguments.front();
  if (option == "-h" || option == "--help") {
    print_help(commands, console.out());
  } else if (option == "--version") {
    print_version(console);
  } else {
    throw UsageError(
        "torch-ir", option.empty() ? "a command is missing" : "'" + option + "' without a command");
  }
  return kDone;
}

}  // namespace

std::ostream& Console::talk() {
  static std::ostream nowhere(nullptr);
  return quiet_ ? nowhere : out_;
}

void Console::warn(const std::string& message, bool is_about_checks) {
  if (quiet_ && !is_about_checks) return;
  if (warnings_.insert(message).second) err_ << message_line("torch-ir", "warning: " + message);
}

void Console::note(const std::string& message) {
  if (!quiet_) err_ << message_line("torch-ir", message) << std::flush;
}

void Console::fail(const std::string& message) { err_ << message_line("torch-ir", message); }

std::vector<Command> all_commands() {
  return {info_command(),      visualize_command(), validate_command(), import_command(),
          execute_command(),   verify_command(),    compare_command(),  diff_command(),
          benchmark_command(), ops_command(),       cut_command()};
}

int run_cli(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
  Console console(out, err);
  ConsoleWarnings warnings(console);
  const c10::WarningUtils::WarningHandlerGuard guard(&warnings);
  int status = kBadInput;
  try {
    status = dispatch(arguments, console);
  } catch (const c10::Error& error) {
    console.fail(error.what_without_backtrace());
  } catch (const std::exception& error) {
    console.fail(error.what());
  }
  return finish_output(out, err, "torch-ir") ? status : kBadInput;
}

}  // namespace torch_ir
