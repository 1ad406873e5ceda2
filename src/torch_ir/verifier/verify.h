// verify_ir: does an IR compute what the original model computes?
#pragma once

#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "torch_ir/executor/graph/execution_options.h"
#include "torch_ir/ir/ir.h"
#include "torch_ir/verifier/compare.h"
#include "torch_ir/verifier/second_opinion.h"

namespace torch_ir {

// What the IR is verified against; a torch_ir::Model is one (Model::forward()).
using ReferenceFn = std::function<std::vector<at::Tensor>(const std::vector<at::Tensor>&)>;

struct OutputDetail {
  int64_t index = 0;
  // The name of the graph output.
  std::string name;
  Tolerance tolerance;
  TensorComparison comparison;
  // What float64 says of both sides, where it was asked.
  std::optional<SecondOpinion> second_opinion = std::nullopt;
};

struct VerificationReport {
  bool is_valid = false;
  // Over all outputs that can be compared; 0 when none can.
  double max_diff = 0;
  double mean_diff = 0;
  // Why the IR could not be verified ("Verification error: ..."), or what is wrong with the
  // outputs; empty when it is valid.
  std::string error_message;
  ToleranceRule tolerance;
  // The greatest factor of a second opinion that passes, where float64 is the reference; the
  // tolerance decides nothing then.
  std::optional<double> error_factor = std::nullopt;
  // The level that the graph ran at, where one ran.
  std::optional<Optimization> optimization = std::nullopt;
  std::vector<OutputDetail> output_details;

  // The smallest t with which rtol = atol = t all outputs would have passed; infinite when none
  // would do, 0 without outputs.
  double smallest_passing_tolerance() const;
  // The greatest factor of all second opinions; nothing without any, or where float64 says nothing
  // of an output.
  std::optional<double> worst_factor() const;
  // Whether an output had to be equal though the rule's tolerance of all outputs is another, which
  // is for floating point; and whether any had.
  bool is_exact_by_dtype(const OutputDetail& detail) const;
  bool has_exact_outputs() const;
};

// A few lines: the verdict, the differences and the tolerance, and a line for each output.
std::ostream& operator<<(std::ostream& stream, const VerificationReport& report);

// Compares `actual` with `expected`, output by output, under `names`.
VerificationReport compare_outputs(const std::vector<at::Tensor>& actual,
                                   const std::vector<at::Tensor>& expected,
                                   const std::vector<std::string>& names,
                                   const ToleranceRule& tolerance = {});

// Compares what running `ir` gave with what `expected` has for its outputs. Those that it has
// undefined, of which nothing is known, are left out.
VerificationReport compare_known_outputs(const IR& ir, const std::vector<at::Tensor>& actual,
                                         const std::vector<at::Tensor>& expected,
                                         const ToleranceRule& tolerance);

// Adds what float64 says of each output. With `error_factor` it is the reference: an output is then
// valid when it is no more than so many times worse than eager, and there is an opinion.
void add_second_opinions(VerificationReport& report, std::vector<SecondOpinion> opinions,
                         std::optional<double> error_factor = std::nullopt);

struct VerifyOptions {
  // The default, and one for all outputs such as {1e-3, 1e-3}, is for floating point: integers and
  // booleans are compared exactly, unless `outputs` has a tolerance for them.
  ToleranceRule tolerance;
  // As in IRExecutor.
  StateDict constants = StateDict();
  // With a device, inputs are copied to it; those of the reference stay where they are.
  ExecutionOptions execution = {};
};

// Runs `ir` with `state_dict` and `reference` on `inputs` (each on its own copy) and compares.
// Never throws for a failure to load or execute: the report is then invalid, with the error.
std::pair<bool, VerificationReport> verify_ir_with_state_dict(
    const IR& ir, const StateDict& state_dict, const ReferenceFn& reference,
    const std::vector<at::Tensor>& inputs, const VerifyOptions& options = VerifyOptions());

// The same with the weights of a file.
std::pair<bool, VerificationReport> verify_ir(const IR& ir, const std::string& weights_path,
                                              const ReferenceFn& reference,
                                              const std::vector<at::Tensor>& inputs,
                                              const VerifyOptions& options = VerifyOptions());

}  // namespace torch_ir
