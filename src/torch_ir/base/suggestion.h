// Suggestions for mistyped words: commands, models, categories.
#pragma once

#include <string>
#include <vector>

namespace torch_ir {

// "; did you mean 'info'?" with the word of `known` that is most like `word`, upper and lower case
// being the same; empty when none is.
std::string suggest(const std::string& word, const std::vector<std::string>& known);

}  // namespace torch_ir
