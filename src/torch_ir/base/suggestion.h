// Suggestions for mistyped words: commands, models, categories.
#pragma once

#include <string>
#include <vector>

namespace torch_ir {

// "; did you mean 'info'?" with the shortest words of `known` that begin with `word`, at most five,
// or else the closest one. Ignores case. Empty if none is close.
std::string suggest(const std::string& word, const std::vector<std::string>& known);

}  // namespace torch_ir
