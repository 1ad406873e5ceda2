// extract_ir: turns a model into an IR in one call.
#pragma once

#include <string>
#include <vector>

#include "torch_ir/exporter/capture/capture.h"
#include "torch_ir/exporter/capture/model.h"
#include "torch_ir/ir/ir.h"

namespace torch_ir {

struct ExtractOptions {
  // If empty, the class of the model; see class_name.
  std::string model_name = {};
  // One for each input; if empty, "x", or "x1", "x2", ...
  std::vector<std::string> input_names = {};
  // Everything must be on the meta device, and a converter that fails is an error.
  bool strict = false;
  // The sizes of inputs that the graph leaves open:
  //   {.dynamic = {{"x", 0, "batch", 1, 64}}}  // dimension 0 of x is "batch", from 1 to 64
  std::vector<DynamicSize> dynamic = {};
};

// Throws ExportError if an unregistered constant of `program` has no values, naming its reader.
void check_constants(const Program& program);

// Captures `model` on `inputs` (export_model) and converts it (convert_exported_program). Put the
// module into eval mode first. Throws ExportError or ConversionError.
IR extract_ir(const Model& model, const std::vector<at::Tensor>& inputs,
              const ExtractOptions& options = {});

}  // namespace torch_ir
