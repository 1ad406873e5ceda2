#include "torch_ir/converter/extract.h"

#include "torch_ir/converter/converter.h"
#include "torch_ir/exporter/capture/capture.h"

namespace torch_ir {

IR extract_ir(const Model& model, const std::vector<at::Tensor>& inputs,
              const ExtractOptions& options) {
  const ExportedProgram program =
      export_model(model, inputs, {.input_names = options.input_names, .strict = options.strict});
  return convert_exported_program(program, options.model_name, options.strict);
}

}  // namespace torch_ir
