// Reading the FILE of a command: IR JSON, or an archive of torch.export.save, by content. What is
// called an archive, or a file of tensors, has to be an archive.
#pragma once

#include <optional>
#include <string>

#include "torch_ir/exporter/exported_program.h"
#include "torch_ir/ir/ir.h"

namespace torch_ir {

struct GraphFile {
  IR ir;
  // Those of an archive; an IR file has none.
  std::optional<StateDict> weights;
  // Of the nodes of an archive.
  NodeOrigins origins = {};
};

// The graph of a command. Throws ValidationError for an IR that is not well formed, with its first
// problem.
GraphFile load_graph_file(const std::string& path);

// The graph as it is, well formed or not: for the command that lists all problems. Throws what
// reading throws.
GraphFile read_graph_file(const std::string& path);

}  // namespace torch_ir
