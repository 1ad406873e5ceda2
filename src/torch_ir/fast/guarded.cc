// A primitive that ends the run before it reads values that it would get wrong. Clips of oneDNN
// make a number of NaN, and Winograd's algorithm subtracts infinities.
#include <ATen/ops/linalg_vector_norm.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <utility>

#include "torch_ir/fast/rules.h"
#include "torch_ir/fast/vectors.h"
#include "torch_ir/runtime/kernels/clones.h"
#include "torch_ir/runtime/threads/threads.h"

namespace torch_ir {

// Within these limits no sum of products overflows, also of weights scaled by a batch norm.
constexpr float kMaxValue = 0x1p50F;
constexpr float kMaxParameter = 0x1p24F;

// As integers, the magnitudes of floats have the same order, and NaN exceeds all.
TORCH_IR_CLONES("arch=x86-64-v4", "arch=x86-64-v3", "default")
bool are_moderate(const float* data, int64_t count) {
  constexpr auto kMost = std::bit_cast<int32_t>(kMaxValue);
  Integers room{};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    room |= kMost - (reinterpret_cast<const Integers&>(lanes(data + i)) & 0x7fffffff);
  }
  int32_t least = 0;
  for (int64_t lane = 0; lane < kLanes; ++lane) least |= room[lane];
  for (; i < count; ++i) least |= kMost - (std::bit_cast<int32_t>(data[i]) & 0x7fffffff);
  return least >= 0;
}

// The same for bfloat16, the upper halves of floats.
TORCH_IR_CLONES("arch=x86-64-v4", "arch=x86-64-v3", "default")
bool are_moderate(const int16_t* data, int64_t count) {
  constexpr auto kMost = static_cast<int16_t>(std::bit_cast<int32_t>(kMaxValue) >> 16);
  int32_t least = 0;
  for (int64_t i = 0; i < count; ++i) least |= kMost - (data[i] & 0x7fff);
  return least >= 0;
}

namespace {

struct CheckedMemory {
  size_t argument;
  int64_t count;
  bool is_bfloat16;
};

void check(const std::vector<CheckedMemory>& checked, const std::vector<void*>& memory) {
  constexpr int64_t kGrain = 1 << 16;
  for (const CheckedMemory& part : checked) {
    std::atomic<bool> is_moderate = true;
    parallel_for(part.count, kGrain, [&](int64_t first, int64_t end) {
      const void* data = memory[part.argument];
      const bool is_part =
          part.is_bfloat16 ? are_moderate(static_cast<const int16_t*>(data) + first, end - first)
                           : are_moderate(static_cast<const float*>(data) + first, end - first);
      if (!is_part) is_moderate = false;
    });
    if (!is_moderate) throw NeedsExact();
  }
}

// Of numbers from the first to the last element, with the gaps between them.
int64_t span_of(const Layout& layout) {
  const auto strides = layout.strides();
  if (!strides) return static_cast<int64_t>(layout.bytes() / sizeof(float));
  int64_t last = 0;
  for (size_t d = 0; d < strides->size(); ++d) last += (layout.sizes()[d] - 1) * (*strides)[d];
  return last + 1;
}

bool is_moderate(const at::Tensor& parameter) {
  return !parameter.defined() ||
         at::linalg_vector_norm(parameter, kInfinity).item<double>() <= kMaxParameter;
}

}  // namespace

PrimitivePtr guarded(const PrimitivePtr& primitive, const Chain& chain, const Guard& guard) {
  const auto has = [&](PostOp::Kind kind) {
    return std::ranges::count(chain.post_ops, kind, &PostOp::kind) > 0;
  };
  const bool is_guarded = guard.is_winograd || chain.norm || has(PostOp::Kind::kFunction);
  if (primitive == nullptr || !is_guarded) return primitive;
  std::vector<at::Tensor> parameters = guard.parameters;
  if (chain.norm) parameters.insert(parameters.end(), {chain.norm->scale, chain.norm->shift});
  if (!std::ranges::all_of(parameters, is_moderate)) return nullptr;
  std::vector<CheckedMemory> checked;
  const auto add = [&](size_t argument, const Layout& layout) {
    checked.push_back({argument, span_of(layout), layout.type() == Type::kBfloat16});
  };
  for (size_t i = 0; i < guard.num_sources; ++i) add(i, primitive->inputs[i]);
  if (has(PostOp::Kind::kSum)) add(primitive->inputs.size(), primitive->output);
  onednn::Primitive guarded = *primitive;
  guarded.bind = [bind = primitive->bind, checked] {
    return [run = bind(), checked](const std::vector<void*>& memory) {
      check(checked, memory);
      run(memory);
    };
  };
  return std::make_shared<const onednn::Primitive>(std::move(guarded));
}

}  // namespace torch_ir
