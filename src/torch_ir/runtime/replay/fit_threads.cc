#include "torch_ir/runtime/replay/fit_threads.h"

#include <ATen/Parallel.h>
#include <ATen/ops/as_strided.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "torch_ir/ir/stack.h"
#include "torch_ir/operators/call_recording.h"
#include "torch_ir/runtime/graph/memory_overlap.h"
#include "torch_ir/runtime/threads/threads.h"

namespace torch_ir {
namespace {

// One thread handles this many in a few microseconds, matrix products included.
constexpr int64_t kSmallElements = 1 << 15;

bool is_small(const KernelCall& call) {
  int64_t num_elements = 0;
  for (const at::Tensor& tensor : call.outputs) num_elements += tensor.numel();
  for (const at::Tensor& tensor : tensors_of(call.arguments)) num_elements += tensor.numel();
  return num_elements <= kSmallElements;
}

// The name of the functional form.
std::string_view name_of(const KernelCall& call) {
  std::string_view name = call.op.schema().name();
  if (name.ends_with('_')) name.remove_suffix(1);
  return name;
}

// LibTorch starts threads even for two rows. Softmax over strided rows, and group norm of channels
// that are not contiguous, give different bits with another number of threads.
bool computes_row_by_row(const KernelCall& call) {
  static const std::unordered_set<std::string_view> operators = {
      "aten::_log_softmax", "aten::_softmax", "aten::native_group_norm", "aten::native_layer_norm"};
  if (!operators.contains(name_of(call))) return false;
  const at::Tensor& input = call.arguments[0].toTensor();
  if (!input.is_contiguous()) return false;
  const auto dim = call.op.schema().argumentIndexWithName("dim");
  if (!dim || input.dim() == 0) return true;
  const int64_t given = call.arguments[static_cast<size_t>(*dim)].toInt();
  return input.stride(given) == 1;
}

// Operators that start threads for few elements, and whose results depend on integers, if at all,
// only as on indices: zeros are valid ones.
bool may_be_tried(const KernelCall& call) {
  static const std::unordered_set<std::string_view> operators = {
      "aten::_embedding_bag_forward_only",
      "aten::_scaled_dot_product_flash_attention_for_cpu",
      "aten::_slow_conv2d_forward",
      "aten::addmm",
      "aten::baddbmm",
      "aten::bmm",
      "aten::cos",
      "aten::exp",
      "aten::gelu",
      "aten::index_add",
      "aten::mkldnn_convolution",
      "aten::mm",
      "aten::native_batch_norm",
      "aten::sigmoid",
      "aten::sin",
      "aten::tanh",
  };
  return operators.contains(name_of(call));
}

// A tensor laid out and aligned as `like`. Positive numbers from 1/8 to 8, so that sums in another
// order are rounded to other bits; zeros for integers.
at::Tensor made_up(const at::Tensor& like, std::mt19937& random) {
  constexpr int64_t kAlignment = 64;
  if (!like.defined()) return like;
  const int64_t offset = like.storage_offset() % kAlignment;
  int64_t num_elements = offset + 1;
  for (int64_t d = 0; d < like.dim(); ++d) {
    num_elements += like.stride(d) * std::max<int64_t>(0, like.size(d) - 1);
  }
  at::Tensor values = at::zeros({num_elements}, like.options());
  if (like.is_floating_point()) {
    std::uniform_real_distribution<float> exponent(-3, 3);
    at::Tensor numbers = at::empty({num_elements}, at::kFloat);
    auto* data = numbers.mutable_data_ptr<float>();
    for (int64_t i = 0; i < num_elements; ++i) data[i] = std::exp2(exponent(random));
    values.copy_(numbers);
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

// Sums of few elements may be equal in any order, so small results are tried several times.
bool gives_same_bits(const KernelCall& call) {
  constexpr int64_t kComparedElements = 128;
  if (call.outputs[0].numel() == 0) return false;
  const int64_t trials = 1 + kComparedElements / call.outputs[0].numel();
  for (unsigned seed = 0; seed < trials; ++seed) {
    const std::vector<at::Tensor> expected = results_of(call, seed);
    const OneThread one_thread;
    if (!std::ranges::equal(expected, results_of(call, seed), same_bits)) return false;
  }
  return true;
}

}  // namespace

bool fits_one_thread(const KernelCall& call) {
  if (at::get_num_threads() == 1 || call.outputs.empty() || !is_small(call)) return false;
  return computes_row_by_row(call) || (may_be_tried(call) && gives_same_bits(call));
}

}  // namespace torch_ir
