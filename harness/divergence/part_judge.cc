#include "harness/divergence/part_judge.h"

#include <algorithm>
#include <exception>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "harness/divergence/reproducer.h"
#include "harness/divergence/reproducer_files.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/verifier/verify.h"

namespace torch_ir {
namespace {

class PartJudge : public LocalJudge {
 public:
  PartJudge(const ExplainedRun& run, const ExplainedGraph& graph) : run_(run), graph_(graph) {
    const std::vector<ValueId> ids = run.program().user_inputs();
    for (size_t i = 0; i < ids.size(); ++i) {
      values_[run.program()[ids[i]].name] = run.inputs().at(i);
    }
  }

  Verdict judge(const std::string& name, const at::Tensor& value) override {
    const GraphPart part = part_for(name, /*exact=*/false);
    Verdict verdict = judge_part(part, value);
    verdict.follows_wrong = std::ranges::any_of(part.program.user_inputs(), [&](ValueId input) {
      return inexact_.contains(part.program[input].name);
    });
    if (!verdict.follows_wrong || verdict.basis != Basis::kNone) return verdict;
    const Verdict from_exact = judge_part(part_for(name, /*exact=*/true), value);
    return from_exact.basis == Basis::kNone ? verdict : from_exact;
  }

  void add(const std::string& name, const at::Tensor& value, bool is_exact) override {
    if (!value.defined()) return;
    values_[name] = value;
    if (!is_exact) inexact_.insert(name);
  }

 private:
  // The part that computes `name` from returned values, or from `exact` ones only.
  GraphPart part_for(const std::string& name, bool exact) const {
    const ValueId id = graph_.id_of(name);
    const NodeSpan& span = graph_.grouped.span_making(id);
    NodeRange range{span.first, span.last, {id}};
    while (true) {
      GraphPart part = graph_.cutter.cut(range, graph_.watch.facts());
      size_t first = range.first;
      for (const ValueId id_in_part : part.program.user_inputs()) {
        const std::string& input = part.program[id_in_part].name;
        const bool is_usable = values_.contains(input) && !(exact && inexact_.contains(input));
        if (is_usable || !graph_.producer_of(input)) continue;
        first = std::min(first, graph_.grouped.span_making(graph_.id_of(input)).first);
      }
      if (first == range.first) return part;
      range.first = first;
    }
  }

  // Throws Error if the value is not known as a node of the part reads it.
  const at::Tensor& value_of(const std::string& name, const GraphPart& part) const {
    const auto found = values_.find(name);
    if (found == values_.end()) {
      throw Error("the executor does not return '" + printable(name) + "'");
    }
    const ValueId id = graph_.id_of(name);
    const size_t made = graph_.producer_of(name) ? graph_.grouped.span_making(id).last + 1 : 0;
    const size_t memory = graph_.grouped_memory.of(id);
    if (graph_.grouped_memory.is_written(memory, made, part.nodes.front())) {
      throw Error("'" + printable(name) + "' is written in place before it is read");
    }
    return found->second;
  }

  Verdict judge_part(const GraphPart& part, const at::Tensor& value) const {
    std::string problem = part.problem;
    for (const size_t index : part.nodes) {
      if (!graph_.watch.random_nodes().contains(graph_.grouped.original[index])) continue;
      problem =
          "node '" + printable(graph_.grouped.program.nodes[index].name) + "' draws random numbers";
    }
    if (!problem.empty()) return {.not_judged = problem};
    try {
      Case content = part_case(graph_, part);
      for (const ValueId input : part.program.user_inputs()) {
        content.inputs.push_back(value_of(part.program[input].name, part));
      }
      content.expected = eager_outputs(content);
      const std::vector<at::Tensor> outputs = {value};
      const auto returned = [&](const Case& extended) {
        std::vector<at::Tensor> values;
        for (const ValueId output : extended.program->outputs) {
          const std::string& name = (*extended.program)[output].name;
          const auto found = values_.find(name);
          const bool is_value = output == part.program.outputs[0];
          if (is_value) values.push_back(value);
          if (!is_value) values.push_back(found == values_.end() ? at::Tensor() : found->second);
          if (values.back().defined()) continue;
          problem = "the executor does not return '" + printable(name) + "'";
        }
        return values;
      };
      Criterion criterion = run_.settings.criterion;
      criterion.reference = ReferenceKind::kAuto;
      const VerificationReport report = judge_run(
          {.graph_case = content,
           .outputs = outputs,
           .rerun = returned,
           .run_eagerly = [&] { return content.expected; },
           .describe = [](const std::exception& error) { return message_text(error); },
           .calls_operators = true},
          part_tolerance(run_.settings.tolerance, run_.program(), part.program), criterion);
      return report.is_valid ? Verdict{.basis = report.passed_by} : Verdict{.not_judged = problem};
    } catch (const std::exception& error) {
      return {.not_judged = message_text(error)};
    }
  }

  const ExplainedRun& run_;
  const ExplainedGraph& graph_;
  // The graph inputs, and the values that the run returned.
  std::unordered_map<std::string, at::Tensor> values_;
  // Values that are wrong, not judged or rounded.
  std::unordered_set<std::string> inexact_;
};

}  // namespace

std::unique_ptr<LocalJudge> make_part_judge(const ExplainedRun& run, const ExplainedGraph& graph) {
  return std::make_unique<PartJudge>(run, graph);
}

}  // namespace torch_ir
