#include "torch_ir/base/completion.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <utility>

#include "torch_ir/base/error.h"

namespace torch_ir {
namespace {

std::string join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

// As one word of a shell.
std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

// "torch-ir" as the name of a function.
std::string function_name(std::string program) {
  std::ranges::replace_if(program, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return "_" + program;
}

bool has_commands(const std::vector<CompletionCommand>& commands) {
  return commands.size() != 1 || !commands[0].name.empty();
}

std::vector<std::string> names_of(const std::vector<CompletionCommand>& commands) {
  std::vector<std::string> names;
  for (const CompletionCommand& command : commands) names.push_back(command.name);
  return names;
}

// What a shell offers in a place: words, as it makes them, or paths.
struct Offer {
  std::string words;
  bool has_paths = false;
  bool has_folders_only = false;
};

Offer words_offer(const std::string& name, const CompletionValues& values) {
  if (const auto words = values.words.find(name); words != values.words.end()) {
    return {.words = join(words->second)};
  }
  const auto command = values.commands.find(name);
  if (command == values.commands.end()) return {};
  return {.words = "$(" + command->second + " 2>/dev/null)"};
}

Offer offer_for(const CompletionOption& option, const CompletionValues& values) {
  for (const std::string& name : option.names) {
    if (Offer offer = words_offer(name, values); !offer.words.empty()) return offer;
  }
  const bool is_folder = option.value == "DIR";
  return {
      .words = "", .has_paths = is_folder || option.value == "FILE", .has_folders_only = is_folder};
}

Offer argument_offer(const CompletionCommand& command, const CompletionValues& values) {
  Offer all;
  for (const std::string& name : command.arguments) {
    const Offer offer = words_offer(name, values);
    all.words += (all.words.empty() ? "" : " ") + offer.words;
    if (offer.words.empty()) all.has_paths = true;
  }
  return all;
}

// --- bash ---

std::string bash_offer(const Offer& offer) {
  if (offer.has_paths) return offer.has_folders_only ? "paths=d" : "paths=f";
  return offer.words.empty() ? ":" : "words=\"" + offer.words + "\"";
}

// The cases of one command: what follows an option with a value, then everything else.
std::string bash_cases(const CompletionCommand& command, const CompletionValues& values) {
  std::string text;
  std::vector<std::string> all;
  for (const CompletionOption& option : command.options) {
    all.insert(all.end(), option.names.begin(), option.names.end());
    if (option.value.empty()) continue;
    std::string pattern;
    for (const std::string& name : option.names) {
      pattern += (pattern.empty() ? "" : " | ") + quoted(command.name + " " + name);
    }
    text += "    " + pattern + ") " + bash_offer(offer_for(option, values)) + " ;;\n";
  }
  const std::string options = quoted(join(all));
  const std::string rest =
      command.arguments.empty() ? "words=$options" : bash_offer(argument_offer(command, values));
  return text + "    " + quoted(command.name + " ") + "*) options=" + options + "; " + rest +
         " ;;\n";
}

std::string bash_script(const std::string& program, const std::vector<CompletionCommand>& commands,
                        const CompletionValues& values) {
  const std::string function = function_name(program);
  std::string text = "# Completion of " + program + " for bash.\n" + function + "() {\n";
  text +=
      "  local current=\"${COMP_WORDS[COMP_CWORD]}\" previous=\"${COMP_WORDS[COMP_CWORD - 1]}\"\n"
      "  local command='' words='' options='' paths='' i\n";
  if (has_commands(commands)) {
    text +=
        "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
        "    if [[ ${COMP_WORDS[i]} != -* ]]; then command=\"${COMP_WORDS[i]}\"; break; fi\n"
        "  done\n"
        "  if [[ -z $command ]]; then\n"
        "    COMPREPLY=($(compgen -W " +
        quoted(join(names_of(commands)) + " --help --version") +
        " -- \"$current\"))\n"
        "    return\n"
        "  fi\n";
  }
  text += "  case \"$command $previous\" in\n";
  for (const CompletionCommand& command : commands) text += bash_cases(command, values);
  text +=
      "  esac\n"
      "  if [[ -n $options && $current == -* ]]; then\n"
      "    COMPREPLY=($(compgen -W \"$options\" -- \"$current\"))\n"
      "  elif [[ -n $paths ]]; then\n"
      "    local IFS=$'\\n'\n"
      "    compopt -o filenames 2>/dev/null\n"
      "    COMPREPLY=($(compgen -\"$paths\" -- \"$current\"))\n"
      "  else\n"
      "    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
      "  fi\n"
      "}\n"
      "complete -F " +
      function + " " + program + "\n";
  return text;
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
  const std::string message = zsh_text(name) + ":";
  if (offer.has_paths) return message + (offer.has_folders_only ? "_files -/" : "_files");
  if (offer.words.empty()) return message + " ";
  const bool is_command = offer.words.starts_with('$');
  return message + (is_command ? "{compadd -- " + offer.words + "}" : "(" + offer.words + ")");
}

std::string zsh_arguments(const CompletionCommand& command, const CompletionValues& values,
                          const std::string& indent) {
  std::string text = indent + "_arguments -s";
  const auto add = [&](const std::string& argument) {
    text += " \\\n" + indent + "  " + quoted(argument);
  };
  for (const CompletionOption& option : command.options) {
    const std::string value =
        option.value.empty() ? "" : ":" + zsh_value(option.value, offer_for(option, values));
    // Options may come again.
    for (const std::string& name : option.names) {
      add("*" + name + "[" + zsh_text(option.help) + "]" + value);
    }
  }
  if (!command.arguments.empty()) {
    add("*:" + zsh_value(command.arguments.front(), argument_offer(command, values)));
  }
  return text + "\n";
}

std::string zsh_script(const std::string& program, const std::vector<CompletionCommand>& commands,
                       const CompletionValues& values) {
  const std::string function = function_name(program);
  std::string text = "#compdef " + program + "\n" + function + "() {\n";
  if (!has_commands(commands)) {
    text += zsh_arguments(commands[0], values, "  ");
  } else {
    text += "  if ((CURRENT == 2)); then\n    local -a commands=(\n";
    for (const CompletionCommand& command : commands) {
      text += "      " + quoted(command.name + ":" + zsh_text(command.summary)) + "\n";
    }
    text +=
        "    )\n    _describe command commands\n    return\n  fi\n"
        "  local command=$words[2]\n"
        "  shift words\n  ((CURRENT--))\n"
        "  case $command in\n";
    for (const CompletionCommand& command : commands) {
      text +=
          "    " + command.name + ")\n" + zsh_arguments(command, values, "      ") + "      ;;\n";
    }
    text += "  esac\n";
  }
  return text + "}\ncompdef " + function + " " + program + "\n";
}

}  // namespace

CompletionCommand completion_of(const std::string& name, const std::string& summary,
                                const CLI::App& parser) {
  CompletionCommand command{.name = name, .summary = summary, .options = {}, .arguments = {}};
  for (const CLI::Option* option : parser.get_options()) {
    if (option->get_positional()) {
      command.arguments.push_back(option->get_name());
      continue;
    }
    CompletionOption& described = command.options.emplace_back();
    for (const std::string& letter : option->get_snames()) described.names.push_back("-" + letter);
    for (const std::string& word : option->get_lnames()) described.names.push_back("--" + word);
    const std::string help = option->get_description();
    described.help = help.substr(0, help.find_first_of(";\n"));
    if (option->get_expected_max() > 0) {
      described.value = option->get_type_name().empty() ? "value" : option->get_type_name();
    }
  }
  return command;
}

std::string completion_script(const std::string& shell, const std::string& program,
                              const std::vector<CompletionCommand>& commands,
                              const CompletionValues& values) {
  if (shell == "bash") return bash_script(program, commands, values);
  if (shell == "zsh") return zsh_script(program, commands, values);
  throw Error("there is no completion for '" + shell + "': give bash or zsh");
}

}  // namespace torch_ir
