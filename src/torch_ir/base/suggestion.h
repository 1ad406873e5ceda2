// Suggestions for mistyped words: commands, models, categories.
#pragma once

#include <string>
#include <vector>

namespace torch_ir {

// "; did you mean 'info'?" with the word of `known` closest to `word`, ignoring case; empty if none
// is close.
std::string suggest(const std::string& word, const std::vector<std::string>& known);

}  // namespace torch_ir
