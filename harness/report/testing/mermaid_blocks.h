// The diagrams of a page, for tests.
#pragma once

#include <string>
#include <vector>

namespace torch_ir {

// The contents of all ```mermaid blocks of `page`.
std::vector<std::string> mermaid_blocks(const std::string& page);

}  // namespace torch_ir
