// OUT/junit.xml: a run as the viewers of CI systems read it.
//
// One suite with a test case a model, in the order of the run. Viewers group by class name; it is
// "torch_ir." and the first category of the model. An expected failure is skipped, with its
// reason, and a model that passes in spite of one has failed. What a model's process printed last
// is its output. Valid XML 1.0 whatever bytes names and messages hold, and without times unless the
// context asks for them.
//
// Single calls follow the models, by the class name "torch_ir.operators." and their category; what
// is not supported is skipped.
#pragma once

#include <string>
#include <vector>

#include "harness/results/result.h"
#include "harness/results/run_context.h"

namespace torch_ir {

std::string to_junit_xml(const std::vector<ModelResult>& results, const RunContext& context,
                         const std::vector<ModelResult>& cases = {});

}  // namespace torch_ir
