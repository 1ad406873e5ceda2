// Operators that run graphs: wrappers are inlined, control flow keeps its graphs.
#pragma once

#include "torch_ir/exporter/pt2/lower_graph.h"
#include "torch_ir/exporter/pt2/serialized_graph.h"

namespace torch_ir {

// torch.set_grad_enabled changes no value.
void inline_set_grad_enabled(const SerializedNode& node, const LoweringContext& context);
// torch.autocast, for the CPU; regions for other devices change nothing here.
void inline_autocast(const SerializedNode& node, const LoweringContext& context);
// An operator with effects, which a token keeps in order; the order of nodes does that here.
void inline_with_effects(const SerializedNode& node, const LoweringContext& context);

void lower_cond(const SerializedNode& node, const LoweringContext& context);
void lower_while_loop(const SerializedNode& node, const LoweringContext& context);

}  // namespace torch_ir
