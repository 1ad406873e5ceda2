// Times registered models and archives: eager against plans, and the steps to a plan.
//
//   execute/MODEL/ENGINE  runs the model on an engine of benchmark_engines.h
//   extract/MODEL         makes the model, captures it on the meta device and converts it (registry
//                         models only, like save and load)
//   save/MODEL            writes the IR to JSON text in memory
//   load/MODEL            reads it back
//   --pt2 FILE            an archive of torch.export.save, or a folder of them; may be repeated.
//                         Inputs come from NAME.inputs.safetensors beside it, or else are the
//                         example inputs
//
// An engine is timed only if its outputs match eager's: bit by bit for `exact`; within 1e-4, or as
// far as the verdict on a run explains, for others. Counters are for one run after the first:
//
//   faults                page faults
//   allocs                allocations by LibTorch's CPU allocator, which makes tensors
//   peak_bytes            the most memory of tensors that the run holds at a time, including
//   outputs,
//                         and the arena or outputs that a plan keeps between runs
//   limit_us              the least time on this machine, see roofline.h
//
// Archives have the label "archive". benchmark_program.h has the other flags.
// tools/benchmark_table.py makes tables, with ratios to eager, from the files that
// --benchmark_out=FILE writes.

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <benchmark/benchmark.h>
#include <c10/core/Allocator.h>
#include <c10/core/InferenceMode.h>
#include <c10/util/ThreadLocalDebugInfo.h>
#include <sys/resource.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/benchmark/benchmark_engines.h"
#include "harness/benchmark/benchmark_program.h"
#include "harness/benchmark/roofline.h"
#include "harness/results/model_files.h"
#include "harness/stages/candidate.h"
#include "torch_ir/base/error.h"
#include "torch_ir/ir/document.h"
#include "torch_ir/ir/json.h"
#include "torch_ir/registry/registry.h"

namespace torch_ir {
namespace {

using Tensors = std::vector<at::Tensor>;

// Shares memory with `tensor`. Eager is faster with tensors made in InferenceMode: views of
// ordinary tensors are tracked, even in InferenceMode.
at::Tensor as_inference_tensor(const at::Tensor& tensor) {
  const c10::InferenceMode inference_mode;
  return at::empty({0}, tensor.options())
      .set_(tensor.storage(), tensor.storage_offset(), tensor.sizes(), tensor.strides());
}

StateDict as_inference_tensors(const StateDict& tensors) {
  StateDict result;
  for (const auto& item : tensors) result.insert(item.key(), as_inference_tensor(item.value()));
  return result;
}

struct BenchmarkedModel {
  std::string name;
  std::string label;
  std::function<Case()> make;
  Case graph_case = {};

  const Case& graph() {
    if (graph_case.program) return graph_case;
    graph_case = make();
    for (at::Tensor& input : graph_case.inputs) input = as_inference_tensor(input);
    graph_case.weights = as_inference_tensors(graph_case.weights);
    graph_case.constants = as_inference_tensors(graph_case.program->constants);
    return graph_case;
  }

  IR ir() { return to_ir(*graph().program); }
};

using SharedModel = std::shared_ptr<BenchmarkedModel>;

constexpr int kWarmUpRuns = 3;

int64_t bytes_of(const Tensors& tensors) {
  int64_t bytes = 0;
  for (const at::Tensor& tensor : tensors) bytes += static_cast<int64_t>(tensor.nbytes());
  return bytes;
}

int64_t page_faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

// What LibTorch's CPU allocator reports to profilers while this exists, in this thread.
class MemoryUse : public c10::MemoryReportingInfoBase {
 public:
  void reportMemoryUsage(void* /*memory*/, int64_t size, size_t /*allocated*/, size_t /*reserved*/,
                         c10::Device /*device*/) override {
    num_allocations += size > 0 ? 1 : 0;
    held_bytes += size;
    peak_bytes = std::max(peak_bytes, held_bytes);
  }
  bool memoryProfilingEnabled() const override { return true; }

  int64_t num_allocations = 0;
  int64_t held_bytes = 0;
  int64_t peak_bytes = 0;
};

template <class Action>
void measure(benchmark::State& state, const Action& action) {
  action();
  const int64_t before = page_faults();
  for (auto _ : state) action();
  state.counters["faults"] = benchmark::Counter(static_cast<double>(page_faults() - before),
                                                benchmark::Counter::kAvgIterations);
}

class BenchmarkedEngine {
 public:
  BenchmarkedEngine(SharedModel model, const EngineKind& kind)
      : model_(std::move(model)), kind_(kind) {}

  void run(benchmark::State& state) {
    if (!engine_) prepare();
    state.SetLabel(model_->label);
    measure(state, [this] { engine_->run(outputs_); });
    if (least_time_) state.counters["limit_us"] = *least_time_ * 1e6;
    state.counters["allocs"] = static_cast<double>(num_allocations_);
    state.counters["peak_bytes"] = static_cast<double>(peak_bytes_);
  }

 private:
  void prepare() {
    Case judged = model_->graph();
    judged.expected.clear();
    Engine(engine_kinds().front(), judged).run(judged.expected);
    engine_.emplace(kind_, model_->graph());
    for (int i = 0; i < kWarmUpRuns; ++i) engine_->run(outputs_);
    const std::string difference = disagreement(kind_, judged, outputs_);
    if (!difference.empty()) {
      engine_.reset();
      throw Error(difference);
    }
    const int64_t kept = bytes_of(outputs_);
    if (!kind_.has_eager_bits) least_time_ = least_time(model_->graph(), kept);
    outputs_.clear();
    const auto memory = std::make_shared<MemoryUse>();
    const c10::DebugInfoGuard guard(c10::DebugInfoKind::PROFILER_STATE, memory);
    engine_->run(outputs_);
    num_allocations_ = memory->num_allocations;
    // The engine keeps outputs that this run did not allocate.
    peak_bytes_ = std::max(memory->peak_bytes, kept) + engine_->held_bytes();
  }

  SharedModel model_;
  const EngineKind& kind_;
  std::optional<Engine> engine_;
  Tensors outputs_;
  std::optional<double> least_time_;
  int64_t num_allocations_ = 0;
  int64_t peak_bytes_ = 0;
};

void add_engine(const SharedModel& model, const EngineKind& kind) {
  const auto engine = std::make_shared<BenchmarkedEngine>(model, kind);
  add_benchmark("execute/" + model->name + "/" + kind.name,
                [engine](benchmark::State& state) { engine->run(state); });
}

void add_stages(const RegisteredModel& registered, const SharedModel& model) {
  add_benchmark("extract/" + model->name, [registered](benchmark::State& state) {
    measure(state, [&] { return make_candidate(registered, 0)->extract(); });
  });
  add_benchmark("save/" + model->name, [model](benchmark::State& state) {
    const IR ir = model->ir();
    measure(state, [&] { return serialize_ir(ir); });
  });
  add_benchmark("load/" + model->name, [model](benchmark::State& state) {
    const std::string text = serialize_ir(model->ir());
    measure(state, [&] { return deserialize_ir(text); });
  });
}

template <class Source>
SharedModel benchmarked(const Source& source, const std::string& label) {
  return std::make_shared<BenchmarkedModel>(BenchmarkedModel{
      source.name, label, [source] { return first_trial(*make_candidate(source, 0)); }});
}

void add_benchmarks(const std::vector<std::string>& paths) {
  const std::string peak = peak_text();
  if (!peak.empty()) benchmark::AddCustomContext("peak", peak);
  std::vector<ModelFiles> arguments;
  for (const std::string& path : paths) arguments.push_back({.path = path});
  RegistryNames names;
  for (const RegisteredModel& model : list_models()) names.all.push_back(model.name);
  const std::vector<ModelFiles> archives = find_model_files(arguments, names);

  for (const RegisteredModel& registered : list_models()) {
    const SharedModel model = benchmarked(registered, "");
    for (const EngineKind& kind : engine_kinds()) add_engine(model, kind);
    add_stages(registered, model);
  }
  for (const ModelFiles& archive : archives) {
    const SharedModel model = benchmarked(archive, "archive");
    for (const EngineKind& kind : engine_kinds()) add_engine(model, kind);
  }
}

}  // namespace
}  // namespace torch_ir

int main(int argc, char** argv) {
  return torch_ir::run_benchmarks(argc, argv, torch_ir::add_benchmarks);
}
