// extract_ir: turns a model into an IR in one call.
#pragma once

#include <vector>

#include "torch_ir/exporter/capture/capture.h"
#include "torch_ir/exporter/capture/model.h"
#include "torch_ir/ir/ir.h"

namespace torch_ir {

// `strict` also makes it an error that a converter fails.
using ExtractOptions = ExportOptions;

// Throws ExportError if an unregistered constant of `program` has no values, naming its reader.
void check_constants(const Program& program);

// Captures `model` on `inputs` (export_model) and converts it (convert_exported_program). Put the
// module into eval mode first. Throws ExportError or ConversionError.
[[nodiscard]] IR extract_ir(const Model& model, const std::vector<at::Tensor>& inputs,
                            const ExtractOptions& options = {});

}  // namespace torch_ir
