// The weights of a program, taken from where the archive keeps them.
#pragma once

#include "torch_ir/exporter/exported_program.h"
#include "torch_ir/exporter/pt2/payload.h"
#include "torch_ir/ir/ir.h"

namespace torch_ir {

// Parameters and buffers of `program`, then what the state dict has beyond that; the values of
// lifted constants become program.constants. Throws ExportError, naming `archive`, for a weight
// that is missing, or whose shape or dtype is another than the graph says.
StateDict take_weights(const std::string& archive, Payload& weights, Payload& constants,
                       ExportedProgram& program);

}  // namespace torch_ir
