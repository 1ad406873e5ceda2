// What PyTorch is known to have written wrongly into archives.
#pragma once

#include "torch_ir/exporter/exported_program.h"

namespace torch_ir {

// Puts right what can be told from the rest of the graph: PyTorch 2.6 to 2.9 wrote the final states
// of a bidirectional LSTM with a dimension too many. They have the shapes of the initial ones.
void repair_known_faults(ExportedGraph& graph);

}  // namespace torch_ir
