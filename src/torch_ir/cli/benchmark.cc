// torch-ir benchmark: measures where a graph spends its time.

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include "torch_ir/base/options.h"
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

// Runs for about this long, within limits.
constexpr double kSeconds = 0.5;
constexpr int64_t kFewestRounds = 15;
constexpr int64_t kMostRounds = 10'000;
// Large models take seconds for a round.
constexpr double kMostSeconds = 10;
constexpr double kSecondsBetweenLines = 2;

struct BenchmarkArguments {
  ExecutionArguments execution;
  double time_limit = kMostSeconds;
  int64_t threads = 0;
  bool json = false;
};

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Says now and then how far a long command is.
class Progress {
 public:
  explicit Progress(Console& console) : console_(console) {}
  void say(const std::string& text) {
    if (seconds_since(last_) < kSecondsBetweenLines) return;
    console_.note(text);
    last_ = Clock::now();
  }

 private:
  Console& console_;
  Clock::time_point last_ = Clock::now();
};

// Sets the median of whole runs, and how many there were.
void time_runs(const ExecutionPlan& plan, const std::vector<at::Tensor>& inputs,
               const BenchmarkArguments& arguments, Progress& progress, BenchmarkReport& report) {
  progress.say("running the graph for the first time");
  std::vector<at::Tensor> outputs;
  plan.run(inputs, outputs);
  std::vector<double> seconds;
  double sum = 0;
  const auto is_done = [&] {
    if (std::ssize(seconds) < kFewestRounds) return sum >= arguments.time_limit;
    return sum >= kSeconds || std::ssize(seconds) == kMostRounds;
  };
  do {
    const Clock::time_point start = Clock::now();
    plan.run(inputs, outputs);
    seconds.push_back(seconds_since(start));
    sum += seconds.back();
    progress.say(fmt::format("round {} of {}", seconds.size(), kFewestRounds));
  } while (!is_done());
  report.rounds = std::ssize(seconds);
  report.reached_time_limit = report.rounds < kFewestRounds;
  const auto middle = seconds.begin() + report.rounds / 2;
  std::ranges::nth_element(seconds, middle);
  report.seconds = *middle;
}

int run_benchmark(const BenchmarkArguments& arguments, Console& console) {
  Progress progress(console);
  if (arguments.threads != 0) at::set_num_threads(static_cast<int>(arguments.threads));
  const ExecutionOptions& options = arguments.execution.options;
  BenchmarkReport report;
  run_graph_file(arguments.execution, console, [&](const RunnableGraph& file) {
    const std::vector<at::Tensor> inputs = to_device(file.content.inputs, options.device);
    const ExecutionPlan plan = compile(file.content, options);
    report.model_name = file.ir.model_name;
    report.optimization = optimization_name(options.optimization);
    report.device = options.device.value_or(c10::Device(c10::kCPU)).str();
    report.threads = at::get_num_threads();
    report.weights = file.weights_source;
    report.inputs = file.inputs_source;
    time_runs(plan, inputs, arguments, progress, report);
    progress.say(fmt::format("timing each node, in {} more rounds", report.rounds));
    report.modules = module_paths(*file.content.program);
    if (std::ranges::all_of(report.modules, &std::string::empty)) report.modules.clear();
    report.nodes = plan.profile(inputs, static_cast<int>(report.rounds));
    report.memory = plan.memory(inputs);
    report.not_replayed = plan.not_replayed();
    report.exact_runs = plan.exact_runs();
  });
  console.out() << (arguments.json ? to_json(report) : to_text(report));
  return kDone;
}

void declare_benchmark(CLI::App& parser, BenchmarkArguments& arguments) {
  add_execution_arguments(parser, arguments.execution);
  arguments.execution.makes_up_values = true;
  add_file_option(parser, "--inputs", arguments.execution.inputs,
                  "Inputs: .safetensors (default: the archive's examples, or generated)");
  parser
      .add_option("--time-limit", arguments.time_limit,
                  "Add no rounds after this time (default: 10)")
      ->type_name("SECONDS")
      ->transform(number<double>("time limit", 0, std::numeric_limits<double>::max(), true,
                                 "a positive number of seconds"));
  add_count_option(parser, kThreadsFlag, arguments.threads,
                   std::string(kThreadsText) + " (default: LibTorch's choice)", kMostThreads);
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
              "      --inputs inputs.safetensors --json\n",
          .declare = with_arguments(declare_benchmark, run_benchmark)};
}

}  // namespace torch_ir
