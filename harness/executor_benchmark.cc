// Times the registry's models: eager C++ against the plan, side by side, and the way to a plan.
//
//   execute/MODEL/eager  the module itself, in InferenceMode
//   execute/MODEL/exact  the plan of its IR
//   extract/MODEL        capture and conversion, on the meta device
//   save/MODEL           the IR to JSON text, in memory
//   load/MODEL           and back
//
// All flags are Google Benchmark's. Without others, rounds are repeated and interleaved at random,
// so that a machine that slows down for a while slows all cases down alike. Ends with the ratios of
// plan to eager in CPU time. One thread, and a malloc that gives nothing back to the system:
// glibc's default makes eager's time bimodal from process to process, by page faults.

#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>
#include <c10/core/InferenceMode.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "torch_ir/executor/execution_plan.h"
#include "torch_ir/harness/ratio_reporter.h"
#include "torch_ir/harness/stages.h"
#include "torch_ir/ir/json.h"
#include "torch_ir/models/registry.h"

namespace torch_ir {
namespace {

// A model with what its benchmarks need, made when the first of them runs.
class BenchmarkedModel {
 public:
  explicit BenchmarkedModel(RegisteredModel model) : model_(std::move(model)) {}

  const RegisteredModel& model() const { return model_; }
  const Subject& subject() {
    if (!subject_) subject_ = make_subject(model_, 0);
    return *subject_;
  }
  const IR& ir() {
    if (!ir_) ir_ = extract(model_, subject());
    return *ir_;
  }

 private:
  RegisteredModel model_;
  std::optional<Subject> subject_;
  std::optional<IR> ir_;
};

int64_t page_faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

// Runs `action` as often as `state` says, and counts its page faults.
template <class Action>
void measure(benchmark::State& state, const Action& action) {
  action();
  const int64_t before = page_faults();
  for (auto _ : state) benchmark::DoNotOptimize(action());
  state.counters["faults"] = benchmark::Counter(static_cast<double>(page_faults() - before),
                                                benchmark::Counter::kAvgIterations);
}

void execute_eagerly(benchmark::State& state, BenchmarkedModel& model) {
  const Subject& subject = model.subject();
  const c10::InferenceMode inference_mode;
  measure(state, [&] { return subject.model(subject.inputs); });
}

void execute_plan(benchmark::State& state, BenchmarkedModel& model) {
  const Subject& subject = model.subject();
  const ExecutionPlan plan = compile(model.ir(), subject.weights);
  measure(state, [&] { return plan.run(subject.inputs); });
}

void extract_ir(benchmark::State& state, BenchmarkedModel& model) {
  const Subject& subject = model.subject();
  measure(state, [&] { return extract(model.model(), subject); });
}

void save_ir(benchmark::State& state, BenchmarkedModel& model) {
  const IR& ir = model.ir();
  measure(state, [&] { return serialize_ir(ir); });
}

void load_ir(benchmark::State& state, BenchmarkedModel& model) {
  const std::string text = serialize_ir(model.ir());
  measure(state, [&] { return deserialize_ir(text); });
}

using Measurement = void (*)(benchmark::State&, BenchmarkedModel&);

void register_benchmark(const std::string& name, std::shared_ptr<BenchmarkedModel> model,
                        Measurement measurement) {
  benchmark::RegisterBenchmark(name.c_str(), [model, measurement](benchmark::State& state) {
    try {
      measurement(state, *model);
    } catch (const std::exception& error) {
      state.SkipWithError(error.what());
    }
  });
}

void register_benchmarks() {
  std::vector<std::shared_ptr<BenchmarkedModel>> models;
  for (RegisteredModel& model : list_models()) {
    models.push_back(std::make_shared<BenchmarkedModel>(std::move(model)));
  }
  for (const auto& model : models) {
    const std::string& name = model->model().name;
    register_benchmark("execute/" + name + "/eager", model, execute_eagerly);
    register_benchmark("execute/" + name + "/exact", model, execute_plan);
  }
  for (const auto& model : models) {
    const std::string& name = model->model().name;
    register_benchmark("extract/" + name, model, extract_ir);
    register_benchmark("save/" + name, model, save_ir);
    register_benchmark("load/" + name, model, load_ir);
  }
}

// Extraction warns that constants on the meta device have no values. Writing that
// thousands of times would be what is measured.
class NoWarnings : public c10::WarningHandler {
 public:
  void process(const c10::Warning&) override {}
};

void keep_memory_from_the_system() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, -1);  // Never.
  mallopt(M_TOP_PAD, 64 << 20);
#endif
}

// Google Benchmark takes the last of several values of a flag, so the caller's win.
std::vector<std::string> with_default_flags(int argc, char** argv) {
  std::vector<std::string> flags = {argv[0], "--benchmark_repetitions=15",
                                    "--benchmark_enable_random_interleaving=true",
                                    "--benchmark_min_time=0.02"};
  flags.insert(flags.end(), argv + 1, argv + argc);
  return flags;
}

int run(int argc, char** argv) {
  std::vector<std::string> flags = with_default_flags(argc, argv);
  std::vector<char*> pointers;
  for (std::string& flag : flags) pointers.push_back(flag.data());
  int count = static_cast<int>(pointers.size());
  benchmark::Initialize(&count, pointers.data());
  if (benchmark::ReportUnrecognizedArguments(count, pointers.data())) return 2;
  // Under `bazel run`, the files that flags name are the caller's.
  const char* directory = std::getenv("BUILD_WORKING_DIRECTORY");
  if (directory != nullptr && chdir(directory) != 0) {
    fmt::print(stderr, "can not enter {}\n", directory);
    return 2;
  }
  register_benchmarks();
  RatioReporter reporter;
  const size_t num_run = benchmark::RunSpecifiedBenchmarks(&reporter);
  reporter.print_ratios();
  return num_run == 0 || reporter.has_errors() ? 1 : 0;
}

}  // namespace
}  // namespace torch_ir

int main(int argc, char** argv) {
  torch_ir::keep_memory_from_the_system();
  at::set_num_threads(1);
  torch_ir::NoWarnings no_warnings;
  const c10::WarningUtils::WarningHandlerGuard guard(&no_warnings);
  return torch_ir::run(argc, argv);
}
