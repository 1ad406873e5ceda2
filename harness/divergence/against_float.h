// FloatModel: compares a quantised model with the float model it was made from, tensor by tensor.
//
// Eager operators run both graphs on the same inputs, node by node. The float graph runs first; its
// values are kept until the quantised graph has computed their counterparts.
#pragma once

#include <memory>
#include <string>

#include "harness/results/float_comparison.h"
#include "harness/results/result.h"
#include "harness/stages/candidate.h"
#include "torch_ir/base/error.h"
#include "torch_ir/runtime/graph/case.h"

namespace torch_ir {

class FloatModel {
 public:
  // Reads an archive, or a graph with its weights (see files_against). Throws InputError if it
  // cannot.
  FloatModel(const std::string& path, const RunSettings& settings);

  // Throws InputError, naming the first input that differs, unless the inputs of `quantized` fit.
  void check_inputs(const Program& quantized) const;

  // Runs both on the inputs of the first trial; `graph` is that of `quantized`. On an error, the
  // comparison has the error and the values compared so far.
  FloatComparison compare(Candidate& quantized, const Program& graph);

  // The result to report if the process ends during compare().
  FloatComparison unfinished() const {
    return {.file = files_.short_name(),
            .error = "the process ended before the comparison was complete"};
  }

 private:
  const ModelFiles files_;
  const RunSettings settings_;
  const std::unique_ptr<Candidate> candidate_;
  // Without inputs.
  Case case_;
};

}  // namespace torch_ir
