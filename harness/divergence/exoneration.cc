#include "harness/divergence/exoneration.h"

#include <algorithm>
#include <exception>
#include <optional>

#include "harness/divergence/reproducer.h"
#include "harness/divergence/reproducer_files.h"
#include "harness/process/worker.h"
#include "torch_ir/verifier/verify.h"

namespace torch_ir {
namespace {

// Each needs a run of the model, and memory for its value.
constexpr size_t kMaxExonerated = 64;

enum class ReadEffect { kNone, kRight, kWrong };

// Judges what a part makes of other inputs by the rules for the whole graph.
ReadEffect effect_of(const ExplainedRun& run, const IR& part, const StateDict& weights,
                     const RecordedPart& recorded, const std::vector<at::Tensor>& inputs) {
  const auto run_on = [&](const IR& graph) { return eager_outputs(graph, weights, inputs); };
  const std::vector<at::Tensor> made = run_on(part);
  RunSettings settings = run.settings;
  settings.tolerance = part_tolerance(settings.tolerance, run.ir, part);
  const VerificationReport report =
      judge_run({.ir = part,
                 .weights = weights,
                 .inputs = recorded.inputs,
                 .outputs = made,
                 .expected = recorded.outputs,
                 .rerun = run_on,
                 .run_eagerly = [&] { return eager_outputs(part, weights, recorded.inputs); },
                 .describe = [](const std::exception& error) { return message_text(error); },
                 .calls_operators = run.candidate.calls_operators()},
                settings);
  if (!report.is_valid) return ReadEffect::kWrong;
  return report.smallest_passing_tolerance() == 0 ? ReadEffect::kNone : ReadEffect::kRight;
}

// The effect on the nodes of `reader` of reading `value` in place of the model's value `name`;
// nothing if they cannot run alone.
std::optional<ReadEffect> effect_on(const ExplainedRun& run, const ExplainedGraph& graph,
                                    const NodeSpan& reader, const std::string& name,
                                    const at::Tensor& value) {
  NodeRange range{reader.first, reader.last};
  for (const OpNode& node : graph.grouped.nodes_of(reader)) {
    const auto place = graph.memory.of(name);
    const size_t index = graph.indices.at(node.name);
    const bool is_written =
        place && graph.memory.is_written(*place, graph.producers.at(name) + 1, index);
    if (is_written || graph.watch.random_nodes().contains(index)) return std::nullopt;
    for (const TensorMeta& output : node.outputs) {
      const auto& compared = graph.grouped.values;
      if (std::ranges::find(compared, output.name) == compared.end()) continue;
      range.outputs.push_back(output.name);
    }
  }
  const GraphPart part = graph.cutter.cut(range, graph.watch.facts());
  const auto& metas = part.ir.graph_inputs;
  const auto input = std::ranges::find(metas, name, &TensorMeta::name);
  if (!part.problem.empty() || input == metas.end()) return std::nullopt;
  const auto recorded = record_part(run, graph, part, reader.first);
  const bool is_known = recorded && recorded->outputs.size() == part.ir.graph_outputs.size();
  if (!is_known) return std::nullopt;
  std::vector<at::Tensor> inputs = recorded->inputs;
  at::Tensor& read = inputs.at(static_cast<size_t>(input - metas.begin()));
  if (read.sizes() != value.sizes() || read.dtype() != value.dtype()) return ReadEffect::kWrong;
  read = value;
  const StateDict weights = used_weights(part.ir, graph.weights);
  return effect_of(run, part.ir, weights, *recorded, inputs);
}

}  // namespace

std::vector<bool> exonerate(const ExplainedRun& run, const ExplainedGraph& graph,
                            const std::vector<DoubtedValue>& values, bool has_to_be_unread,
                            const ReturnedValues& returned_values) {
  std::vector<bool> verdicts(values.size(), false);
  const size_t count = std::min(values.size(), kMaxExonerated);
  try {
    std::set<std::string> names;
    for (size_t i = 0; i < count; ++i) names.insert(values[i].name);
    const size_t end = graph.producers.at(values[count - 1].name) + 1;
    const auto returned = returned_values(names, end);
    for (size_t i = 0; i < count; ++i) {
      bool is_same_to_all = !has_to_be_unread;
      std::set<size_t> readers;
      for (const size_t node : values[i].readers) {
        readers.insert(graph.grouped.span_of.at(graph.ir.nodes[node].name));
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
