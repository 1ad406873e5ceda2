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
#include "torch_ir/verifier/compare.h"
#include "torch_ir/verifier/rounding.h"
#include "torch_ir/verifier/second_opinion.h"
#include "torch_ir/verifier/verdict.h"
#include "torch_ir/verifier/yardstick.h"

namespace torch_ir {

// The reference of a verification; a torch_ir::Model works (Model::forward()).
using ReferenceFn = std::function<std::vector<at::Tensor>(const std::vector<at::Tensor>&)>;

struct OutputDetail {
  int64_t index = 0;
  std::string name;
  // If it is state: the placeholder or input whose new value it is.
  std::string state = {};
  Tolerance tolerance;
  TensorComparison comparison;
  // Set if outputs were compared with float64.
  std::optional<SecondOpinion> second_opinion = std::nullopt;
  // Set if outputs were compared with a yardstick.
  std::optional<ArithmeticVerdict> arithmetic = std::nullopt;
  Basis basis = Basis::kNone;
  // One line; empty if the output is right, or if nothing could judge it.
  std::string problem = {};
};

struct VerificationReport {
  bool is_valid = false;
  // Over all comparable outputs; 0 if there are none.
  double max_diff = 0;
  double mean_diff = 0;
  // Why the IR could not be verified ("Verification error: ..."), or the problem of the outputs;
  // empty if it is valid.
  std::string error_message;
  ToleranceRule tolerance;
  Criterion criterion = {};
  // The weakest rule by which an output passed; kNone if they did not pass.
  Basis passed_by = Basis::kNone;
  // How the graph, run by eager operators, differs from the model; and why it could not run. Both
  // are one line, empty if the graph matches the model or was not checked.
  std::string graph_problem = {};
  std::string graph_note = {};
  // Set if the graph rounds and its outputs differ.
  std::optional<RoundingReport> rounding = std::nullopt;
  // Set if the criterion has an arithmetic.
  std::optional<ArithmeticReport> arithmetic = std::nullopt;
  // The level at which the graph ran, if it did.
  std::optional<Optimization> optimization = std::nullopt;
  std::vector<OutputDetail> output_details;
  // The placeholders and inputs whose new values were not compared: the run did not return them, or
  // nobody knows the right ones.
  std::vector<std::string> not_compared = {};

  // The smallest t with which all outputs would have passed rtol = atol = t; infinite if none
  // would, 0 without outputs.
  double smallest_passing_tolerance() const;
  // The greatest factor of all second opinions; empty without any, or if an output has none.
  std::optional<double> worst_factor() const;
  // Whether an output must be equal because of its dtype, whatever the rule's tolerance for
  // floating point; and whether any output must.
  bool is_exact_by_dtype(const OutputDetail& detail) const;
  bool has_exact_outputs() const;
};

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

// A run to judge by the expected outputs of its case.
struct GraphRun {
  Case graph_case;
  const std::vector<at::Tensor>& outputs;
  // Runs another graph on the same tensors in the way that computed `outputs`. If it is null,
  // neither rounded values nor the graph are checked.
  std::function<std::vector<at::Tensor>(const Case&)> rerun = nullptr;
  // The outputs of the case by eager operators.
  std::function<std::vector<at::Tensor>()> run_eagerly = nullptr;
  // Describes an exception of these two in one line. May rethrow it.
  std::function<std::string(const std::exception&)> describe = nullptr;
  // Whether the expected outputs were computed by calling the graph's operators in this process. A
  // right graph then has the same outputs, so only the tolerance proves it.
  bool calls_operators = false;
  // Whether to check the graph even if the tolerance alone shows that it matches the model.
  bool proves_graph = false;
  // Whether to report second opinions even if the criterion needs none.
  bool has_opinions = false;
  // Whether only the tolerance counts if float64 has no result.
  bool may_lack_float64 = false;
  // Whether the run computed in Criterion::arithmetic, if there is one. Otherwise that is only
  // reported.
  bool computes_in_arithmetic = false;
  // ArithmeticOptions::inside.
  std::vector<std::string> inside = {};
};

// Judges the outputs, skipping those that nothing is expected of, and state that was not returned.
// For kAuto, if the graph rounds, compares outputs that differ in steps; and refuses a graph whose
// outputs by eager operators differ from the expected ones, unless these are as near to the graph
// in float64 (kAsGoodAsEager): another machine may have computed them.
VerificationReport judge_run(const GraphRun& run, const ToleranceRule& tolerance,
                             Criterion criterion);

struct VerifyOptions {
  // Tolerances for all outputs, such as {1e-3, 1e-3}, apply to floating point only; integers and
  // booleans are compared exactly unless `outputs` has a tolerance for them.
  ToleranceRule tolerance;
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
