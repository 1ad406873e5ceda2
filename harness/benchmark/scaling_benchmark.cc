// Times the steps from a file to a result as graphs grow.
//
//   load/GRAPH/N       the IR from JSON text, in memory
//   validate/GRAPH/N   validate_ir
//   compile/GRAPH/N    the plan
//   first_run/GRAPH/N  the first run of a new plan, which chooses kernels and lays out memory
//   run/GRAPH/N        a run after that
//   open/GRAPH/N       load, validate and compile, one after the other
//   extract/MODEL/L    capture and conversion of L layers, on the meta device, of `llama` and
//                      `deep_seek`, as large as those of Llama 3.1 405B and DeepSeek-V3
//
// GRAPH is `chain`, additions to a tensor of one element, each of the result of the one before, or
// `wide`, half of the additions next to each other and the rest the tree that sums them. N is the
// number of nodes. Counters: per_node (per_layer), the CPU time of one, and peak_bytes of one more
// call, which is the most that the call takes from malloc at a time.
//
// Flags are those of benchmark_program.h.

#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <benchmark/benchmark.h>
#include <torch/nn/module.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/benchmark/addition_graphs.h"
#include "harness/benchmark/allocation_counter.h"
#include "harness/benchmark/benchmark_program.h"
#include "models/blocks/published_decoders.h"
#include "torch_ir/base/error.h"
#include "torch_ir/converter/extract.h"
#include "torch_ir/executor/execution_plan.h"
#include "torch_ir/exporter/meta/meta_device.h"
#include "torch_ir/ir/json.h"
#include "torch_ir/ir/validate.h"

namespace torch_ir {
namespace {

// A graph with what its benchmarks need, made when the first of them runs.
class ScaledGraph {
 public:
  ScaledGraph(IR (*make)(int64_t), int64_t num_nodes) : make_(make), num_nodes_(num_nodes) {}

  int64_t num_nodes() const { return num_nodes_; }
  const IR& ir() {
    if (!ir_) ir_ = make_(num_nodes_);
    return *ir_;
  }
  const std::string& json() {
    if (json_.empty()) json_ = serialize_ir(ir());
    return json_;
  }
  std::vector<at::Tensor> inputs() const { return {at::ones({1})}; }
  ExecutionPlan plan() { return compile(ir(), StateDict()); }

 private:
  IR (*make_)(int64_t);
  int64_t num_nodes_;
  std::optional<IR> ir_;
  std::string json_;
};

void count_per(benchmark::State& state, const char* counter, int64_t parts) {
  state.counters[counter] =
      benchmark::Counter(static_cast<double>(parts), benchmark::Counter::kIsIterationInvariantRate |
                                                         benchmark::Counter::kInvert);
}

void count_peak(benchmark::State& state, const std::function<void()>& action) {
  const std::optional<Allocations> allocations = count_allocations(action);
  if (allocations) state.counters["peak_bytes"] = static_cast<double>(allocations->peak_bytes);
}

// Runs `action` as often as `state` says. What it returns goes away within the time.
template <class Action>
void measure(benchmark::State& state, ScaledGraph& graph, const Action& action) {
  count_peak(state, [&] { action(); });
  for (auto _ : state) action();
  count_per(state, "per_node", graph.num_nodes());
}

void load(benchmark::State& state, ScaledGraph& graph) {
  const std::string& json = graph.json();
  measure(state, graph, [&] { return deserialize_ir(json); });
}

void validate(benchmark::State& state, ScaledGraph& graph) {
  const IR& ir = graph.ir();
  measure(state, graph, [&] { validate_ir(ir); });
}

void compile_plan(benchmark::State& state, ScaledGraph& graph) {
  graph.ir();
  measure(state, graph, [&] { return graph.plan(); });
}

void open(benchmark::State& state, ScaledGraph& graph) {
  const std::string& json = graph.json();
  measure(state, graph, [&] {
    const IR ir = deserialize_ir(json);
    validate_ir(ir);
    return compile(ir, StateDict());
  });
}

void first_run(benchmark::State& state, ScaledGraph& graph) {
  const std::vector<at::Tensor> inputs = graph.inputs();
  const ExecutionPlan counted = graph.plan();
  count_peak(state, [&] { counted.run(inputs); });
  for (auto _ : state) {
    state.PauseTiming();
    std::optional<ExecutionPlan> plan = graph.plan();
    state.ResumeTiming();
    plan->run(inputs);
    state.PauseTiming();
    plan.reset();
    state.ResumeTiming();
  }
  count_per(state, "per_node", graph.num_nodes());
}

void run(benchmark::State& state, ScaledGraph& graph) {
  const std::vector<at::Tensor> inputs = graph.inputs();
  const ExecutionPlan plan = graph.plan();
  std::vector<at::Tensor> outputs;
  plan.run(inputs, outputs);
  measure(state, graph, [&] { plan.run(inputs, outputs); });
}

// A decoder of any number of layers.
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
    return extract_ir(model, {at::empty({1, 1}, options), at::empty({1}, options)},
                      {.model_name = layered.name, .strict = true});
  };
  count_peak(state, [&] { extract_layers(); });
  for (auto _ : state) extract_layers();
  count_per(state, "per_layer", num_layers);
}

struct Family {
  const char* name;
  void (*benchmark)(benchmark::State&, ScaledGraph&);
};

constexpr Family kFamilies[] = {
    {"load", load},           {"validate", validate}, {"compile", compile_plan},
    {"first_run", first_run}, {"run", run},           {"open", open}};

void add_graph(const std::string& name, IR (*make)(int64_t)) {
  for (const int64_t num_nodes : {100, 1'000, 10'000, 100'000}) {
    const auto graph = std::make_shared<ScaledGraph>(make, num_nodes);
    for (const Family& family : kFamilies) {
      add_benchmark(std::string(family.name) + "/" + name + "/" + std::to_string(num_nodes),
                    [family, graph](benchmark::State& state) { family.benchmark(state, *graph); });
    }
  }
}

void add_benchmarks(const std::vector<std::string>& archives) {
  if (!archives.empty()) throw Error("--pt2 is for executor_benchmark: no archive is timed here");
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
