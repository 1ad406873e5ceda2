// The weights and constants of an archive: by name, and as those of a program.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/ordered_dict.h>

#include <functional>
#include <string>

#include "torch_ir/exporter/exported_program.h"
#include "torch_ir/exporter/pt2/archive.h"
#include "torch_ir/ir/ir.h"

namespace torch_ir {

// By name, in the order of the archive; objects that are no tensors among them. Tensors are made
// when they are asked for; those that share memory in the archive share it here. A maker throws
// ExportError that names archive and tensor where the archive's bytes do not make the tensor that
// it says, or it is no plain tensor.
using Payload = torch::OrderedDict<std::string, std::function<at::Tensor()>>;

// Reads the pickle or the configuration of `entries` in `archive`, which must outlive what is
// returned. Throws ExportError.
Payload open_payload(const Pt2Archive& archive, const PayloadEntries& entries);

// Parameters and buffers of `program`, then what the state dict has beyond that; the values of
// lifted constants become program.constants. Throws ExportError, naming `archive`, for a weight
// that is missing, or whose shape or dtype is another than the graph says.
StateDict take_weights(const std::string& archive, const Payload& weights, const Payload& constants,
                       ExportedProgram& program);

}  // namespace torch_ir
