#include "harness/divergence/exoneration.h"

#include <algorithm>
#include <exception>
#include <memory>
#include <optional>

#include "harness/divergence/reproducer.h"
#include "harness/divergence/reproducer_files.h"
#include "torch_ir/base/error.h"
#include "torch_ir/verifier/verify.h"

namespace torch_ir {
namespace {

// Each needs a run of the model, and memory for its value.
constexpr size_t kMaxExonerated = 64;

enum class ReadEffect { kNone, kRight, kWrong };

// Judges what a part makes of other inputs by the rules for the whole graph.
ReadEffect effect_of(const ExplainedRun& run, const Case& part,
                     const std::vector<at::Tensor>& inputs) {
  const auto run_on_inputs = [&](Case other) {
    other.inputs = inputs;
    return eager_outputs(other);
  };
  const std::vector<at::Tensor> outputs = run_on_inputs(part);
  const VerificationReport report = judge_run(
      {.graph_case = part,
       .outputs = outputs,
       .rerun = run_on_inputs,
       .run_eagerly = [&] { return eager_outputs(part); },
       .describe = [](const std::exception& error) { return message_text(error); },
       .calls_operators = run.candidate.facts.calls_operators},
      part_tolerance(run.settings.tolerance, run.program(), *part.program), run.settings.criterion);
  if (!report.is_valid) return ReadEffect::kWrong;
  return report.smallest_passing_tolerance() == 0 ? ReadEffect::kNone : ReadEffect::kRight;
}

// The effect on the nodes of `reader` of reading `value` in place of the model's value `name`;
// nothing if they cannot run alone.
std::optional<ReadEffect> effect_on(const ExplainedRun& run, const ExplainedGraph& graph,
                                    const NodeSpan& reader, const std::string& name,
                                    const at::Tensor& value) {
  NodeRange range{reader.first, reader.last};
  const size_t memory = graph.memory.of(graph.id_of(name));
  for (size_t i = reader.first; i <= reader.last; ++i) {
    const size_t index = graph.grouped.original[i];
    const bool is_written =
        graph.memory.is_written(memory, graph.producer_of(name).value() + 1, index);
    if (is_written || graph.watch.random_nodes().contains(index)) return std::nullopt;
    for (const ValueId output : graph.grouped.program.nodes[i].outputs) {
      const auto& compared = graph.grouped.values;
      if (std::ranges::find(compared, output) == compared.end()) continue;
      range.outputs.push_back(output);
    }
  }
  const GraphPart part = graph.cutter.cut(range, graph.watch.facts());
  const std::vector<ValueId> ids = part.program.user_inputs();
  const auto input = std::ranges::find_if(
      ids, [&](ValueId value_in_part) { return part.program[value_in_part].name == name; });
  if (!part.problem.empty() || input == ids.end()) return std::nullopt;
  const auto recorded = record_part(run, graph, part, reader.first);
  const bool is_known = recorded && recorded->expected.size() == part.program.outputs.size();
  if (!is_known) return std::nullopt;
  std::vector<at::Tensor> inputs = recorded->inputs;
  at::Tensor& read = inputs.at(static_cast<size_t>(input - ids.begin()));
  if (read.sizes() != value.sizes() || read.dtype() != value.dtype()) return ReadEffect::kWrong;
  read = value;
  return effect_of(run, *recorded, inputs);
}

}  // namespace

std::vector<bool> exonerate(const ExplainedRun& run, const ExplainedGraph& graph,
                            const std::vector<DoubtedValue>& values, bool clears_ineffective,
                            const ReturnedValues& returned_values) {
  std::vector<bool> verdicts(values.size(), false);
  const size_t count = std::min(values.size(), kMaxExonerated);
  try {
    std::set<std::string> names;
    for (size_t i = 0; i < count; ++i) names.insert(values[i].name);
    const size_t end = graph.producer_of(values[count - 1].name).value() + 1;
    const auto returned = returned_values(names, end);
    for (size_t i = 0; i < count; ++i) {
      bool is_same_to_all = clears_ineffective;
      std::set<size_t> readers;
      for (const size_t node : graph.grouped.program[graph.id_of(values[i].name)].readers) {
        readers.insert(graph.grouped.span_of[node]);
      }
      for (const size_t reader : readers) {
        const std::optional<ReadEffect> effect = effect_on(
            run, graph, graph.grouped.spans[reader], values[i].name, returned.at(values[i].name));
        if (effect == ReadEffect::kWrong) verdicts[i] = true;
        if (effect != ReadEffect::kNone) is_same_to_all = false;
      }
      if (is_same_to_all) verdicts[i] = true;
    }
  } catch (const OutputError&) {
    throw;
  } catch (const std::exception&) {
    // Values that could not be tried are not exonerated.
  }
  return verdicts;
}

}  // namespace torch_ir
