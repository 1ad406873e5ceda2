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
  CLI::App parser;
  // What the declarations write to lives as long as the actions.
  std::vector<Command::Action> actions;
  bool quiet = false;
  for (const Command& command : all_commands()) {
    CLI::App& declared = *parser.add_subcommand(command.name, command.summary);
    actions.push_back(command.declare(declared));
    add_common_options(declared, quiet);
  }
  console.out() << completion_script(shell, "torch-ir", parser, kValues);
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
