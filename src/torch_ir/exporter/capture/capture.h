// Capture: a C++ model to an ExportedProgram.
//
// The model runs once on the example inputs while every operator call is recorded at the level of
// torch.export: before autograd, before composite operators are decomposed. On meta tensors
// nothing is computed and no weight is allocated.
#pragma once

#include <string>
#include <vector>

#include "torch_ir/exporter/capture/model.h"
#include "torch_ir/exporter/exported_program.h"

namespace torch_ir {

struct ExportOptions {
  // One for each input; when empty "x", or "x1", "x2", ...
  std::vector<std::string> input_names = {};
  // Parameters, buffers and inputs that are not on the meta device are an ExportError.
  bool strict = false;
};

// Captures `model` on `inputs`, all on real devices or all on meta. Parameters and buffers of the
// model's module become placeholders `p_`, `b_`; registered constants `c_`; tensors from elsewhere
// `c_lifted_tensor_N`.
//
// Throws ExportError, naming the operator and the model, when the model is in training mode and
// that makes a difference, when an operator needs the data of a tensor (item, nonzero on meta,
// equal of two different tensors), and when the model itself throws.
ExportedProgram export_model(const Model& model, const std::vector<at::Tensor>& inputs,
                             const ExportOptions& options = {});

}  // namespace torch_ir
