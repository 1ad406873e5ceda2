// What PyTorch is known to have written wrongly into archives.
#ifndef TORCH_IR_EXPORTER_PT2_KNOWN_FAULTS_H_
#define TORCH_IR_EXPORTER_PT2_KNOWN_FAULTS_H_

#include "torch_ir/exporter/exported_program.h"

namespace torch_ir {

// Puts right what can be told from the rest of the graph: PyTorch 2.6 to 2.9 wrote the final states
// of a bidirectional LSTM with a dimension too many. They have the shapes of the initial ones.
void repair_known_faults(ExportedGraph& graph);

}  // namespace torch_ir

#endif  // TORCH_IR_EXPORTER_PT2_KNOWN_FAULTS_H_
