// operators_of: what the models of a run ask of a backend.
//
// The answer to `harness --supported LIST`: each model is extracted in this process, on the meta
// device, and nothing runs. support_report.h says what the list makes of it.
#ifndef TORCH_IR_HARNESS_SUPPORTED_H_
#define TORCH_IR_HARNESS_SUPPORTED_H_

#include <vector>

#include "torch_ir/harness/model_source.h"
#include "torch_ir/visualize/support_report.h"

namespace torch_ir {

// In the order of `models`. One that can not be extracted has an error in place of operators.
// Throws Error for a name that nobody registered.
std::vector<GraphOperators> operators_of(const std::vector<ModelSource>& models);

}  // namespace torch_ir

#endif  // TORCH_IR_HARNESS_SUPPORTED_H_
