#include "torch_ir/ir/testing/test_nodes.h"

#include <utility>

namespace torch_ir {

TensorMeta meta(std::string name, std::vector<int64_t> shape, std::string dtype) {
  TensorMeta tensor;
  tensor.name = std::move(name);
  tensor.shape = std::move(shape);
  tensor.dtype = std::move(dtype);
  return tensor;
}

TensorMeta made_by(TensorMeta tensor, std::string producer, int64_t index) {
  tensor.producer_node = std::move(producer);
  tensor.producer_output_idx = index;
  return tensor;
}

OpNode node(std::string name, std::string op_type, std::vector<TensorMeta> inputs,
            std::vector<TensorMeta> outputs) {
  OpNode result;
  result.name = std::move(name);
  result.op_type = std::move(op_type);
  result.inputs = std::move(inputs);
  result.outputs = std::move(outputs);
  return result;
}

}  // namespace torch_ir
