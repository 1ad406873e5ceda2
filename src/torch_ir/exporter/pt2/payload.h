// The weights and constants of an archive: by name, and as those of a program.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "torch_ir/exporter/exported_program.h"
#include "torch_ir/exporter/pt2/archive.h"
#include "torch_ir/ir/ir.h"

namespace torch_ir {

// Tensors are made when they are asked for. Those that share memory in the archive share it here.
class Payload {
 public:
  // `make` throws ExportError that names archive and tensor where the archive's bytes do not make
  // the tensor that it says, or it is no plain tensor. Of two of one name the first counts.
  void add(const std::string& name, std::function<at::Tensor()> make);

  // All names, in the order of the archive; objects that are no tensors among them.
  const std::vector<std::string>& names() const { return names_; }
  // Undefined when there is none of that name.
  at::Tensor find(const std::string& name) const;

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::function<at::Tensor()>> makers_;
};

// Reads the pickle or the configuration of `entries` in `archive`, which must outlive what is
// returned. Throws ExportError.
Payload open_payload(const Pt2Archive& archive, const PayloadEntries& entries);

// Parameters and buffers of `program`, then what the state dict has beyond that; the values of
// lifted constants become program.constants. Throws ExportError, naming `archive`, for a weight
// that is missing, or whose shape or dtype is another than the graph says.
StateDict take_weights(const std::string& archive, const Payload& weights, const Payload& constants,
                       ExportedProgram& program);

}  // namespace torch_ir
