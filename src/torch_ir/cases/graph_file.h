// GraphFile: a graph in a file of a user, IR JSON or an archive of torch.export.save (.pt2).
#pragma once

#include <optional>
#include <string>

#include "torch_ir/exporter/pt2/pt2.h"
#include "torch_ir/ir/ir.h"
#include "torch_ir/runtime/graph/case.h"
#include "torch_ir/weights/pt.h"

namespace torch_ir {

struct GraphFile {
  std::string path = {};
  IR ir = {};
  // An archive's program, which does not depend on how it is written as an IR, and weights. Of a
  // document neither is set.
  Case content = {};
  // Archives only.
  std::optional<Pt2Examples> examples = std::nullopt;
  SourceLines source_lines = {};

  bool is_archive() const { return examples.has_value(); }
};

// Reads IR JSON, and names its state. Checks no more than load_ir.
GraphFile read_graph(const std::string& path);

// Throws as read_pt2, and ConversionError with the path.
GraphFile read_archive(const std::string& path, const std::string& program,
                       WeightBytes bytes = WeightBytes::kChecked);

// The weights in the file at `path`, under the names of the program, which must be set; without a
// path, those of the archive. Throws WeightError, and Error if the archive has no values.
StateDict weights_for(const GraphFile& file, const std::string& path,
                      const LoadWeightsOptions& options = {});

}  // namespace torch_ir
