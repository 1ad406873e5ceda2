// Captures a C++ model as a Program.
//
// Runs the model once on the example inputs and records its operator calls as torch.export does:
// before autograd and before the decomposition of composite operators. On meta tensors nothing is
// computed and no weight is allocated. On real ones, buffers that the model writes to are put back
// as they were.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "torch_ir/exporter/capture/model.h"
#include "torch_ir/ir/program.h"

namespace torch_ir {

// A size of an input that the graph leaves open. Sizes of one symbol are equal. The input must have
// a size in this range.
struct DynamicSize {
  std::string input;
  int64_t dim = 0;
  std::string symbol;
  int64_t min = 1;
  std::optional<int64_t> max = std::nullopt;
};

struct ExportOptions {
  // Names the program, and the model in errors; if empty, the class of the model.
  std::string model_name = {};
  // One for each input; by default "x", or "x1", "x2", ...
  std::vector<std::string> input_names = {};
  // Throws ExportError for parameters, buffers and inputs that are not on the meta device.
  bool strict = false;
  // Recorded at a few sizes: {{"x", 0, "batch", 1, 64}} leaves dimension 0 of x open, from 1 to 64.
  std::vector<DynamicSize> dynamic = {};
};

// Captures `model` on `inputs`, all on real devices or all on meta. Parameters and buffers become
// placeholders `p_`, `b_`; registered constants `c_`; other tensors `c_lifted_tensor_N`.
//
// Throws ExportError, naming the operator and the model, if training mode would change the result,
// if an operator needs the data of a tensor (item, nonzero on meta, equal of two different
// tensors), if the model itself throws, and if a node follows dynamic sizes in another way than by
// a sum of products.
Program export_model(const Model& model, const std::vector<at::Tensor>& inputs,
                     const ExportOptions& options = {});

}  // namespace torch_ir
