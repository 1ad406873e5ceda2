// Values, nodes and graphs, and their texts, for the tests of the IR file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "torch_ir/ir/ir.h"

namespace torch_ir {

TensorMeta meta(std::string name, std::vector<int64_t> shape, std::string dtype = "float32");
TensorMeta made_by(TensorMeta tensor, std::string producer, int64_t index = 0);
OpNode node(std::string name, std::string op_type, std::vector<TensorMeta> inputs,
            std::vector<TensorMeta> outputs);

// A node with attributes of every type, and an input that names its argument, as version 1 allows.
IR extended_ir();

std::string ir_text(const std::string& node, const std::string& rest = "");
std::string node_text(const std::string& input, const std::string& rest = "");

}  // namespace torch_ir
