#include "torch_ir/runtime/replay/fit_threads.h"

#include <ATen/Parallel.h>
#include <ATen/ops/as_strided.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/view_as_real.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <exception>
#include <mutex>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "torch_ir/ir/stack.h"
#include "torch_ir/operators/call_recording.h"
#include "torch_ir/runtime/graph/memory_overlap.h"
#include "torch_ir/runtime/threads/threads.h"

namespace torch_ir {
namespace {

// One thread handles these in ten microseconds or less.
constexpr int64_t kSmallElements = 1 << 15;
constexpr int64_t kSmallMultiplications = 1 << 19;

// The number of elements of memory from the first element to the last.
int64_t extent_of(const at::Tensor& tensor) {
  int64_t extent = 1;
  for (int64_t d = 0; d < tensor.dim(); ++d) {
    extent += tensor.stride(d) * std::max<int64_t>(0, tensor.size(d) - 1);
  }
  return extent;
}

bool has_few_elements(const KernelCall& call) {
  int64_t num_elements = 0;
  const auto add = [&](const at::Tensor& tensor) {
    num_elements += std::max(tensor.numel(), extent_of(tensor));
  };
  for (const at::Tensor& tensor : call.outputs) add(tensor);
  for (const at::Tensor& tensor : tensors_of(call.arguments)) add(tensor);
  return num_elements <= kSmallElements;
}

// Whether each row is computed on its own, so that the bits do not depend on the number of threads.
// They do for softmax over strided rows, and for group norm of channels that are not contiguous.
// LibTorch starts threads even for two rows.
bool computes_row_by_row(const KernelCall& call, std::string_view name) {
  static const std::unordered_set<std::string_view> operators = {
      "aten::_embedding_bag_forward_only",
      "aten::_log_softmax",
      "aten::_softmax",
      "aten::index_add",
      "aten::native_group_norm",
      "aten::native_layer_norm"};
  if (!operators.contains(name)) return false;
  const at::Tensor& input = call.arguments[0].toTensor();
  // An image of one channel can be contiguous in both memory formats.
  if (!input.is_contiguous() || input.suggest_memory_format() != at::MemoryFormat::Contiguous) {
    return false;
  }
  if (!name.ends_with("softmax") || input.dim() == 0) return true;
  return input.stride(call.arguments[1].toInt()) == 1;
}

int64_t product_of(const KernelCall& call, size_t matrix) {
  return call.outputs[0].numel() * call.arguments[matrix].toTensor().size(-1);
}
int64_t multiplications_of_mm(const KernelCall& call) { return product_of(call, 0); }
int64_t multiplications_of_addmm(const KernelCall& call) { return product_of(call, 1); }
int64_t multiplications_of_convolution(const KernelCall& call) {
  const at::Tensor& output = call.outputs[0];
  return call.arguments[1].toTensor().numel() * output.numel() / output.size(1);
}
int64_t multiplications_of_attention(const KernelCall& call) {
  return 2 * call.arguments[0].toTensor().numel() * call.arguments[1].toTensor().size(-2);
}
int64_t no_multiplications(const KernelCall& /*call*/) { return 0; }

struct TriedOperator {
  int64_t (*count_multiplications)(const KernelCall& call);
  // With fewer multiplications the operator starts no threads.
  int64_t fewest = 0;
};

// Measured: with fewer multiplications MKL starts no threads.
constexpr int64_t kFewestForThreads = 1 << 15;

// Operators that start threads even for few elements, and whose bits may depend on the number of
// threads.
const std::unordered_map<std::string_view, TriedOperator>& tried_operators() {
  static const std::unordered_map<std::string_view, TriedOperator> operators = {
      {"aten::_scaled_dot_product_flash_attention_for_cpu", {&multiplications_of_attention}},
      {"aten::_slow_conv2d_forward", {&multiplications_of_convolution}},
      {"aten::addmm", {&multiplications_of_addmm, kFewestForThreads}},
      {"aten::baddbmm", {&multiplications_of_addmm}},
      {"aten::bmm", {&multiplications_of_mm}},
      {"aten::cos", {&no_multiplications}},
      {"aten::exp", {&no_multiplications}},
      {"aten::gelu", {&no_multiplications}},
      {"aten::mkldnn_convolution", {&multiplications_of_convolution}},
      {"aten::mm", {&multiplications_of_mm, kFewestForThreads}},
      {"aten::native_batch_norm", {&no_multiplications}},
      {"aten::sigmoid", {&no_multiplications}},
      {"aten::sin", {&no_multiplications}},
      {"aten::tanh", {&no_multiplications}},
  };
  return operators;
}

bool has_few_multiplications(const KernelCall& call, const TriedOperator& tried) {
  const int64_t count = tried.count_multiplications(call);
  return count >= tried.fewest && count <= kSmallMultiplications;
}

constexpr int64_t kAlignment = 64;

// Of either sign, and of a magnitude from 1/8 to 2: with greater ones softmax would choose one row.
float random_number(std::mt19937& random) {
  const auto bits = static_cast<uint32_t>(random());
  constexpr uint32_t kExponentOfEighth = 124;
  return std::bit_cast<float>((bits & 0x807fffffU) | (kExponentOfEighth + (bits >> 23 & 3)) << 23);
}

// A tensor laid out as `like`: random numbers, so that sums in another order are rounded to other
// bits; zeros for integers.
at::Tensor made_up(const at::Tensor& like, std::mt19937& random) {
  if (!like.defined()) return like;
  const int64_t offset = like.storage_offset() % kAlignment;
  const int64_t num_elements = offset + extent_of(like);
  at::Tensor values = at::zeros({num_elements}, like.options());
  if (!c10::isIntegralType(like.scalar_type(), /*includeBool=*/true)) {
    const at::Tensor parts = values.is_complex() ? at::view_as_real(values) : values;
    at::Tensor numbers = at::empty(parts.sizes(), at::kFloat);
    std::generate_n(numbers.mutable_data_ptr<float>(), numbers.numel(),
                    [&] { return random_number(random); });
    parts.copy_(numbers);
  }
  return values.as_strided(like.sizes(), like.strides(), offset);
}

std::vector<at::Tensor> results_of(const KernelCall& call, unsigned seed) {
  std::mt19937 random(seed);
  torch::jit::Stack stack;
  for (const c10::IValue& argument : call.arguments) {
    stack.push_back(argument.isTensor() ? made_up(argument.toTensor(), random) : argument);
  }
  call.op.callBoxed(stack);
  return tensors_of(c10::ArrayRef<c10::IValue>(stack));
}

// With several threads MKL may change a single result at the border of two parts, and a sum can
// come out equal in two orders, so one trial is not enough. Measured: of 2,898 products whose bits
// depend on the number of threads, 1 passed four trials.
bool gives_same_bits(const KernelCall& call) {
  constexpr unsigned kTrials = 8;
  try {
    for (unsigned seed = 0; seed < kTrials; ++seed) {
      const std::vector<at::Tensor> expected = results_of(call, seed);
      const OneThread one_thread;
      if (!std::ranges::equal(expected, results_of(call, seed), same_bits)) return false;
    }
  } catch (const std::exception&) {
    return false;
  }
  return true;
}

std::string key_of(const KernelCall& call) {
  std::ostringstream key;
  key << at::get_num_threads() << ' ' << call.op.operator_name();
  for (const c10::IValue& argument : call.arguments) {
    key << ' ';
    if (argument.isTensor() && argument.toTensor().defined()) {
      const at::Tensor& tensor = argument.toTensor();
      key << tensor.scalar_type() << tensor.sizes() << tensor.strides()
          << tensor.storage_offset() % kAlignment;
    } else {
      key << argument;
    }
  }
  return key.str();
}

// Remembers the result, because graphs repeat calls and every frame prepares them again.
bool has_given_same_bits(const KernelCall& call) {
  static std::mutex mutex;
  static std::unordered_map<std::string, bool> known;
  const std::string key = key_of(call);
  {
    const std::lock_guard<std::mutex> lock(mutex);
    if (const auto found = known.find(key); found != known.end()) return found->second;
  }
  const bool is_same = gives_same_bits(call);
  const std::lock_guard<std::mutex> lock(mutex);
  known.emplace(key, is_same);
  return is_same;
}

}  // namespace

bool fits_one_thread(const KernelCall& call) {
  // In a parallel region eager uses one thread anyway.
  if (at::get_num_threads() == 1 || at::in_parallel_region() || call.outputs.empty() ||
      call.outputs[0].numel() == 0) {
    return false;
  }
  const std::string name = functional_name(call.op.schema().name());
  if (computes_row_by_row(call, name)) return has_few_elements(call);
  const auto tried = tried_operators().find(name);
  return tried != tried_operators().end() && has_few_elements(call) &&
         has_few_multiplications(call, tried->second) && has_given_same_bits(call);
}

}  // namespace torch_ir
