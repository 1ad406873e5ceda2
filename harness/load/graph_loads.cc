#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <fmt/format.h>
#include <pthread.h>

#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/benchmark/addition_graphs.h"
#include "harness/load/load.h"
#include "torch_ir/analysis/cost.h"
#include "torch_ir/analysis/diff.h"
#include "torch_ir/analysis/summary.h"
#include "torch_ir/analysis/support_report.h"
#include "torch_ir/base/work_directory.h"
#include "torch_ir/cases/split.h"
#include "torch_ir/converter/extract.h"
#include "torch_ir/executor/execution_plan.h"
#include "torch_ir/executor/testing/eager_graph.h"
#include "torch_ir/ir/json.h"
#include "torch_ir/ir/validate.h"
#include "torch_ir/visualize/dot.h"
#include "torch_ir/visualize/mermaid.h"

namespace torch_ir {
namespace {

// Less than a hundredth of what is usual: any function that calls itself for each node of a deep
// graph is above it.
constexpr size_t kSmallStackBytes = size_t{256} << 10;

// The steps that something goes through, each with its time and memory.
class Steps {
 public:
  void run(const std::string& name, const std::function<void()>& step) {
    const Footprint footprint = measure(step);
    text_ += fmt::format("\n    {:<12} {}", name, footprint_text(footprint));
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

void run_plan(const IR& ir, Optimization level, Steps& steps) {
  const std::vector<at::Tensor> inputs = {at::ones({1})};
  const std::string suffix = level == Optimization::kFast ? " fast" : "";
  std::optional<ExecutionPlan> plan;
  steps.run("compile" + suffix, [&] { plan = plan_at(level, ir); });
  for (const char* name : {"first run", "run"}) {
    steps.run(name + suffix, [&] {
      const std::vector<at::Tensor> outputs = plan->run(inputs);
      const at::Tensor expected = at::full({1}, static_cast<float>(ir.nodes.size() + 1));
      require(same_bits(outputs.back(), expected), "a wrong output");
    });
  }
}

void compare_graphs(const IR& ir, Steps& steps) {
  steps.run("diff, equal", [&] { require(diff(ir, ir).is_equal(), "a graph is not itself"); });
  IR changed = ir;
  OpNode& node = changed.nodes[changed.nodes.size() / 2];
  node.op_type = "aten.sub.Tensor";
  steps.run("diff", [&] {
    require(diff(ir, changed).changes.size() == 1, "not the one change that there is");
  });
}

// All that takes a graph, one after the other.
void go_through(const IR& ir, Steps& steps) {
  const WorkDirectory directory(std::filesystem::temp_directory_path());
  const std::string path = (directory.path() / "ir.json").string();
  steps.run("save", [&] { save_ir(ir, path); });
  IR loaded;
  steps.run("load", [&] { loaded = load_ir(path); });
  steps.run("compare", [&] { require(loaded == ir, "a graph is not what was saved"); });
  steps.run("validate", [&] { validate_ir(ir); });
  for (const Optimization level : {Optimization::kExact, Optimization::kFast}) {
    run_plan(ir, level, steps);
  }
  compare_graphs(ir, steps);
  steps.run("Mermaid", [&] { ir_to_mermaid(ir); });
  steps.run("DOT", [&] { ir_to_dot(ir); });
  steps.run("summary", [&] { summarize(ir); });
  steps.run("cost", [&] { cost_of(ir); });
  steps.run("operators", [&] { operators_of(ir.model_name, ir); });
  steps.run("split", [&] {
    const StateDict no_weights;
    const SplitModel model{.ir = &ir, .weights = &no_weights, .inputs = {at::ones({1})}};
    Splitter splitter;
    splitter.add(model, [](GraphCase&) {});
    // x + x, and the sum of two different values.
    require(splitter.cases().size() <= 2, "calls that are the same are different cases");
  });
}

std::string go_through_graph(IR (*make)(int64_t), int64_t num_nodes) {
  Steps steps;
  go_through(make(num_nodes), steps);
  return steps.text();
}

// A chain that is captured, with what autograd keeps of it.
IR capture_chain(int64_t num_nodes) {
  const auto forward = [num_nodes](const std::vector<at::Tensor>& inputs) {
    at::Tensor sum = inputs.at(0);
    for (int64_t i = 0; i < num_nodes; ++i) sum = sum + inputs.at(0);
    return std::vector<at::Tensor>{sum};
  };
  return extract_ir(Model(ModelFn(forward)), {at::ones({1}).requires_grad_()},
                    {.model_name = "Chain"});
}

// Calls `action` in a thread with a stack of `bytes`, and throws what it throws.
void run_on_stack(size_t bytes, const std::function<void()>& action) {
  struct Call {
    const std::function<void()>& action;
    std::exception_ptr error = nullptr;
  } call{action};
  const auto start = [](void* argument) -> void* {
    auto* started = static_cast<Call*>(argument);
    try {
      started->action();
    } catch (...) {
      started->error = std::current_exception();
    }
    return nullptr;
  };
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_t thread = {};
  const bool is_started = pthread_attr_setstacksize(&attributes, bytes) == 0 &&
                          pthread_create(&thread, &attributes, start, &call) == 0;
  pthread_attr_destroy(&attributes);
  require(is_started, "no thread with a small stack");
  pthread_join(thread, nullptr);
  if (call.error) std::rethrow_exception(call.error);
}

std::string go_through_deep_graph(int64_t num_nodes) {
  Steps steps;
  run_on_stack(kSmallStackBytes, [&] {
    IR ir;
    steps.run("capture", [&] { ir = capture_chain(num_nodes); });
    require(std::ssize(ir.nodes) == num_nodes, "not the nodes that ran");
    go_through(ir, steps);
  });
  return steps.text();
}

}  // namespace

std::vector<Load> graph_loads() {
  const auto going_through = [](IR (*make)(int64_t)) {
    return [make](int64_t num_nodes) { return go_through_graph(make, num_nodes); };
  };
  return {{"graph/wide", 2'000, 100'000, going_through(wide_additions)},
          {"graph/chain", 2'000, 100'000, going_through(addition_chain)},
          {"graph/outputs", 2'000, 5'000, going_through(addition_chain_of_outputs)},
          {"graph/deep", 5'000, 20'000, go_through_deep_graph}};
}

}  // namespace torch_ir
