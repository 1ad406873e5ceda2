// Graphs, and texts of graphs, that the tests of the IR file have in common.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "torch_ir/ir/ir.h"
#include "torch_ir/ir/testing/test_nodes.h"

namespace torch_ir {

// A node with attributes of every type, and an input that names its argument: what version 1 of
// the format has.
IR extended_ir();

// An IR with `node` as its only node and `rest` behind it.
std::string ir_text(const std::string& node, const std::string& rest = "");
std::string node_text(const std::string& input, const std::string& rest = "");

}  // namespace torch_ir
