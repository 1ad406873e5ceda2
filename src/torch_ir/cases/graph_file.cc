#include "torch_ir/cases/graph_file.h"

#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/converter/converter.h"
#include "torch_ir/ir/json.h"
#include "torch_ir/runtime/graph/state.h"
#include "torch_ir/weights/graph_names.h"
#include "torch_ir/weights/state_dict.h"

namespace torch_ir {

GraphFile read_graph(const std::string& path) {
  GraphFile file{.path = path, .ir = load_ir(path)};
  add_state(file.ir);
  return file;
}

GraphFile read_archive(const std::string& path, const std::string& program, WeightBytes bytes) {
  Pt2Model model = read_pt2(path, program, bytes);
  try {
    SourceLines source_lines = source_lines_of(model.program);
    return {.path = path,
            .ir = convert_exported_program(model.program),
            .content = Case{.weights = std::move(model.weights)}.with(std::move(model.program)),
            .examples = std::move(model.examples),
            .source_lines = std::move(source_lines)};
  } catch (const ConversionError& error) {
    throw ConversionError(path + ": " + error.what());
  }
}

StateDict weights_for(const GraphFile& file, const std::string& path,
                      const LoadWeightsOptions& options) {
  if (!path.empty()) return with_graph_names(load_weights(path, options), *file.content.program);
  check_have_values(file.path, file.content.weights);
  return file.content.weights;
}

}  // namespace torch_ir
