// The diagrams of a page, for tests.
#ifndef TORCH_IR_HARNESS_REPORT_MERMAID_BLOCKS_H_
#define TORCH_IR_HARNESS_REPORT_MERMAID_BLOCKS_H_

#include <string>
#include <vector>

namespace torch_ir {

// The contents of all ```mermaid blocks of `page`.
std::vector<std::string> mermaid_blocks(const std::string& page);

}  // namespace torch_ir

#endif  // TORCH_IR_HARNESS_REPORT_MERMAID_BLOCKS_H_
