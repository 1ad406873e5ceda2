#include "torch_ir/base/options.h"

#include <iterator>

#include "torch_ir/base/printable.h"
#include "torch_ir/base/suggestion.h"

namespace torch_ir {
namespace {

std::string unexpected_argument(const CLI::App& parser) {
  const std::string argument = parser.remaining().front();
  if (!argument.starts_with('-')) return "unexpected argument '" + printable(argument) + "'";
  const std::string name = argument.substr(0, argument.find('='));
  std::vector<std::string> known;
  for (const CLI::Option* option : parser.get_options()) {
    for (const std::string& word : option->get_lnames()) known.push_back("--" + word);
  }
  return "unknown option '" + printable(name) + "'" + suggest(name, known);
}

// Rewords CLI11's "At Most 1 required but received 2" and "1 required N missing".
std::string mismatch_text(const std::string& message) {
  const std::string option = message.substr(0, message.find(':'));
  const bool is_repeated = message.find("At Most") != std::string::npos;
  return option + (is_repeated ? " is given more than once" : " needs a value");
}

bool looks_like_an_option(const CLI::App& parser, const std::string& word) {
  const bool is_long = word.size() > 2 && word.starts_with("--");
  return is_long || (word.starts_with('-') && parser.get_option_no_throw(word) != nullptr);
}

// CLI11 takes any word as the value of an option, even the next option.
void check_values(const CLI::App& parser, const std::vector<std::string>& arguments) {
  for (auto word = arguments.begin(); word != arguments.end() && *word != "--"; ++word) {
    if (!word->starts_with('-')) continue;
    const bool is_empty = word->starts_with("--") && word->find('=') == word->size() - 1;
    const std::string name = is_empty ? word->substr(0, word->size() - 1) : *word;
    const CLI::Option* option = parser.get_option_no_throw(name);
    if (option == nullptr || option->get_items_expected_min() == 0) continue;
    const auto value = std::next(word);
    if (is_empty || value == arguments.end() || looks_like_an_option(parser, *value)) {
      throw Error(option->get_name() + " needs a value");
    }
    word = value;
  }
}

}  // namespace

void parse_arguments(CLI::App& parser, const std::vector<std::string>& arguments) {
  try {
    check_values(parser, arguments);
    // CLI11 expects the arguments in reverse order.
    parser.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::Success&) {
    throw;
  } catch (const CLI::ExtrasError&) {
    throw Error(unexpected_argument(parser));
  } catch (const CLI::ArgumentMismatch& error) {
    throw Error(mismatch_text(error.what()));
  } catch (const CLI::ParseError& error) {
    throw Error(error.what());
  }
}

}  // namespace torch_ir
