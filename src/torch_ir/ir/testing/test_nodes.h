// For tests: values and nodes of graphs that are written by hand.
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

}  // namespace torch_ir
