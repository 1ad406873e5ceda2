// Suggestions for mistyped words.
#ifndef TORCH_IR_CLI_SUGGESTION_H_
#define TORCH_IR_CLI_SUGGESTION_H_

#include <string>
#include <vector>

namespace torch_ir {

// "; did you mean 'info'?" with the word of `known` that is most like `word`; empty when none is.
std::string suggest(const std::string& word, const std::vector<std::string>& known);

}  // namespace torch_ir

#endif  // TORCH_IR_CLI_SUGGESTION_H_
