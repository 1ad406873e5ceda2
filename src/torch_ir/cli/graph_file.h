// Reading the FILE of a command: IR JSON, or an archive of torch.export.save, by content.
#pragma once

#include <optional>
#include <string>

#include "torch_ir/cli/command.h"
#include "torch_ir/ir/ir.h"

namespace torch_ir {

struct GraphFile {
  IR ir;
  // Those of an archive; an IR file has none.
  std::optional<StateDict> weights;
};

// For commands that run the graph. Throws ValidationError for an IR that is not well formed, with
// its first problem.
GraphFile load_graph_file(const std::string& path);

// For commands that show the graph: also one that is not well formed, with a warning.
IR load_graph_to_show(const std::string& path, Console& console);

// The graph as it is. Throws what reading throws.
GraphFile read_graph_file(const std::string& path);

}  // namespace torch_ir
