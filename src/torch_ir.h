// All of torch-ir: link //:torch_ir and include "torch_ir/torch_ir.h".
//
// Programs that need one room only include its headers and link its targets instead; they compile
// faster.
#ifndef TORCH_IR_TORCH_IR_H_
#define TORCH_IR_TORCH_IR_H_

#include "torch_ir/base/error.h"                  // IWYU pragma: export
#include "torch_ir/converter/converter.h"         // IWYU pragma: export
#include "torch_ir/converter/extract.h"           // IWYU pragma: export
#include "torch_ir/converter/graph_analyzer.h"    // IWYU pragma: export
#include "torch_ir/executor/execution_options.h"  // IWYU pragma: export
#include "torch_ir/executor/execution_plan.h"     // IWYU pragma: export
#include "torch_ir/executor/executor_registry.h"  // IWYU pragma: export
#include "torch_ir/executor/ir_executor.h"        // IWYU pragma: export
#include "torch_ir/exporter/capture.h"            // IWYU pragma: export
#include "torch_ir/exporter/exported_program.h"   // IWYU pragma: export
#include "torch_ir/exporter/lifted_constants.h"   // IWYU pragma: export
#include "torch_ir/exporter/meta_device.h"        // IWYU pragma: export
#include "torch_ir/exporter/model.h"              // IWYU pragma: export
#include "torch_ir/ir/ir.h"                       // IWYU pragma: export
#include "torch_ir/ir/json.h"                     // IWYU pragma: export
#include "torch_ir/ir/validate.h"                 // IWYU pragma: export
#include "torch_ir/models/registry.h"             // IWYU pragma: export
#include "torch_ir/verifier/compare.h"            // IWYU pragma: export
#include "torch_ir/verifier/verify.h"             // IWYU pragma: export
#include "torch_ir/visualize/dot.h"               // IWYU pragma: export
#include "torch_ir/visualize/mermaid.h"           // IWYU pragma: export
#include "torch_ir/visualize/summary.h"           // IWYU pragma: export
#include "torch_ir/weights/pt.h"                  // IWYU pragma: export
#include "torch_ir/weights/safetensors.h"         // IWYU pragma: export
#include "torch_ir/weights/state_dict.h"          // IWYU pragma: export

#endif  // TORCH_IR_TORCH_IR_H_
