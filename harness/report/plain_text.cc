#include "harness/report/plain_text.h"

#include <algorithm>
#include <cctype>

#include "torch_ir/base/printable.h"

namespace torch_ir {
namespace {

bool is_lower(char c) { return std::islower(static_cast<unsigned char>(c)) != 0; }

// "seed", and not "oneDNN", "aten::add" or "x_1".
bool starts_with_word(std::string_view text) {
  std::string_view word = text.substr(0, text.find(' '));
  if (word.ends_with(':') || word.ends_with(',')) word.remove_suffix(1);
  return !word.empty() && std::ranges::all_of(word, is_lower);
}

}  // namespace

std::string shown_text(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of("\n\t"), text.size());
    shown += printable(text.substr(0, end), text.npos);
    shown += text.substr(end, 1);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return shown;
}

std::string as_sentence(std::string text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) {
    text.pop_back();
  }
  if (text.empty()) return text;
  if (starts_with_word(text)) text[0] = static_cast<char>(text[0] - 'a' + 'A');
  if (std::string_view(".!?:").find(text.back()) == std::string_view::npos) text += '.';
  return text;
}

}  // namespace torch_ir
