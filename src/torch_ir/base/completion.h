// Shell completion: what can be typed next, as a script for bash or zsh.
//
// Made by `torch-ir completion` and `harness --completion` from the very declarations that parse
// the arguments, so a new option is completed as soon as it is there.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace torch_ir {

// What may be given for an option or an argument that is no path, by its name: words, or a shell
// command that prints them. Of other options, a FILE is completed from the paths of files and
// folders, a DIR from those of folders, and nothing is offered for the rest, such as numbers. Other
// arguments are files.
struct CompletionValues {
  std::map<std::string, std::vector<std::string>> words;
  std::map<std::string, std::string> commands;
};

// A script for `shell`, "bash" or "zsh", to be sourced, which completes `program` as `parser`
// declares it; its commands are the subcommands of `parser`. Throws Error, naming the shells, for
// another one.
std::string completion_script(const std::string& shell, const std::string& program,
                              const CLI::App& parser, const CompletionValues& values);

}  // namespace torch_ir
