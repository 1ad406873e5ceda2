// All of torch-ir: link //:torch_ir and include "torch_ir/torch_ir.h".
//
// The headers listed here are installed and form the public interface; src/torch_ir/BUILD.bazel has
// the headers that these include in turn.
#pragma once

// IWYU pragma: begin_exports
#include "torch_ir/analysis/summary.h"
#include "torch_ir/base/error.h"
#include "torch_ir/base/version.h"
#include "torch_ir/converter/converter.h"
#include "torch_ir/converter/extract.h"
#include "torch_ir/exporter/capture/capture.h"
#include "torch_ir/exporter/capture/lifted_constants.h"
#include "torch_ir/exporter/capture/model.h"
#include "torch_ir/exporter/meta/meta_device.h"
#include "torch_ir/exporter/pt2/pt2.h"
#include "torch_ir/ir/document.h"
#include "torch_ir/ir/ir.h"
#include "torch_ir/ir/json.h"
#include "torch_ir/ir/program.h"
#include "torch_ir/ir/resolve.h"
#include "torch_ir/operators/op_handler_registry.h"
#include "torch_ir/registry/registry.h"
#include "torch_ir/runtime/check_values.h"
#include "torch_ir/runtime/execution_plan.h"
#include "torch_ir/runtime/graph/execution_options.h"
#include "torch_ir/runtime/ir_executor.h"
#include "torch_ir/verifier/compare.h"
#include "torch_ir/verifier/verify.h"
#include "torch_ir/visualize/dot.h"
#include "torch_ir/visualize/mermaid.h"
#include "torch_ir/weights/pt.h"
#include "torch_ir/weights/safetensors.h"
#include "torch_ir/weights/state_dict.h"
// IWYU pragma: end_exports
