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

struct CompletionOption {
  // "--quiet", "-q".
  std::vector<std::string> names;
  std::string help;
  // The name of its value for a person; empty for a flag. A FILE is completed from the paths of
  // files and folders, a DIR from those of folders.
  std::string value;
};

struct CompletionCommand {
  // Empty for a program without commands.
  std::string name;
  std::string summary;
  std::vector<CompletionOption> options;
  // The names of its arguments that are no options. They are files but for those with words.
  std::vector<std::string> arguments;
};

// The options and arguments that `parser` declares.
CompletionCommand completion_of(const std::string& name, const std::string& summary,
                                const CLI::App& parser);

// What may be given for an option or an argument that is no path, by its name: words, or a shell
// command that prints them. Nothing is offered for other values, such as numbers.
struct CompletionValues {
  std::map<std::string, std::vector<std::string>> words;
  std::map<std::string, std::string> commands;
};

// A script for `shell`, "bash" or "zsh", to be sourced. Throws Error, naming these, for another.
std::string completion_script(const std::string& shell, const std::string& program,
                              const std::vector<CompletionCommand>& commands,
                              const CompletionValues& values);

}  // namespace torch_ir
