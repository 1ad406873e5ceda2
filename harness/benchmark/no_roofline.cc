// Without oneDNN, whose product of matrices is the roof.
#include "harness/benchmark/roofline.h"

namespace torch_ir {

std::string peak_text() { return ""; }

std::optional<double> least_time(const Case& /*graph_case*/, int64_t /*output_bytes*/) {
  return std::nullopt;
}

}  // namespace torch_ir
