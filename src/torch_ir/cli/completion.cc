// torch-ir completion: what a shell needs to complete command lines of torch-ir.

#include "torch_ir/base/completion.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "torch_ir/cli/command.h"
#include "torch_ir/cli/options.h"

namespace torch_ir {
namespace {

const CompletionValues kValues = {
    .words = {{"--optimization", {"exact", "fast"}},
              {"--device", {"cpu", "cuda"}},
              {"--tolerance", {"dtype"}},
              {"SHELL", {"bash", "zsh"}}},
    .commands = {},
};

int run_completion(const std::string& shell, Console& console) {
  std::vector<CompletionCommand> commands;
  for (const Command& command : all_commands()) {
    CLI::App parser(command.summary, command.name);
    // What the declarations write to lives as long as the action.
    const Command::Action action = command.declare(parser);
    bool quiet = false;
    add_common_options(parser, quiet);
    commands.push_back(completion_of(command.name, command.summary, parser));
  }
  console.out() << completion_script(shell, "torch-ir", commands, kValues);
  return kDone;
}

Command::Action declare_completion(CLI::App& parser) {
  const auto shell = std::make_shared<std::string>();
  parser.add_option("SHELL", *shell, "bash or zsh")->required()->type_name("");
  return [shell](Console& console) { return run_completion(*shell, console); };
}

}  // namespace

Command completion_command() {
  return {.name = "completion",
          .summary = "Print a completion script for bash or zsh",
          .examples =
              "  torch-ir completion bash > ~/.local/share/bash-completion/completions/torch-ir\n"
              "  torch-ir completion zsh > \"${fpath[1]}/_torch-ir\"\n",
          .declare = declare_completion};
}

}  // namespace torch_ir
