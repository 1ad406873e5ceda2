// CaseCandidate: a single call, from the tables of operators or from files.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "harness/stages/candidate.h"
#include "torch_ir/base/error.h"
#include "torch_ir/cases/case_files.h"
#include "torch_ir/cases/suite_case.h"
#include "torch_ir/ir/binding.h"
#include "torch_ir/ir/document.h"
#include "torch_ir/ir/stack.h"
#include "torch_ir/runtime/graph/state.h"

namespace torch_ir {
namespace {

torch::jit::Stack arguments_of_call(Case content) {
  const Program& program = *content.program;
  const Node& node = program.nodes.front();
  const c10::FunctionSchema* schema = find_schema(node.target);
  if (schema == nullptr) throw Error("LibTorch has no operator " + node.target);
  struct ValueOf {
    c10::IValue operator()(ValueId id) const { return tensor_of(content, id); }
    c10::IValue operator()(const ValueRef& ref) const {
      return tensor_of(content, content.program->find(ref.name).value());
    }
    Case& content;
  };
  const auto find_given = [&](const c10::Argument& argument) {
    const Argument* given = node.find(argument.name());
    return given == nullptr ? nullptr : &given->value;
  };
  return make_stack(*schema, find_given, ValueOf{content});
}

class CaseCandidate : public Candidate {
 public:
  CaseCandidate(CaseSource source, const RunSettings& settings)
      : Candidate(/*is_single_call=*/true),
        source_(std::move(source)),
        runs_plans_(runs_plans(settings)) {}

  std::vector<std::string> paths() const override { return {source_.folder}; }
  IR extract() override {
    case_ = source_.folder.empty() ? make_suite_case(find_operator_case(source_.info.name))
                                   : read_case(source_.folder);
    return to_ir(*case_.content.program);
  }
  const StateDict& weights() const override { return case_.content.weights; }
  // A plan traces its first run, and then replays the trace.
  int num_given() const override { return runs_plans_ ? 2 : 1; }
  std::string in_trial(std::string message, int trial) const override {
    return (trial == 0 ? "" : "in its second run: ") + message;
  }
  uint64_t random_seed(const RunSettings& /*settings*/) const override { return 0; }
  void observe(const std::vector<at::Tensor>& /*inputs*/,
               const ValueObserver& /*observer*/) override {
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
    const torch::jit::Stack arguments = arguments_of_call(case_.content);
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
