#include "torch_ir/cli/output_file.h"

#include <filesystem>
#include <system_error>

#include "torch_ir/base/error.h"

namespace torch_ir {

void refuse_to_overwrite(const std::string& output, const std::vector<std::string>& inputs) {
  for (const std::string& input : inputs) {
    // A file that is not there is no other's equal; reading it says what is wrong with it.
    std::error_code ignored;
    if (output.empty() || input.empty() || !std::filesystem::equivalent(output, input, ignored)) {
      continue;
    }
    throw Error(output + ": writing there would overwrite the input '" + input +
                "'; give another file");
  }
}

}  // namespace torch_ir
