// The weights and constants of an archive, by name.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <vector>

#include "torch_ir/exporter/pt2/archive.h"

namespace torch_ir {

// Tensors are made when they are asked for. Those that share memory in the archive share it here.
class Payload {
 public:
  virtual ~Payload() = default;

  // All names, in the order of the archive; objects that are no tensors among them.
  virtual std::vector<std::string> names() const = 0;
  // Undefined when there is none of that name. Throws ExportError that names archive and tensor
  // where the archive's bytes do not make the tensor that it says, or it is no plain tensor.
  virtual at::Tensor find(const std::string& name) = 0;
};

// Reads the pickle or the configuration of `entries`. Throws ExportError.
std::unique_ptr<Payload> open_payload(const Pt2Archive& archive, const PayloadEntries& entries);

}  // namespace torch_ir
