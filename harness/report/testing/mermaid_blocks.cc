#include "harness/report/testing/mermaid_blocks.h"

namespace torch_ir {

std::vector<std::string> mermaid_blocks(const std::string& page) {
  const std::string fence = "```mermaid\n";
  std::vector<std::string> blocks;
  for (size_t at = page.find(fence); at != std::string::npos; at = page.find(fence, at)) {
    at += fence.size();
    blocks.push_back(page.substr(at, page.find("```", at) - at));
  }
  return blocks;
}

}  // namespace torch_ir
