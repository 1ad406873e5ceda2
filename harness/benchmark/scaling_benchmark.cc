// Times the steps from a file to a result, and other uses of a graph, for growing graphs.
//
//   STEP/GRAPH/N       a step of kSteps on a graph of N nodes
//   extract/MODEL/L    capture and conversion of L layers on the meta device, of `llama` and
//                      `deep_seek`, at the size of Llama 3.1 405B and DeepSeek-V3
//
// GRAPH is `chain`, additions to a tensor of one element that each use the last result, or `wide`,
// where half of the additions are independent and a tree sums them. The counter per_node
// (per_layer) is the CPU time of one node (layer). benchmark_program.h has the flags.

#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <benchmark/benchmark.h>
#include <torch/nn/module.h>

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "harness/benchmark/benchmark_program.h"
#include "models/blocks/published_decoders.h"
#include "torch_ir/analysis/cost.h"
#include "torch_ir/analysis/diff.h"
#include "torch_ir/base/error.h"
#include "torch_ir/converter/extract.h"
#include "torch_ir/exporter/meta/meta_device.h"
#include "torch_ir/ir/json.h"
#include "torch_ir/ir/resolve.h"
#include "torch_ir/runtime/execution_plan.h"
#include "torch_ir/visualize/mermaid.h"

namespace torch_ir {
namespace {

TensorMeta one_element(const std::string& name) {
  return {.name = name, .shape = {1}, .dtype = "float32", .producer_node = name};
}

IR graph_of_x() {
  IR ir;
  ir.model_name = "Additions";
  ir.graph_inputs = {one_element("x")};
  return ir;
}

TensorMeta add(IR& ir, const TensorMeta& a, const TensorMeta& b) {
  const TensorMeta sum = one_element("add_" + std::to_string(ir.nodes.size()));
  ir.nodes.push_back({.name = sum.name,
                      .op_type = "aten.add.Tensor",
                      .inputs = {a, b},
                      .outputs = {sum},
                      .attrs = {}});
  return sum;
}

IR addition_chain(int64_t num_nodes) {
  IR ir = graph_of_x();
  TensorMeta last = ir.graph_inputs[0];
  for (int64_t i = 0; i < num_nodes; ++i) last = add(ir, last, ir.graph_inputs[0]);
  ir.graph_outputs = {last};
  return ir;
}

IR wide_additions(int64_t num_nodes) {
  IR ir = graph_of_x();
  const TensorMeta x = ir.graph_inputs[0];
  std::deque<TensorMeta> row;
  for (int64_t i = 0; i < num_nodes / 2; ++i) row.push_back(add(ir, x, x));
  while (row.size() > 1) {
    row.push_back(add(ir, row[0], row[1]));
    row.erase(row.begin(), row.begin() + 2);
  }
  // A tree has one node fewer than leaves.
  ir.graph_outputs = {add(ir, row[0], x)};
  return ir;
}

struct ScaledGraph {
  IR ir;
  Program program;
  std::string json;

  ExecutionPlan plan() const { return compile(ir, StateDict()); }
};

const std::vector<at::Tensor>& one() {
  static const std::vector<at::Tensor> inputs = {at::ones({1})};
  return inputs;
}

struct ScaledStep {
  const char* name;
  // Prepares the step's input and returns the step.
  std::function<std::function<void()>(const ScaledGraph&)> prepare;
};

template <class Step>
ScaledStep step(const char* name, const Step& run) {
  return {name, [run](const ScaledGraph& graph) { return [&graph, run] { run(graph); }; }};
}

const ScaledStep kSteps[] = {
    step("load", [](const ScaledGraph& graph) { (void)deserialize_ir(graph.json); }),
    step("validate", [](const ScaledGraph& graph) { validate_ir(graph.ir); }),
    step("compile", [](const ScaledGraph& graph) { graph.plan(); }),
    // A new plan chooses kernels and lays out memory in its first run.
    step("compile_and_run", [](const ScaledGraph& graph) { (void)graph.plan().run(one()); }),
    {"run",
     [](const ScaledGraph& graph) {
       const auto plan = std::make_shared<ExecutionPlan>(graph.plan());
       const auto outputs = std::make_shared<std::vector<at::Tensor>>(plan->run(one()));
       return [plan, outputs] { plan->run(one(), *outputs); };
     }},
    step("open",
         [](const ScaledGraph& graph) {
           const IR ir = deserialize_ir(graph.json);
           validate_ir(ir);
           (void)compile(ir, StateDict());
         }),
    step("diff", [](const ScaledGraph& graph) { diff(graph.program, graph.program); }),
    step("cost", [](const ScaledGraph& graph) { cost_of(graph.program); }),
    step("mermaid", [](const ScaledGraph& graph) { ir_to_mermaid(graph.ir); }),
};

void measure(benchmark::State& state, const std::function<void()>& action, const char* counter,
             int64_t parts) {
  for (auto _ : state) action();
  state.counters[counter] =
      benchmark::Counter(static_cast<double>(parts), benchmark::Counter::kIsIterationInvariantRate |
                                                         benchmark::Counter::kInvert);
}

struct LayeredModel {
  const char* name;
  DecoderShape shape;
};

const LayeredModel kLayeredModels[] = {{"llama", kLlama405BShape}, {"deep_seek", kDeepSeekV3Shape}};

void extract_layered(benchmark::State& state, const LayeredModel& layered, int64_t num_layers) {
  const auto extract_layers = [&] {
    const MetaDeviceGuard meta;
    DecoderShape shape = layered.shape;
    shape.layers = num_layers;
    const Model model{Decoder(shape)};
    model.module()->eval();
    const at::TensorOptions options = at::device(at::kMeta).dtype(at::kLong);
    (void)extract_ir(model, {at::empty({1, 1}, options), at::empty({1}, options)},
                     {.model_name = layered.name, .strict = true});
  };
  measure(state, extract_layers, "per_layer", num_layers);
}

void add_graph(const std::string& name, IR (*make)(int64_t)) {
  for (const int64_t num_nodes : {100, 1'000, 10'000, 100'000}) {
    const auto graph = std::make_shared<ScaledGraph>();
    for (const ScaledStep& step : kSteps) {
      add_benchmark(std::string(step.name) + "/" + name + "/" + std::to_string(num_nodes),
                    [=, &step](benchmark::State& state) {
                      if (graph->json.empty()) {
                        graph->ir = make(num_nodes);
                        graph->program = resolve(graph->ir);
                        graph->json = serialize_ir(graph->ir);
                      }
                      measure(state, step.prepare(*graph), "per_node", num_nodes);
                    });
    }
  }
}

void add_benchmarks(const std::vector<std::string>& archives) {
  if (!archives.empty())
    throw Error("--pt2 is for runtime_benchmark; this benchmark times no archives");
  add_graph("chain", addition_chain);
  add_graph("wide", wide_additions);
  for (const LayeredModel& model : kLayeredModels) {
    for (const int64_t num_layers : {10, 100, 1'000}) {
      add_benchmark(
          std::string("extract/") + model.name + "/" + std::to_string(num_layers),
          [&, num_layers](benchmark::State& state) { extract_layered(state, model, num_layers); });
    }
  }
}

}  // namespace
}  // namespace torch_ir

int main(int argc, char** argv) {
  return torch_ir::run_benchmarks(argc, argv, torch_ir::add_benchmarks);
}
