// CaseCandidate: a single call, from the tables of operators or from files.

#include <ATen/ops/empty_strided.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/stages/candidate.h"
#include "torch_ir/base/error.h"
#include "torch_ir/cases/case_files.h"
#include "torch_ir/cases/graph_case.h"
#include "torch_ir/converter/extract.h"
#include "torch_ir/ir/binding.h"
#include "torch_ir/ir/stack.h"
#include "torch_ir/operators/call_recording.h"

namespace torch_ir {
namespace {

torch::jit::Stack arguments_of_call(const GraphCase& graph_case,
                                    const std::vector<at::Tensor>& inputs) {
  const OpNode& node = graph_case.ir.nodes.front();
  const c10::FunctionSchema* schema = find_schema(node.op_type);
  if (schema == nullptr) throw Error("LibTorch has no operator " + node.op_type);
  return make_stack(node, *schema, [&](const std::string& name) -> c10::IValue {
    const std::vector<TensorMeta>& metas = graph_case.ir.graph_inputs;
    const auto meta = std::ranges::find(metas, name, &TensorMeta::name);
    if (meta != metas.end()) return inputs.at(static_cast<size_t>(meta - metas.begin()));
    const std::string* key = graph_case.ir.weight_name_mapping.find(name);
    return key == nullptr ? at::Tensor() : graph_case.weights[*key];
  });
}

std::vector<at::Tensor> meta_inputs(const std::vector<at::Tensor>& inputs) {
  std::vector<at::Tensor> metas;
  for (const at::Tensor& input : inputs) {
    metas.push_back(
        at::empty_strided(input.sizes(), input.strides(), input.options().device(at::kMeta)));
  }
  return metas;
}

// "float32[1x3], int64[2]"
std::string outputs_text(const std::vector<TensorMeta>& outputs) {
  std::string text;
  for (const TensorMeta& output : outputs) {
    text += fmt::format("{}{}[{}]", text.empty() ? "" : ", ", output.dtype, shape_text(output));
  }
  return text;
}

// A model can make the call only if it takes and returns tensors.
bool can_be_captured(const GraphCase& graph_case) {
  const auto is_number = [](const TensorMeta& meta) { return meta.is_scalar; };
  return !graph_case.inputs.empty() && std::ranges::none_of(graph_case.ir.graph_outputs, is_number);
}

// Captures on meta, or on real tensors if the operator needs data. Returns nothing if capture
// refuses the call, as for training operators, because archives may still contain it.
std::optional<IR> capture_call(const Model& call, const GraphCase& graph_case) {
  ExtractOptions options{.model_name = graph_case.info.name};
  for (const TensorMeta& input : graph_case.ir.graph_inputs) {
    options.input_names.push_back(input.name);
  }
  for (const auto& inputs : {meta_inputs(graph_case.inputs), graph_case.inputs}) {
    try {
      return extract_ir(call, inputs, options);
    } catch (const ExportError& error) {
      if (!error.is_unsupported()) throw;
    }
  }
  return std::nullopt;
}

// Returns the problem of the captured graph; empty if its outputs match the call's. Its node may be
// an equivalent overload (add.Scalar is add.Tensor in Python).
std::string capture_problem(const GraphCase& graph_case) {
  const auto op = find_operator(graph_case.info.op_type);
  if (!op || !can_be_captured(graph_case)) return {};
  const ModelFn call = [&](const std::vector<at::Tensor>& inputs) {
    torch::jit::Stack stack = arguments_of_call(graph_case, inputs);
    op->callBoxed(stack);
    return tensors_of(stack);
  };
  const std::optional<IR> ir = capture_call(Model(call), graph_case);
  const auto is_alike = [](const TensorMeta& a, const TensorMeta& b) {
    return a.shape == b.shape && a.dtype == b.dtype;
  };
  if (!ir || std::ranges::equal(ir->graph_outputs, graph_case.ir.graph_outputs, is_alike))
    return {};
  return fmt::format("the captured call returns {}, expected {}", outputs_text(ir->graph_outputs),
                     outputs_text(graph_case.ir.graph_outputs));
}

class CaseCandidate : public Candidate {
 public:
  CaseCandidate(CaseSource source, const RunSettings& settings)
      : source_(std::move(source)), runs_plans_(runs_plans(settings)) {}

  std::vector<std::string> paths() const override { return {source_.folder}; }
  IR extract() override {
    const bool is_of_table = source_.folder.empty();
    case_ = is_of_table ? make_graph_case(find_operator_case(source_.info.name))
                        : read_case(source_.folder);
    if (is_of_table && runs_plans_) {
      const std::string problem = capture_problem(case_);
      if (!problem.empty()) throw Error(problem);
    }
    return case_.ir;
  }
  const StateDict& weights() const override { return case_.weights; }
  std::vector<at::Tensor> inputs(int /*trial*/) override { return case_.inputs; }
  // A plan traces its first run, and then replays the trace.
  int num_trials(const RunSettings& /*settings*/) const override { return runs_plans_ ? 2 : 1; }
  std::string in_trial(std::string message, int trial) const override {
    return (trial == 0 ? "" : "in its second run: ") + message;
  }
  uint64_t random_seed(const RunSettings& /*settings*/) const override { return 0; }
  std::vector<at::Tensor> expected(const std::vector<at::Tensor>& /*inputs*/) override {
    return case_.expected;
  }
  void observe(const std::vector<at::Tensor>& /*inputs*/,
               const ValueObserver& /*observer*/) override {
    throw Error("a single call has no intermediate values");
  }

  bool is_call() const override { return true; }
  void set_tolerance(ToleranceRule& rule) const override { rule = tolerance_of(case_.info); }
  // Outputs with unexpected shapes or dtypes are compared unchanged, and differ (see CaseProperty).
  std::pair<std::vector<at::Tensor>, std::vector<at::Tensor>> compared(
      const std::vector<at::Tensor>& outputs, const std::vector<at::Tensor>& expected) override {
    const CaseProperty property = case_.info.property;
    const auto is_alike = [](const at::Tensor& a, const at::Tensor& b) {
      return a.sizes() == b.sizes() && a.scalar_type() == b.scalar_type();
    };
    const bool is_mapped =
        property != CaseProperty::kValues && std::ranges::equal(outputs, expected, is_alike);
    if (!is_mapped) return {outputs, expected};
    const OperatorCase call{.op_type = case_.info.op_type, .property = property};
    const torch::jit::Stack arguments = arguments_of_call(case_, case_.inputs);
    return {compared_values(call, arguments, outputs), compared_values(call, arguments, expected)};
  }
  // Requires elementwise comparison; a replay has the outputs of the first run.
  bool has_second_opinion(int trial) const override {
    return trial == 0 && case_.info.property == CaseProperty::kValues;
  }

 private:
  const CaseSource source_;
  const bool runs_plans_;
  GraphCase case_;
};

}  // namespace

std::unique_ptr<Candidate> make_candidate(const CaseSource& source, const RunSettings& settings) {
  return std::make_unique<CaseCandidate>(source, settings);
}

}  // namespace torch_ir
