#include <ATen/core/grad_mode.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/full.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "harness/load/load.h"
#include "harness/stages/candidate.h"
#include "torch_ir/executor/execution_plan.h"
#include "torch_ir/executor/testing/eager_graph.h"

namespace torch_ir {
namespace {

using Tensors = std::vector<at::Tensor>;

constexpr int kNumThreads = 32;
constexpr int kNumDraws = 16;
// A leak of one tensor a run is above it after 10,000 runs.
constexpr int64_t kFlatBytes = int64_t{2} << 20;
// What a plan of a small model keeps, its weights beside.
constexpr int64_t kPlanBytes = int64_t{1} << 20;

// What goes in, for draw number `index`, where it is not a trial of the harness.
using Draw = Tensors (*)(int64_t index);

struct LoadedModel {
  // Of the registry, or an archive of harness/testdata.
  std::string name;
  int64_t small_count;
  int64_t full_count;
  Optimization level = Optimization::kExact;
  Draw draw = nullptr;
};

// At least two of the numbers are positive, as the model asks for.
Tensors numbers(int64_t) {
  const at::Tensor x = at::randn({4});
  x.narrow(0, 0, 2).abs_().add_(1);
  return {x};
}

Tensors branches(int64_t index) {
  return {at::full({}, index % 2 == 0), at::full({}, index / 2 % 2 == 0), at::randn({3})};
}

Tensors state(int64_t) { return {at::randn({2, 3})}; }

// Sixteen layouts, twice as many as a plan keeps.
Tensors sequences(int64_t index) { return {at::randn({2 + index % 4, 4 + index / 4 % 4, 8})}; }

Tensors images(int64_t index) { return {at::rand({1 + index % 4, 3, 32, 32})}; }

const LoadedModel kSharedModels[] = {
    {"MaskedLinear", 20'000, 10'000'000},
    {"RecurrentUnroll", 20'000, 10'000'000},
    {"SelfAttention", 10'000, 10'000'000},
    // In segments: what depends on data, and what branches and loops, runs between replays.
    {"exports/data_nonzero.pt2", 10'000, 1'000'000, Optimization::kExact, numbers},
    {"exports/cond_nested.pt2", 10'000, 1'000'000, Optimization::kExact, branches},
    {"exports/while_loop_closes_over_weights.pt2", 10'000, 1'000'000, Optimization::kExact, state},
    {"exports/dyn_view_arange_expand.pt2", 10'000, 1'000'000, Optimization::kExact, sequences},
    {"TransformerBlock", 5'000, 1'000'000, Optimization::kFast},
    {"lstm.pt2", 5'000, 100'000, Optimization::kFast},
    {"unet.pt2", 100, 20'000, Optimization::kFast, images},
};

std::unique_ptr<Candidate> find_candidate(const std::string& name) {
  if (!name.ends_with(".pt2")) return make_candidate(ModelSource(name), RunSettings());
  const std::string path = "harness/testdata/" + name;
  return make_candidate(ModelFiles{.name = name, .path = path}, /*seed=*/0);
}

// A model with inputs, and what has to come out.
struct Checked {
  std::unique_ptr<Candidate> candidate;
  IR ir;
  Optimization level = Optimization::kExact;
  std::vector<Tensors> inputs;
  std::vector<Tensors> expected;

  ExecutionPlan plan() const { return plan_at(level, ir, candidate->weights()); }
};

Checked load_model(const LoadedModel& model) {
  Checked loaded;
  loaded.candidate = find_candidate(model.name);
  loaded.level = model.level;
  loaded.ir = loaded.candidate->extract();
  // What requires gradients may run other kernels.
  const at::NoGradGuard no_grad;
  for (int64_t i = 0; i < kNumDraws; ++i) {
    const bool is_drawn = model.draw != nullptr;
    loaded.inputs.push_back(is_drawn ? model.draw(i)
                                     : loaded.candidate->inputs(static_cast<int>(i)));
    loaded.expected.push_back(loaded.candidate->expected(loaded.inputs.back()));
  }
  return loaded;
}

bool agrees(const at::Tensor& output, const at::Tensor& expected, Optimization level) {
  if (level == Optimization::kExact) return same_bits(output, expected);
  return at::allclose(output, expected, /*rtol=*/1e-4, /*atol=*/1e-4);
}

bool is_expected(const Tensors& outputs, const Tensors& expected, Optimization level) {
  bool is_same = outputs.size() == expected.size();
  for (size_t i = 0; is_same && i < expected.size(); ++i) {
    is_same = agrees(outputs[i], expected[i], level);
  }
  return is_same;
}

// Runs `plan` `count` times in all, in threads of its own, half of the runs over the memory of the
// one before.
void run_in_threads(const ExecutionPlan& plan, const Checked& model, int64_t count) {
  std::atomic<int64_t> num_left = count;
  std::atomic<int64_t> num_wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kNumThreads; ++t) {
    threads.emplace_back([&, t] {
      Tensors outputs;
      for (int64_t i = t; num_left-- > 0; ++i) {
        const Tensors& inputs = model.inputs[i % kNumDraws];
        if (i % 2 == 0) {
          plan.run(inputs, outputs);
        } else {
          outputs = plan.run(inputs);
        }
        if (!is_expected(outputs, model.expected[i % kNumDraws], model.level)) ++num_wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  require(num_wrong == 0, fmt::format("{} of {} runs are wrong", num_wrong.load(), count));
}

// What a thread that has not met another one before takes of the memory of a plan.
int64_t frame_bytes(const ExecutionPlan& plan, const Checked& model) {
  int64_t bytes = 0;
  for (const Tensors& inputs : model.inputs) {
    bytes = std::max(bytes, plan.memory(inputs).value_or(PlanMemory()).arena);
  }
  return bytes;
}

std::string share_a_plan(const LoadedModel& shared, int64_t count) {
  const Checked model = load_model(shared);
  const ExecutionPlan plan = model.plan();
  run_in_threads(plan, model, count / 5);
  const Footprint footprint = measure([&] { run_in_threads(plan, model, count); });
  require_flat(footprint, kFlatBytes + kNumThreads * frame_bytes(plan, model));
  return fmt::format("{:.3g} us a run; {}", 1e6 * footprint.seconds / count,
                     footprint_text(footprint));
}

void run_once(const ExecutionPlan& plan, const Checked& model) {
  require(is_expected(plan.run(model.inputs[0]), model.expected[0], model.level),
          "a plan's run is wrong");
}

void make_plans(const Checked& model, int64_t count) {
  for (int64_t i = 0; i < count; ++i) run_once(model.plan(), model);
}

// One after the other.
std::string make_and_destroy(const LoadedModel& loaded, int64_t count) {
  const Checked model = load_model(loaded);
  make_plans(model, count / 5);
  const Footprint footprint = measure([&] { make_plans(model, count); });
  require_flat(footprint, kFlatBytes);
  return fmt::format("{:.3g} ms a plan; {}", 1e3 * footprint.seconds / count,
                     footprint_text(footprint));
}

// All at once, each run twice.
std::string keep_alive(const LoadedModel& loaded, int64_t count) {
  const Checked model = load_model(loaded);
  make_plans(model, 1);
  std::vector<ExecutionPlan> plans;
  const Footprint footprint = measure([&] {
    for (int64_t i = 0; i < count; ++i) {
      plans.push_back(model.plan());
      run_once(plans.back(), model);
    }
  });
  for (const ExecutionPlan& plan : plans) run_once(plan, model);
  require_flat(footprint, count * kPlanBytes);
  return fmt::format("{} a plan; {}", size_text(1.0 * footprint.peak_bytes() / count),
                     footprint_text(footprint));
}

const LoadedModel kPlannedModels[] = {
    {"SelfAttention", 50, 1'000},
    {"TransformerBlock", 50, 1'000, Optimization::kFast},
    {"exports/while_loop_closes_over_weights.pt2", 50, 1'000, Optimization::kExact, state},
};

std::string name_of(const std::string& kind, const LoadedModel& model) {
  const bool is_fast = model.level == Optimization::kFast;
  return kind + "/" + model.name.substr(model.name.find('/') + 1) + (is_fast ? "/fast" : "");
}

}  // namespace

std::vector<Load> plan_loads() {
  std::vector<Load> loads;
  const auto add = [&](const std::string& kind, const LoadedModel& model,
                       std::string (*run)(const LoadedModel&, int64_t)) {
    loads.push_back({name_of(kind, model), model.small_count, model.full_count,
                     [&model, run](int64_t count) { return run(model, count); }});
  };
  for (const LoadedModel& model : kSharedModels) add("threads", model, share_a_plan);
  for (const LoadedModel& model : kPlannedModels) add("plans_in_turn", model, make_and_destroy);
  for (const LoadedModel& model : kPlannedModels) add("plans_alive", model, keep_alive);
  return loads;
}

}  // namespace torch_ir
