#include "harness/benchmark/roofline.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "torch_ir/analysis/cost.h"
#include "torch_ir/fast/onednn/primitive.h"
#include "torch_ir/runtime/graph/symbol_binder.h"

namespace torch_ir {
namespace {

constexpr int kRounds = 15;

template <class Action>
double fastest(const Action& action) {
  double least = std::numeric_limits<double>::infinity();
  for (int round = 0; round < kRounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    action();
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    least = std::min(least, time.count());
  }
  return least;
}

double measure_peak() {
  constexpr int64_t kSize = 768;
  const auto plain = onednn::Layout::strided({kSize, kSize}, {kSize, 1});
  const onednn::PrimitivePtr product =
      onednn::make_inner_product(plain, onednn::Layout::any({kSize, kSize}), /*has_bias=*/false);
  if (product == nullptr) return 0;
  const auto memory = [](size_t bytes) {
    return at::ones({static_cast<int64_t>(bytes / sizeof(float)) + 1});
  };
  const std::vector<at::Tensor> tensors = {
      memory(plain.bytes()), memory(product->inputs[1].bytes()), memory(plain.bytes()),
      memory(product->scratchpad_bytes)};
  std::vector<void*> pointers;
  for (const at::Tensor& tensor : tensors) pointers.push_back(tensor.mutable_data_ptr());
  const onednn::Execution execution = product->bind();
  return kSize * kSize * kSize / fastest([&] { execution(pointers); });
}

// Multiply-adds per second.
double peak() {
  static std::map<int, double> peaks;
  const auto [found, is_new] = peaks.try_emplace(at::get_num_threads());
  if (is_new) found->second = measure_peak();
  return found->second;
}

// The time to read and write `bytes` in total.
double copying_time(int64_t bytes) {
  const at::Tensor from = at::ones({bytes / 2}, at::kByte);
  const at::Tensor to = at::empty({bytes / 2}, at::kByte);
  return fastest([&] { to.copy_(from); });
}

}  // namespace

std::string peak_text() {
  std::string text;
  // In order, so that as many threads are left as there were.
  for (const int threads : std::set{1, at::get_num_threads()}) {
    at::set_num_threads(threads);
    if (peak() == 0) return "";
    text += fmt::format("{}{} thread{}: {:.1f} GFLOP/s", text.empty() ? "" : ", ", threads,
                        threads == 1 ? "" : "s", 2 * peak() / 1e9);
  }
  constexpr int64_t kBytes = 64'000'000;
  return text +
         fmt::format("; copying 64 MB: {:.1f} GB/s", 2 * kBytes / copying_time(2 * kBytes) / 1e9);
}

std::optional<double> least_time(const Case& graph_case, int64_t output_bytes) {
  const Program& program = *graph_case.program;
  const SymbolValues sizes = bind_symbols(program, graph_case.inputs);
  const CostTotals costs = cost_of(at_sizes(program, sizes)).totals;
  if (peak() == 0 || !costs.not_counted.empty() || costs.num_unknown_sizes > 0) {
    return std::nullopt;
  }
  return std::max(static_cast<double>(costs.multiply_adds) / peak(),
                  copying_time(costs.input_bytes + costs.weight_bytes + output_bytes));
}

}  // namespace torch_ir
