// CaseCandidate: a single call, from the tables of operators or from files.

#include <ATen/ops/empty_strided.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "harness/stages/candidate.h"
#include "torch_ir/base/error.h"
#include "torch_ir/cases/case_files.h"
#include "torch_ir/cases/suite_case.h"
#include "torch_ir/converter/extract.h"
#include "torch_ir/ir/binding.h"
#include "torch_ir/ir/document.h"
#include "torch_ir/ir/dtype.h"
#include "torch_ir/ir/resolve.h"
#include "torch_ir/ir/stack.h"
#include "torch_ir/operators/call_recording.h"

namespace torch_ir {
namespace {

torch::jit::Stack arguments_of_call(const Case& content, const std::vector<at::Tensor>& inputs) {
  const Program& program = *content.program;
  const Node& node = program.nodes.front();
  const c10::FunctionSchema* schema = find_schema(node.target);
  if (schema == nullptr) throw Error("LibTorch has no operator " + node.target);
  std::unordered_map<std::string, at::Tensor> values;
  auto next_input = inputs.begin();
  for (const GraphInput& input : program.inputs) {
    values[program[input.value].name] =
        input.kind == InputKind::kUserInput ? *next_input++ : content.weights[input.target];
  }
  struct ValueOf {
    c10::IValue operator()(ValueId id) const { return values[program[id].name]; }
    c10::IValue operator()(const ValueRef& ref) const { return values[ref.name]; }
    const Program& program;
    std::unordered_map<std::string, at::Tensor>& values;
  };
  const auto find_given = [&](const c10::Argument& argument) {
    const Argument* given = node.find(argument.name());
    return given == nullptr ? nullptr : &given->value;
  };
  return make_stack(*schema, find_given, ValueOf{program, values});
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
std::string outputs_text(const Program& graph) {
  std::string text;
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    const ValueId output = graph.outputs[i];
    // The tables have no state.
    if (graph.is_in_place(i)) continue;
    text += fmt::format("{}{}[{}]", text.empty() ? "" : ", ", dtype_name(graph[output].dtype),
                        shape_text(graph[output]));
  }
  return text;
}

// A model can make the call only if it takes and returns tensors.
bool can_be_captured(const Case& content) {
  const Program& program = *content.program;
  const auto is_number = [&](ValueId output) { return program[output].is_scalar; };
  return !content.inputs.empty() && std::ranges::none_of(program.outputs, is_number);
}

// Captures on meta, or on real tensors if the operator needs data. Returns nothing if capture
// refuses the call, as for training operators, because archives may still contain it.
std::optional<Program> capture_call(const Model& call, const SuiteCase& suite_case) {
  const Case& content = suite_case.content;
  ExtractOptions options{.model_name = suite_case.info.name};
  for (const ValueId input : content.program->user_inputs()) {
    options.input_names.push_back((*content.program)[input].name);
  }
  for (const auto& inputs : {meta_inputs(content.inputs), content.inputs}) {
    try {
      return resolve(extract_ir(call, inputs, options));
    } catch (const ExportError& error) {
      if (!error.is_unsupported()) throw;
    }
  }
  return std::nullopt;
}

// Returns the problem of the captured graph; empty if its outputs match the call's. Its node may be
// an equivalent overload (add.Scalar is add.Tensor in Python).
std::string capture_problem(const SuiteCase& suite_case) {
  const Case& content = suite_case.content;
  const auto op = find_operator(suite_case.info.op_type);
  if (!op || !can_be_captured(content)) return {};
  const ModelFn call = [&](const std::vector<at::Tensor>& inputs) {
    torch::jit::Stack stack = arguments_of_call(content, inputs);
    op->callBoxed(stack);
    return tensors_of(stack);
  };
  const std::optional<Program> captured = capture_call(Model(call), suite_case);
  if (!captured) return {};
  const std::string found = outputs_text(*captured);
  const std::string expected = outputs_text(*content.program);
  if (found == expected) return {};
  return fmt::format("the captured call returns {}, expected {}", found, expected);
}

class CaseCandidate : public Candidate {
 public:
  CaseCandidate(CaseSource source, const RunSettings& settings)
      : Candidate({.leaves_files = false,
                   .keeps_trials = false,
                   .judges_graph = false,
                   .is_scored = true}),
        source_(std::move(source)),
        runs_plans_(runs_plans(settings)) {}

  std::vector<std::string> paths() const override { return {source_.folder}; }
  IR extract() override {
    const bool is_of_table = source_.folder.empty();
    case_ = is_of_table ? make_suite_case(find_operator_case(source_.info.name))
                        : read_case(source_.folder);
    if (is_of_table && runs_plans_) {
      const std::string problem = capture_problem(case_);
      if (!problem.empty()) throw Error(problem);
    }
    return to_ir(*case_.content.program);
  }
  const StateDict& weights() const override { return case_.content.weights; }
  // A plan traces its first run, and then replays the trace.
  int num_given() const override { return runs_plans_ ? 2 : 1; }
  std::string in_trial(std::string message, int trial) const override {
    return (trial == 0 ? "" : "in its second run: ") + message;
  }
  uint64_t random_seed(const RunSettings& /*settings*/) const override { return 0; }
  void observe(const std::vector<at::Tensor>& /*inputs*/, const ValueObserver& /*observer*/,
               const std::function<bool()>& /*is_enough*/) override {
    throw Error("a single call has no intermediate values");
  }

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
    const torch::jit::Stack arguments = arguments_of_call(case_.content, case_.content.inputs);
    return {compared_values(call, arguments, outputs), compared_values(call, arguments, expected)};
  }
  // A replay has the outputs of the first run.
  bool compares_elements(int trial) const override {
    return trial == 0 && case_.info.property == CaseProperty::kValues;
  }

 protected:
  std::vector<at::Tensor> given_inputs(int /*trial*/) override { return case_.content.inputs; }
  std::vector<at::Tensor> run_model(const std::vector<at::Tensor>& /*inputs*/) override {
    return case_.content.expected;
  }

 private:
  const CaseSource source_;
  const bool runs_plans_;
  SuiteCase case_;
};

}  // namespace

std::unique_ptr<Candidate> make_candidate(const CaseSource& source, const RunSettings& settings) {
  return std::make_unique<CaseCandidate>(source, settings);
}

}  // namespace torch_ir
