#include <ATen/TensorOperators.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "harness/harness.h"
#include "harness/load/load.h"
#include "torch_ir/base/work_directory.h"
#include "torch_ir/executor/execution_plan.h"
#include "torch_ir/ir/testing/test_graphs.h"
#include "torch_ir/weights/state_dict.h"

namespace torch_ir {
namespace {

namespace fs = std::filesystem;

// A tensor of 1 GiB, and the row of it that is not zero and that the graph reads.
constexpr int64_t kRows = int64_t{1} << 18;
constexpr int64_t kColumns = int64_t{1} << 10;
constexpr int64_t kTensorBytes = kRows * kColumns * 4;
constexpr int64_t kRow = kRows / 2;

// A file of `count` such tensors that takes next to nothing of the disk: all but a number in each
// is a hole.
void write_sparse_weights(const fs::path& path, int64_t count) {
  std::string header = "{";
  for (int64_t i = 0; i < count; ++i) {
    header += fmt::format(R"({}"w{}":{{"dtype":"F32","shape":[{},{}],"data_offsets":[{},{}]}})",
                          i == 0 ? "" : ",", i, kRows, kColumns, i * kTensorBytes,
                          (i + 1) * kTensorBytes);
  }
  header += "}";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  const uint64_t length = header.size();
  const auto begin = static_cast<int64_t>(sizeof(length) + length);
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(&length), sizeof(length));
  file << header;
  for (int64_t i = 0; i < count; ++i) {
    const auto value = static_cast<float>(i + 1);
    file.seekp(begin + i * kTensorBytes + kRow * kColumns * 4);
    file.write(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  file.close();
  require(file.good(), "cannot write '" + path.string() + "'");
  fs::resize_file(path, static_cast<uint64_t>(begin + count * kTensorBytes));
}

// The sum of that row of all weights.
IR sum_of_rows(int64_t count) {
  TestGraphBuilder graph("Rows");
  graph.input("x", {kColumns});
  std::string sum = "x";
  for (int64_t i = 0; i < count; ++i) {
    const std::string number = std::to_string(i);
    graph.weight("p_w" + number, "w" + number, {kRows, kColumns});
    graph.op("row" + number, "aten.select.int", {"p_w" + number}, {kColumns},
             {{"dim", Attribute(0)}, {"index", Attribute(kRow)}});
    graph.op("sum" + number, "aten.add.Tensor", {sum, "row" + number}, {kColumns});
    sum = "sum" + number;
  }
  return graph.output(sum).build();
}

std::string run_on_sparse_weights(int64_t num_tensors) {
  const WorkDirectory directory(fs::temp_directory_path());
  const fs::path path = directory.path() / "weights.safetensors";
  write_sparse_weights(path, num_tensors);
  const IR ir = sum_of_rows(num_tensors);
  // Kept to the end, so that what was read of it is still resident.
  StateDict weights = StateDict();
  const Footprint footprint = measure([&] {
    weights = load_weights(path.string());
    require(validate_weights_against_ir(weights, ir).empty(), "weights that do not fit");
    for (const Optimization level : {Optimization::kExact, Optimization::kFast}) {
      const ExecutionPlan plan = plan_at(level, ir, weights);
      for (int run = 0; run < 3; ++run) {
        const at::Tensor sum = plan.run({at::zeros({kColumns})}).at(0);
        require(sum[0].item<int64_t>() == num_tensors * (num_tensors + 1) / 2 &&
                    sum.count_nonzero().item<int64_t>() == 1,
                "a wrong sum");
      }
    }
  });
  const int64_t bytes = num_tensors * kTensorBytes;
  const int64_t taken = std::max(footprint.peak_bytes(), footprint.resident_growth());
  require(!footprint.allocations || taken < std::min(bytes / 16, int64_t{1} << 30),
          "more memory than a part of the file: " + footprint_text(footprint));
  return fmt::format("a file of {}; {}", size_text(bytes), footprint_text(footprint));
}

// What a run may take by itself, and what of each model until it has written its reports: its row
// of SUMMARY.md for the most part.
constexpr int64_t kRunBytes = int64_t{1} << 20;
constexpr int64_t kModelBytes = 10'000;

std::string run_harness_on_copies(int64_t num_models) {
  const WorkDirectory directory(fs::temp_directory_path());
  const fs::path models = directory.path() / "models";
  fs::create_directory(models);
  const fs::path archive = fs::absolute("harness/testdata/exports/sig_none_outputs.pt2");
  for (int64_t i = 0; i < num_models; ++i) {
    fs::create_symlink(archive, models / fmt::format("m{:05}.pt2", i));
  }
  HarnessOptions options;
  options.output = (directory.path() / "reports").string();
  options.files = {{.path = models.string()}};
  options.run.jobs = 2;
  const int64_t descriptors = count_descriptors();
  const Footprint footprint = measure([&] {
    const HarnessRun run = run_harness(options);
    require(std::ssize(run.results) == num_models && run.is_good(), "a model failed");
  });
  require(count_descriptors() == descriptors, "descriptors are left open");
  require(::waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD, "children are left");
  const int64_t bytes = footprint.peak_bytes();
  require(!footprint.allocations || bytes < kRunBytes + num_models * kModelBytes,
          "more memory a model than its result: " + footprint_text(footprint));
  return fmt::format("{:.3g} ms and {} a model; {}", 1e3 * footprint.seconds / num_models,
                     size_text(1.0 * bytes / num_models), footprint_text(footprint));
}

}  // namespace

std::vector<Load> file_loads() {
  return {{"sparse_weights", 1, 50, run_on_sparse_weights},
          {"models", 2, 10'000, run_harness_on_copies}};
}

}  // namespace torch_ir
