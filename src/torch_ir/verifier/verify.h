// verify_ir: checks that an IR computes the same as the original model.
#pragma once

#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "torch_ir/runtime/graph/case.h"
#include "torch_ir/runtime/graph/execution_options.h"
#include "torch_ir/verifier/arithmetic_report.h"
#include "torch_ir/verifier/value_detail.h"

namespace torch_ir {

// The reference of a verification; a torch_ir::Model works (Model::forward()).
using ReferenceFn = std::function<std::vector<at::Tensor>(const std::vector<at::Tensor>&)>;

struct VerificationReport {
  bool is_valid = false;
  // Over all comparable outputs; 0 if there are none.
  double max_diff = 0;
  double mean_diff = 0;
  // Why the IR could not be verified ("Verification error: ..."), or the problem of the outputs;
  // empty if it is valid.
  std::string error_message = {};
  ToleranceRule tolerance = {};
  Criterion criterion = {};
  // The weakest rule by which an output passed; kNone if they did not pass.
  Basis passed_by = Basis::kNone;
  // How the graph, run by eager operators, differs from the model; and why it could not run. Both
  // are one line, empty if the graph matches the model or was not checked.
  std::string graph_problem = {};
  std::string graph_note = {};
  // Values that the run was asked for since it rounds them, and that are not the eager lane's, in
  // the order of the graph, at most kMaxDetails.
  std::vector<ValueDetail> rounded = {};
  // Set if the criterion has an arithmetic.
  std::optional<ArithmeticReport> arithmetic = std::nullopt;
  // One line if the model's own outputs are far from float64, since kernels of LibTorch overflow on
  // this processor; otherwise empty.
  std::string reference_note = {};
  // The level at which the graph ran, if it did.
  std::optional<Optimization> optimization = std::nullopt;
  std::vector<ValueDetail> output_details = {};
  // The placeholders and inputs whose new values were not compared: the run did not return them, or
  // nobody knows the right ones.
  std::vector<std::string> not_compared = {};

  // The smallest t with which all outputs would have passed rtol = atol = t; infinite if none
  // would, 0 without outputs.
  double smallest_passing_tolerance() const;
  // Whether an output must be equal because of its dtype, whatever the rule's tolerance for
  // floating point.
  bool has_exact_outputs() const;
};

// Sets the members that depend on the verdicts on outputs: is_valid, passed_by, error_message.
void conclude(VerificationReport& report);

// "state not compared: 'b_k', 'b_v'"; empty if all was.
std::string not_compared_text(const VerificationReport& report);

std::ostream& operator<<(std::ostream& stream, const VerificationReport& report);

// Compares `actual` with `expected`, output by output, under `names`.
VerificationReport compare_outputs(const std::vector<at::Tensor>& actual,
                                   const std::vector<at::Tensor>& expected,
                                   const std::vector<std::string>& names,
                                   const ToleranceRule& tolerance = {});

// Compares the outputs of a run of `program` with `expected`, skipping those that are undefined
// there.
VerificationReport compare_known_outputs(const Program& program,
                                         const std::vector<at::Tensor>& actual,
                                         const std::vector<at::Tensor>& expected,
                                         const ToleranceRule& tolerance);

// The outputs of the graph when each node calls its operator eagerly. Throws as compile does, and
// ExecutionError.
std::vector<at::Tensor> eager_outputs(const Case& graph_case);

// Adds the state that the expected outputs of `graph_case` lack, as eager operators compute it. It
// stays unknown where they cannot.
void add_expected_state(Case& graph_case);

struct VerifyOptions {
  // Tolerances for all outputs, such as {1e-3, 1e-3}, apply to floating point only; integers and
  // booleans are compared exactly unless `outputs` has a tolerance for them.
  ToleranceRule tolerance = {};
  // As in IRExecutor.
  StateDict constants = StateDict();
  // Inputs are copied to its device; those of the reference are not.
  ExecutionOptions execution = {};
};

// Runs `ir` with `state_dict` and `reference` on `inputs` (each on its own copy, with the same
// random numbers) and compares. State is compared too, as far as the tensors of `state_dict` are
// those that the reference writes to; afterwards they, and all others that it wrote to, are as they
// were. Never throws for a failure to load or execute: the report is then invalid, with the error.
[[nodiscard]] std::pair<bool, VerificationReport> verify_ir_with_state_dict(
    const IR& ir, const StateDict& state_dict, const ReferenceFn& reference,
    const std::vector<at::Tensor>& inputs, const VerifyOptions& options = VerifyOptions());

[[nodiscard]] std::pair<bool, VerificationReport> verify_ir(
    const IR& ir, const std::string& weights_path, const ReferenceFn& reference,
    const std::vector<at::Tensor>& inputs, const VerifyOptions& options = VerifyOptions());

}  // namespace torch_ir
