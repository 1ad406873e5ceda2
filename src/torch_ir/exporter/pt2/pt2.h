// Archives of torch.export.save (`.pt2`): an ExportedProgram with its weights.
//
// The second front end beside capture: what is read here goes through the same converter. Called by
// every command that takes a FILE and by the harness. All three layouts that PyTorch has written
// are read (archive.h). Nothing in an archive is executed or evaluated; what is not understood is
// refused by name.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "torch_ir/exporter/exported_program.h"
#include "torch_ir/ir/ir.h"

namespace torch_ir {

struct Pt2Model {
  // With the values of lifted constants that are tensors. The model's name is its class, or the
  // file's stem where the archive does not tell.
  ExportedProgram program;
  // Parameters and buffers by their names in the state dict, those too that the graph does not use
  // or that are not persistent. They are views of the mapped file wherever that is possible.
  StateDict weights = StateDict();
};

// Whether the file at `path` is to be read by read_pt2: whether it is a zip archive, of whatever
// kind. By its content; throws Error when it can not be opened.
bool is_pt2_archive(const std::string& path);

// Throws ExportError, with the path, for what is no such archive, is damaged, or holds what this
// reader does not know.
Pt2Model read_pt2(const std::string& path);

// The example inputs that the archive at `path` was exported with, by the names of the graph
// inputs; numbers as tensors without dimensions. Nothing where the archive has none. Throws
// ExportError where they can not be read without executing code, or do not fit the inputs of the
// model.
std::optional<StateDict> read_pt2_example_inputs(const std::string& path);

// The inputs that the archive at `path` was exported with, one for each graph input of `ir`, its
// graph. Throws Error, with the advice to give inputs, where the archive does not have them all, or
// they can not be read.
std::vector<at::Tensor> example_graph_inputs(const std::string& path, const IR& ir);

}  // namespace torch_ir
