#include <cmath>
#include <cstdint>

#include "torch_ir/fast/rules.h"
#include "torch_ir/fast/vectors.h"
#include "torch_ir/runtime/kernels/clones.h"
#include "torch_ir/runtime/threads/threads.h"

namespace torch_ir {

TORCH_IR_CLONES("arch=x86-64-v4", "arch=x86-64-v3", "default")
void normalize_row(const float* x, const float* weight, int64_t size, float eps, float* y) {
  const int64_t whole = size / kLanes * kLanes;
  Floats sums{};
  for (int64_t i = 0; i < whole; i += kLanes) sums += lanes(x + i) * lanes(x + i);
  float sum = 0;
  for (int64_t i = 0; i < kLanes; ++i) sum += sums[i];
  for (int64_t i = whole; i < size; ++i) sum += x[i] * x[i];
  const float scale = 1 / std::sqrt(sum / static_cast<float>(size) + eps);
  for (int64_t i = 0; i < whole; i += kLanes) {
    lanes(y + i) = lanes(x + i) * scale * lanes(weight + i);
  }
  for (int64_t i = whole; i < size; ++i) y[i] = x[i] * scale * weight[i];
}

FusedCall rms_norm(double eps) {
  const auto run = [eps](const CallTensors& inputs, const CallTensors& outputs) {
    const int64_t size = inputs[1].numel();
    auto* const output = outputs[0].mutable_data_ptr<float>();
    parallel_for(outputs[0].numel() / size, grain_of(size), [&](int64_t first, int64_t end) {
      for (int64_t i = first * size; i < end * size; i += size) {
        normalize_row(floats_of(inputs[0]) + i, floats_of(inputs[1]), size, static_cast<float>(eps),
                      output + i);
      }
    });
  };
  return own_call("torch_ir::rms_norm", run);
}

}  // namespace torch_ir
