// Results made by hand, for the tests of their renderings.
#pragma once

#include "harness/results/result.h"

namespace torch_ir {

// "Tiny", which passes: one node, "add", and an output that differs by at most `max_diff`.
ModelResult make_result(double max_diff = 0);

// "Broken", which could not be extracted.
ModelResult make_failure();

// "Off", whose second trial is outside the tolerance.
ModelResult make_mismatch();

// Where "Off" goes wrong.
NodeReport make_nodes();

}  // namespace torch_ir
