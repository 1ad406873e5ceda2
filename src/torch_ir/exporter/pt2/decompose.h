// What a composite operator consists of.
//
// Used by autocast.h, for operators such as lstm and einsum that have no rule of their own for
// autocast: the operators that they call have.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <vector>

#include "torch_ir/exporter/exported_program.h"
#include "torch_ir/exporter/pt2/graph_builder.h"

namespace torch_ir {

struct Part {
  ExportedNode node;
  std::vector<ValueMeta> outputs;
};

// The calls that `op` makes for `node`, in order, by running it on zeros of the shapes that the
// graph says. The last ones make `node`'s outputs, under their names; other values get new names.
// Where `may_grow`, it runs on the meta device first, to see that it makes nothing much larger than
// it takes; not all operators can.
//
// Throws ExportError for an operator that is not composite, for shapes that are not known or so
// large that this would take long, and where it can not be said which calls make what.
std::vector<Part> decompose(const ExportedNode& node, const c10::OperatorHandle& op, bool may_grow,
                            GraphBuilder& builder);

}  // namespace torch_ir
