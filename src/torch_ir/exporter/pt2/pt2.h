// Archives of torch.export.save (`.pt2`): a program with its weights and example inputs.
//
// Reads all three layouts that PyTorch has written. Never executes or evaluates
// anything in an archive; rejects unknown content by name.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "torch_ir/base/error.h"
#include "torch_ir/ir/ir.h"
#include "torch_ir/ir/program.h"

namespace torch_ir {

struct Pt2Examples {
  std::string archive = {};
  // By the names of the graph inputs; numbers are tensors without dimensions.
  StateDict inputs = StateDict();
  // Why there are none, one line; empty if there are.
  std::string problem = {};

  // One for each user input of `graph`, that of the archive. Throws Error, with the advice to give
  // inputs, if any is missing or cannot be read.
  std::vector<at::Tensor> for_graph(const Graph& graph) const;
};

// Whether the checksums of weights are checked, which reads all their bytes. Callers that need no
// values do without.
enum class WeightBytes { kChecked, kUnread };

struct Pt2Model {
  // Includes the values of lifted constants that are tensors, and of buffers that are not
  // persistent. The model's name is its class, or the file's stem if the archive does not say.
  Program program;
  // Parameters and buffers by state dict name, including those that the graph does not use. They
  // are views of the mapped file if possible, and on the meta device if the archive has no values
  // for them.
  StateDict weights = StateDict();
  Pt2Examples examples = {};
};

// The archive has no program of the name that was asked for.
class NoSuchProgram : public ExportError {
 public:
  using ExportError::ExportError;
};

// Whether the file at `path` is a zip archive of any kind, judging by its content. Throws Error if
// it cannot be opened.
bool is_pt2_archive(const std::string& path);

// Reads the program called `program`. Throws NoSuchProgram, or ExportError for files
// that are not such archives, are damaged, or have unknown content; both with the path.
Pt2Model read_pt2(const std::string& path, const std::string& program = {},
                  WeightBytes bytes = WeightBytes::kChecked);

// Throws Error, with the path and what to do, if tensors of `weights` have no values, because the
// model was exported on the meta device or under FakeTensorMode.
void check_have_values(const std::string& path, const StateDict& weights);

// The example inputs of the archive at `path`, by the names of the graph inputs; numbers as tensors
// without dimensions. Nothing if the archive has none. Throws ExportError if reading them would
// execute code, or they do not fit the model's inputs.
std::optional<StateDict> read_pt2_example_inputs(const std::string& path,
                                                 const std::string& program = {});

}  // namespace torch_ir
