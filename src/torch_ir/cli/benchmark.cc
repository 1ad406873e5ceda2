// torch-ir benchmark: measures where a graph spends its time.

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <ostream>
#include <vector>

#include "torch_ir/cli/benchmark_report.h"
#include "torch_ir/cli/command.h"
#include "torch_ir/cli/execution.h"
#include "torch_ir/cli/options.h"
#include "torch_ir/ir/module_paths.h"
#include "torch_ir/runtime/device.h"
#include "torch_ir/runtime/execution_plan.h"
#include "torch_ir/runtime/graph/execution_options.h"

namespace torch_ir {
namespace {

using Clock = std::chrono::steady_clock;

// Without --rounds, runs for about this long, within limits.
constexpr double kSeconds = 0.5;
constexpr int64_t kFewestRounds = 15;
constexpr int64_t kMostRounds = 10'000;

struct BenchmarkArguments {
  ExecutionArguments execution;
  // 0 if not given.
  int64_t rounds = 0;
  int64_t threads = 0;
  bool json = false;
};

// Restores the threads after the command, since tests run several in one process.
class ThreadsGuard {
 public:
  explicit ThreadsGuard(int64_t threads) {
    if (threads != 0) at::set_num_threads(static_cast<int>(threads));
  }
  ~ThreadsGuard() { at::set_num_threads(old_); }
  ThreadsGuard(const ThreadsGuard&) = delete;
  ThreadsGuard& operator=(const ThreadsGuard&) = delete;

 private:
  int old_ = at::get_num_threads();
};

double median_seconds(const ExecutionPlan& plan, const std::vector<at::Tensor>& inputs,
                      int64_t rounds) {
  std::vector<at::Tensor> outputs;
  plan.run(inputs, outputs);
  std::vector<double> seconds;
  for (int64_t i = 0; i < rounds; ++i) {
    const Clock::time_point start = Clock::now();
    plan.run(inputs, outputs);
    seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
  }
  const auto middle = seconds.begin() + rounds / 2;
  std::ranges::nth_element(seconds, middle);
  return *middle;
}

int64_t choose_rounds(const ExecutionPlan& plan, const std::vector<at::Tensor>& inputs) {
  const auto rounds =
      static_cast<int64_t>(kSeconds / std::max(median_seconds(plan, inputs, 3), 1e-9));
  return std::clamp(rounds, kFewestRounds, kMostRounds);
}

int run_benchmark(const BenchmarkArguments& arguments, Console& console) {
  const ThreadsGuard threads(arguments.threads);
  const ExecutionOptions& options = arguments.execution.options;
  BenchmarkReport report;
  run_graph_file(arguments.execution, [&](const GraphFile& file) {
    const std::vector<at::Tensor> inputs = to_device(file.content.inputs, options.device);
    const ExecutionPlan plan = compile(file.content, options);
    report.model_name = file.ir.model_name;
    report.optimization = optimization_name(options.optimization);
    report.device = options.device.value_or(c10::Device(c10::kCPU)).str();
    report.threads = at::get_num_threads();
    report.weights = file.weights_source;
    report.inputs = file.inputs_source;
    report.rounds = arguments.rounds != 0 ? arguments.rounds : choose_rounds(plan, inputs);
    report.seconds = median_seconds(plan, inputs, report.rounds);
    report.modules = module_paths(*file.content.program);
    if (std::ranges::all_of(report.modules, &std::string::empty)) report.modules.clear();
    report.nodes = plan.profile(inputs, static_cast<int>(report.rounds));
    report.memory = plan.memory(inputs);
    report.not_replayed = plan.not_replayed();
  });
  console.out() << (arguments.json ? to_json(report) : to_text(report));
  return kDone;
}

void declare_benchmark(CLI::App& parser, BenchmarkArguments& arguments) {
  add_execution_arguments(parser, arguments.execution);
  arguments.execution.makes_up_values = true;
  add_file_option(parser, "--inputs", arguments.execution.inputs,
                  "Inputs: .safetensors (default: the archive's examples, or generated)");
  add_count_option(parser, "--rounds", arguments.rounds,
                   "Number of rounds (default: about half a second, at least 15)", 1'000'000);
  add_count_option(parser, "--threads", arguments.threads,
                   "Threads that an operator may use (default: LibTorch's choice)", 1024);
  parser.add_flag("--json", arguments.json, "Print JSON");
}

}  // namespace

Command benchmark_command() {
  return {.name = "benchmark",
          .summary = "Measure the time and bytes of each node of a graph",
          .examples =
              "  torch-ir benchmark model.pt2\n"
              "  torch-ir benchmark model.json --threads 1 --optimization fast\n"
              "  torch-ir benchmark model.json --weights weights.safetensors \\\n"
              "      --inputs inputs.safetensors --rounds 100 --json\n",
          .declare = with_arguments(declare_benchmark, run_benchmark)};
}

}  // namespace torch_ir
