#include "torch_ir/base/completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>

#include "torch_ir/base/error.h"

namespace torch_ir {
namespace {

// As one word of a shell.
std::string shell_word(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

// "torch-ir" as the name of a function.
std::string function_name(std::string program) {
  std::ranges::replace_if(program, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return "_" + program;
}

// The program itself, where it has no commands.
std::vector<const CLI::App*> commands_of(const CLI::App& parser) {
  const std::vector<const CLI::App*> commands = parser.get_subcommands({});
  return commands.empty() ? std::vector{&parser} : commands;
}

std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  if (option.get_positional()) return {option.get_name()};
  for (const std::string& letter : option.get_snames()) names.push_back("-" + letter);
  for (const std::string& word : option.get_lnames()) names.push_back("--" + word);
  return names;
}

bool takes_value(const CLI::Option& option) { return option.get_expected_max() > 0; }

// What a shell offers in a place: words, as it makes them, or paths, as bash's compgen calls them.
struct Offer {
  std::string words = {};
  std::string paths = {};
};

Offer offer_for(const CLI::Option& option, const CompletionValues& values) {
  for (const std::string& name : names_of(option)) {
    if (const auto words = values.words.find(name); words != values.words.end()) {
      return {.words = fmt::format("{}", fmt::join(words->second, " "))};
    }
    if (const auto command = values.commands.find(name); command != values.commands.end()) {
      return {.words = "$(" + command->second + " 2>/dev/null)"};
    }
  }
  if (option.get_type_name() == "DIR") return {.paths = "d"};
  return {.paths = option.get_positional() || option.get_type_name() == "FILE" ? "f" : ""};
}

// --- bash ---

std::string bash_offer(const Offer& offer) {
  if (!offer.paths.empty()) return "paths=" + offer.paths;
  return offer.words.empty() ? ":" : "words=\"" + offer.words + "\"";
}

// The cases of one command: what follows an option with a value, then everything else.
std::string bash_cases(const CLI::App& parser, const std::string& command,
                       const CompletionValues& values) {
  std::string text;
  std::vector<std::string> all;
  std::string rest = "words=$options";
  for (const CLI::Option* option : parser.get_options()) {
    const std::string offer = bash_offer(offer_for(*option, values));
    if (option->get_positional()) {
      rest = offer;
      continue;
    }
    std::vector<std::string> patterns;
    for (const std::string& name : names_of(*option)) {
      all.push_back(name);
      patterns.push_back(shell_word(command + " " + name));
    }
    if (takes_value(*option)) {
      text += fmt::format("    {}) {} ;;\n", fmt::join(patterns, " | "), offer);
    }
  }
  const std::string options = fmt::format("{}", fmt::join(all, " "));
  return text + fmt::format("    {}*) options={}; {} ;;\n", shell_word(command + " "),
                            shell_word(options), rest);
}

constexpr const char* kBashWords = R"(
  local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD - 1]}"
  local command='' words='' options='' paths='' i
)";
constexpr const char* kBashCommand = R"(  for ((i = 1; i < COMP_CWORD; i++)); do
    if [[ ${COMP_WORDS[i]} != -* ]]; then command="${COMP_WORDS[i]}"; break; fi
  done
  if [[ -z $command ]]; then
    COMPREPLY=($(compgen -W "$commands --help --version" -- "$current"))
    return
  fi
)";
constexpr const char* kBashReply = R"(  esac
  if [[ -n $options && $current == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$current"))
  elif [[ -n $paths ]]; then
    local IFS=$'\n'
    compopt -o filenames 2>/dev/null
    COMPREPLY=($(compgen -"$paths" -- "$current"))
  else
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  fi
}
)";

std::string bash_script(const std::string& program, const CLI::App& parser,
                        const CompletionValues& values) {
  const std::string function = function_name(program);
  const bool has_commands = !parser.get_subcommands({}).empty();
  std::string names;
  std::string cases;
  for (const CLI::App* command : commands_of(parser)) {
    const std::string name = has_commands ? command->get_name() : "";
    names += (names.empty() ? "" : " ") + name;
    cases += bash_cases(*command, name, values);
  }
  std::string text = "# Completion of " + program + " for bash.\n" + function + "() {" + kBashWords;
  if (has_commands) text += "  local commands=" + shell_word(names) + "\n" + kBashCommand;
  return text + "  case \"$command $previous\" in\n" + cases + kBashReply + "complete -F " +
         function + " " + program + "\n";
}

// --- zsh ---

// Text between brackets of an argument of _arguments.
std::string zsh_text(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

// "MESSAGE:ACTION" of an argument of _arguments. A blank is the action that offers nothing.
std::string zsh_value(const std::string& name, const Offer& offer) {
  const std::string message = zsh_text(name.empty() ? "value" : name) + ":";
  if (!offer.paths.empty()) return message + (offer.paths == "d" ? "_files -/" : "_files");
  if (offer.words.empty()) return message + " ";
  const bool is_command = offer.words.starts_with('$');
  return message + (is_command ? "{compadd -- " + offer.words + "}" : "(" + offer.words + ")");
}

std::string zsh_arguments(const CLI::App& parser, const CompletionValues& values) {
  std::string text = "    _arguments -s";
  std::string rest;
  const auto argument = [](const std::string& word) { return " \\\n      " + shell_word(word); };
  for (const CLI::Option* option : parser.get_options()) {
    const Offer offer = offer_for(*option, values);
    if (option->get_positional()) {
      if (rest.empty()) rest = argument("*:" + zsh_value(option->get_name(), offer));
      continue;
    }
    const std::string help = option->get_description();
    const std::string value =
        takes_value(*option) ? ":" + zsh_value(option->get_type_name(), offer) : "";
    // Options may come again.
    for (const std::string& name : names_of(*option)) {
      text += argument("*" + name + "[" + zsh_text(help.substr(0, help.find_first_of(";\n"))) +
                       "]" + value);
    }
  }
  return text + rest + "\n";
}

std::string zsh_script(const std::string& program, const CLI::App& parser,
                       const CompletionValues& values) {
  const std::string function = function_name(program);
  std::string described;
  std::string cases;
  for (const CLI::App* command : parser.get_subcommands({})) {
    described += "      " +
                 shell_word(command->get_name() + ":" + zsh_text(command->get_description())) +
                 "\n";
    cases += "  " + command->get_name() + ")\n" + zsh_arguments(*command, values) + "    ;;\n";
  }
  std::string text = "#compdef " + program + "\n" + function + "() {\n";
  if (cases.empty()) {
    text += zsh_arguments(parser, values);
  } else {
    text += "  if ((CURRENT == 2)); then\n    local -a commands=(\n" + described + R"(    )
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  ((CURRENT--))
  case $command in
)" + cases + "  esac\n";
  }
  return text + "}\ncompdef " + function + " " + program + "\n";
}

}  // namespace

std::string completion_script(const std::string& shell, const std::string& program,
                              const CLI::App& parser, const CompletionValues& values) {
  if (shell == "bash") return bash_script(program, parser, values);
  if (shell == "zsh") return zsh_script(program, parser, values);
  throw Error("there is no completion for '" + shell + "': give bash or zsh");
}

}  // namespace torch_ir
