// Tensor files: inputs, outputs and expected outputs of a graph, by name.
//
// A tensor file is a safetensors file keyed by the names of the graph's inputs or outputs. A value
// that a graph returns twice is stored once.
#ifndef TORCH_IR_CLI_TENSOR_FILES_H_
#define TORCH_IR_CLI_TENSOR_FILES_H_

#include <string>
#include <vector>

#include "torch_ir/ir/ir.h"

namespace torch_ir {

// One tensor for each of `values`, which are `what` ("input" or "output") of the graph. Throws
// Error when the file lacks one, or has one that is none of them.
std::vector<at::Tensor> read_tensor_file(const std::string& path,
                                         const std::vector<TensorMeta>& values,
                                         const std::string& what);

// Writes the tensors under the names of `values`.
void write_tensor_file(const std::string& path, const std::vector<TensorMeta>& values,
                       const std::vector<at::Tensor>& tensors);

}  // namespace torch_ir

#endif  // TORCH_IR_CLI_TENSOR_FILES_H_
