// The arguments of the programs that tests of models, archives and operators run, as BUILD files
// give them: --FLAG=VALUE.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace torch_ir {

using TestFlags = std::map<std::string_view, std::function<void(const std::string& value)>>;

// Hands the value of `argument` to its flag. Throws Error for an argument that is none of `flags`,
// and what the flag throws.
void take_flag(std::string_view argument, const TestFlags& flags);

// The items of a list with commas.
std::vector<std::string> items_of(const std::string& list);

// Where a test leaves its reports: TEST_UNDECLARED_OUTPUTS_DIR, or a folder called `name` for
// temporary files.
std::string report_directory(const std::string& name);

}  // namespace torch_ir
