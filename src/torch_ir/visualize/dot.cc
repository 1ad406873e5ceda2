#include "torch_ir/visualize/dot.h"

#include "torch_ir/visualize/dot_writer.h"
#include "torch_ir/visualize/labels.h"
#include "torch_ir/visualize/sketch.h"

namespace torch_ir {

std::string ir_to_dot(const IR& ir, const MermaidOptions& options) {
  DotWriter writer(printable_name(ir.model_name));
  writer.add(sketch_graph(ir, {.nodes = options.max_nodes}));
  return std::move(writer).take();
}

}  // namespace torch_ir
