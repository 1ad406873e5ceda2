// Load tests: one operation very often, or on something very large. They check each result and
// bound memory, but not time. To run longer: --test_arg=--gtest_repeat=100.

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "harness/harness.h"
#include "harness/stages/candidate.h"
#include "torch_ir/analysis/cost.h"
#include "torch_ir/analysis/diff.h"
#include "torch_ir/analysis/summary.h"
#include "torch_ir/analysis/support_report.h"
#include "torch_ir/base/work_directory.h"
#include "torch_ir/cases/split.h"
#include "torch_ir/converter/extract.h"
#include "torch_ir/ir/json.h"
#include "torch_ir/ir/resolve.h"
#include "torch_ir/ir/testing/test_graphs.h"
#include "torch_ir/runtime/execution_plan.h"
#include "torch_ir/runtime/testing/eager_graph.h"
#include "torch_ir/visualize/dot.h"
#include "torch_ir/visualize/mermaid.h"
#include "torch_ir/weights/state_dict.h"

namespace torch_ir {
namespace {

namespace fs = std::filesystem;
using Tensors = std::vector<at::Tensor>;

constexpr int kNumThreads = 32;
constexpr int kNumDraws = 16;
// A leak of one tensor per run exceeds this after 10,000 runs.
constexpr int64_t kFlatBytes = int64_t{2} << 20;
// The memory that a plan of a small model keeps, without weights.
constexpr int64_t kPlanBytes = int64_t{1} << 20;

ExecutionPlan plan_at(Optimization level, const IR& ir, const StateDict& weights = StateDict()) {
  return compile(ir, weights, StateDict(), {.optimization = level, .device = {}});
}

int64_t heap_bytes() {
  const auto heap = ::mallinfo2();
  return static_cast<int64_t>(heap.uordblks + heap.hblkhd);
}

// The memory that `action` leaves on the heap; 0 under sanitizers, which have a heap of their own.
int64_t left_bytes(const std::function<void()>& action) {
  const int64_t before = heap_bytes();
  action();
  return heap_bytes() - before;
}

// The most memory that this process had so far.
int64_t most_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return int64_t{usage.ru_maxrss} * 1024;
}

// --- Plans that threads share ---

struct SharedModel {
  // A registered model, or an archive of harness/testdata.
  std::string name;
  int64_t runs = 0;
  // Makes the inputs of draw `index`, if the candidate's are not varied enough.
  Tensors (*draw)(int64_t index) = nullptr;
  Optimization level = Optimization::kExact;
};

// At least two of the numbers are positive, as the model requires.
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

std::unique_ptr<Candidate> find_candidate(const std::string& name) {
  if (!name.ends_with(".pt2")) return make_candidate(ModelSource(name), RunSettings());
  const std::string path = "harness/testdata/" + name;
  return make_candidate(ModelFiles{.name = name, .path = path}, /*seed=*/0);
}

// A plan with inputs and expected outputs.
class CheckedPlan {
 public:
  explicit CheckedPlan(const SharedModel& model)
      : candidate_(find_candidate(model.name)), ir_(candidate_->extract()), level_(model.level) {
    // Tensors that require gradients may run other kernels.
    const at::NoGradGuard no_grad;
    const int num_trials = candidate_->choose_trials({.trials = kNumDraws});
    for (int i = 0; i < kNumDraws; ++i) {
      inputs_.push_back(model.draw != nullptr ? model.draw(i) : candidate_->inputs(i % num_trials));
      expected_.push_back(candidate_->expected(0, inputs_.back()));
    }
  }

  ExecutionPlan plan() const { return plan_at(level_, ir_, candidate_->weights()); }

  // Runs draw `i`, every second time in the memory of the previous outputs.
  bool agrees(const ExecutionPlan& plan, int64_t i, Tensors& outputs) const {
    const size_t draw = i % kNumDraws;
    if (i % 2 == 0) {
      plan.run(inputs_[draw], outputs);
    } else {
      outputs = plan.run(inputs_[draw]);
    }
    return std::ranges::equal(outputs, expected_[draw], [&](const auto& a, const auto& b) {
      return level_ == Optimization::kExact ? same_bits(a, b) : at::allclose(a, b, 1e-4, 1e-4);
    });
  }

  // Runs `count` times in several threads, and returns the number of wrong runs.
  int64_t count_wrong(const ExecutionPlan& plan, int64_t count) const {
    std::atomic<int64_t> num_left = count;
    std::atomic<int64_t> num_wrong = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < kNumThreads; ++t) {
      threads.emplace_back([&, t] {
        Tensors outputs;
        for (int64_t i = t; num_left-- > 0; ++i) num_wrong += !agrees(plan, i, outputs);
      });
    }
    for (std::thread& thread : threads) thread.join();
    return num_wrong;
  }

  // The memory of a plan that one thread takes.
  int64_t frame_bytes(const ExecutionPlan& plan) const {
    int64_t bytes = 0;
    for (const Tensors& inputs : inputs_) {
      bytes = std::max(bytes, plan.memory(inputs).value_or(PlanMemory()).arena);
    }
    return bytes;
  }

 private:
  std::unique_ptr<Candidate> candidate_;
  IR ir_;
  Optimization level_;
  std::vector<Tensors> inputs_;
  std::vector<Tensors> expected_;
};

using LoadOfAPlan = testing::TestWithParam<SharedModel>;

TEST_P(LoadOfAPlan, ThreadsThatShareItGetTheirOutputsAndLeaveNoMemory) {
  const CheckedPlan checked(GetParam());
  const ExecutionPlan plan = checked.plan();
  const int64_t runs = GetParam().runs;
  EXPECT_EQ(checked.count_wrong(plan, runs / 5), 0);
  const int64_t left = left_bytes([&] { EXPECT_EQ(checked.count_wrong(plan, runs), 0); });
  EXPECT_LE(left, kFlatBytes + kNumThreads * checked.frame_bytes(plan));
}

INSTANTIATE_TEST_SUITE_P(
    Load, LoadOfAPlan,
    testing::Values(
        SharedModel{"MaskedLinear", 20'000}, SharedModel{"RecurrentUnroll", 20'000},
        SharedModel{"SelfAttention", 10'000},
        // These run in segments: data-dependent nodes, branches and loops run between replays.
        SharedModel{"exports/data_nonzero.pt2", 10'000, numbers},
        SharedModel{"exports/cond_nested.pt2", 10'000, branches},
        SharedModel{"exports/while_loop_closes_over_weights.pt2", 10'000, state},
        SharedModel{"exports/dyn_view_arange_expand.pt2", 10'000, sequences},
        SharedModel{"TransformerBlock", 5'000, nullptr, Optimization::kFast},
        SharedModel{"lstm.pt2", 5'000, nullptr, Optimization::kFast},
        SharedModel{"unet.pt2", 100, images, Optimization::kFast}),
    [](const auto& model) {
      const std::string name = fs::path(model.param.name).stem().string();
      return name + (model.param.level == Optimization::kFast ? "_fast" : "");
    });

TEST(LoadTest, PlansThatAreMadeAndDestroyedLeaveNoMemory) {
  for (const SharedModel& model :
       {SharedModel{.name = "SelfAttention"},
        SharedModel{"TransformerBlock", 0, nullptr, Optimization::kFast},
        SharedModel{"exports/while_loop_closes_over_weights.pt2", 0, state}}) {
    SCOPED_TRACE(model.name);
    const CheckedPlan checked(model);
    Tensors outputs;
    const auto make_plans = [&] {
      for (int i = 0; i < 50; ++i) EXPECT_TRUE(checked.agrees(checked.plan(), 1, outputs));
    };
    make_plans();
    EXPECT_LE(left_bytes(make_plans), kFlatBytes);

    std::vector<ExecutionPlan> alive;
    const int64_t left = left_bytes([&] {
      for (int i = 0; i < 50; ++i) {
        alive.push_back(checked.plan());
        EXPECT_TRUE(checked.agrees(alive.back(), 1, outputs));
      }
    });
    EXPECT_LE(left, 50 * kPlanBytes);
    for (const ExecutionPlan& plan : alive) EXPECT_TRUE(checked.agrees(plan, 1, outputs));
  }
}

// --- A deep graph ---

// Sums of x with the previous sum, all of them outputs, captured with gradients.
IR capture_chain(int64_t num_nodes) {
  const auto forward = [num_nodes](const Tensors& inputs) {
    Tensors sums = inputs;
    for (int64_t i = 0; i < num_nodes; ++i) sums.push_back(sums.back() + inputs.at(0));
    sums.erase(sums.begin());
    return sums;
  };
  return extract_ir(Model(ModelFn(forward)), {at::ones({1}).requires_grad_()},
                    {.model_name = "Chain"});
}

void run_chain(const IR& ir, Optimization level) {
  const ExecutionPlan plan = plan_at(level, ir);
  for (int run = 0; run < 2; ++run) {
    const Tensors outputs = plan.run({at::ones({1})});
    EXPECT_EQ(outputs.back().item<int64_t>(), std::ssize(ir.nodes) + 1);
  }
}

// Calls everything that takes a graph.
void go_through_chain(int64_t num_nodes) {
  const IR ir = capture_chain(num_nodes);
  ASSERT_EQ(std::ssize(ir.nodes), num_nodes);
  const WorkDirectory directory(fs::temp_directory_path());
  const std::string path = (directory.path() / "ir.json").string();
  save_ir(ir, path);
  EXPECT_EQ(load_ir(path), ir);
  validate_ir(ir);
  run_chain(ir, Optimization::kExact);
  run_chain(ir, Optimization::kFast);
  IR changed = ir;
  changed.nodes[changed.nodes.size() / 2].op_type = "aten.sub.Tensor";
  const Program program = resolve(ir);
  EXPECT_TRUE(diff(program, program).is_equal());
  EXPECT_EQ(diff(program, resolve(changed)).changes.size(), 1);
  EXPECT_FALSE(ir_to_mermaid(ir).empty());
  EXPECT_FALSE(ir_to_dot(ir).empty());
  EXPECT_EQ(summarize(ir).num_nodes, num_nodes);
  cost_of(program);
  operators_of(ir.model_name, program);
  Splitter splitter;
  splitter.add({.content = Case{.inputs = {at::ones({1})}}.with(program)}, [](const SuiteCase&) {});
  // x + x, and the sum of two different values.
  EXPECT_LE(splitter.cases().size(), 2);
}

// The stack, less than a hundredth of the usual one, overflows in any function that recurses for
// each node.
TEST(LoadTest, AChainOfNodesNeedsNoStackAndItsOutputsAreFound) {
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, size_t{256} << 10), 0);
  pthread_t thread = {};
  const auto start = [](void*) -> void* {
    EXPECT_NO_THROW(go_through_chain(5'000));
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, start, nullptr), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

// --- Large files, many models ---

constexpr int64_t kRows = int64_t{1} << 18;
constexpr int64_t kColumns = int64_t{1} << 10;
constexpr int64_t kRow = kRows / 2;

// A sparse file with one tensor of 1 GiB, "w": only the first number of one row takes disk space.
void write_sparse_weight(const fs::path& path, float value) {
  constexpr int64_t kBytes = kRows * kColumns * 4;
  std::string header =
      fmt::format(R"({{"w":{{"dtype":"F32","shape":[{},{}],"data_offsets":[0,{}]}}}})", kRows,
                  kColumns, kBytes);
  header.resize((header.size() + 7) / 8 * 8, ' ');
  const uint64_t length = header.size();
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(&length), sizeof(length));
  file << header;
  const auto begin = static_cast<int64_t>(file.tellp());
  file.seekp(begin + kRow * kColumns * 4);
  file.write(reinterpret_cast<const char*>(&value), sizeof(value));
  file.close();
  ASSERT_TRUE(file.good());
  fs::resize_file(path, static_cast<uint64_t>(begin + kBytes));
}

TEST(LoadTest, OnlyWhatIsReadOfAWeightTakesMemory) {
  const WorkDirectory directory(fs::temp_directory_path());
  const std::string path = (directory.path() / "weights.safetensors").string();
  write_sparse_weight(path, 3);
  const IR ir = TestGraphBuilder("Row")
                    .weight("p_w", "w", {kRows, kColumns})
                    .op("row", "aten.select.int", {"p_w"}, {kColumns},
                        {{"dim", Attribute(0)}, {"index", Attribute(kRow)}})
                    .output("row")
                    .build();
  const int64_t before = most_bytes();
  const StateDict weights = load_weights(path);
  EXPECT_EQ(validate_weights_against_ir(weights, ir), std::vector<std::string>());
  for (const Optimization level : {Optimization::kExact, Optimization::kFast}) {
    const at::Tensor row = plan_at(level, ir, weights).run({}).at(0);
    EXPECT_EQ(row[0].item<int64_t>(), 3);
    EXPECT_EQ(row.count_nonzero().item<int64_t>(), 1);
  }
  EXPECT_LT(most_bytes() - before, int64_t{1} << 26);
}

TEST(LoadTest, ARunOfTheHarnessLeavesNoDescriptorsNorChildren) {
  const auto count_descriptors = [] {
    return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
  };
  const WorkDirectory directory(fs::temp_directory_path());
  const fs::path models = directory.path() / "models";
  fs::create_directory(models);
  const fs::path archive = fs::absolute("harness/testdata/exports/sig_none_outputs.pt2");
  for (const char* name : {"a.pt2", "b.pt2", "c.pt2"}) fs::create_symlink(archive, models / name);
  HarnessOptions options;
  options.context.output = (directory.path() / "reports").string();
  options.coverage.files = {{.path = models.string()}};
  options.run.jobs = 2;
  const auto before = count_descriptors();
  const HarnessRun run = run_harness(options);
  EXPECT_EQ(run.results.size(), 3);
  EXPECT_TRUE(run.is_good());
  EXPECT_EQ(count_descriptors(), before);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

}  // namespace
}  // namespace torch_ir
