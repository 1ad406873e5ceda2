// OUT/junit.xml: a run as the viewers of CI systems read it.
//
// One suite with a test case a model, in the order of the run. Viewers group by class name; it is
// "torch_ir." and the first category of the model. An expected failure is skipped, with its
// reason, and a model that passes in spite of one has failed. What a model's process printed last
// is its output. Valid XML 1.0 whatever bytes names and messages hold, and without times unless the
// context asks for them.
#ifndef TORCH_IR_HARNESS_REPORT_JUNIT_H_
#define TORCH_IR_HARNESS_REPORT_JUNIT_H_

#include <string>
#include <vector>

#include "torch_ir/harness/results/result.h"
#include "torch_ir/harness/results/run_context.h"

namespace torch_ir {

std::string to_junit_xml(const std::vector<ModelResult>& results, const RunContext& context);

}  // namespace torch_ir

#endif  // TORCH_IR_HARNESS_REPORT_JUNIT_H_
