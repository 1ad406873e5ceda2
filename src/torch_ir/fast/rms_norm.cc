#include <algorithm>
#include <cmath>
#include <cstdint>

#include "torch_ir/fast/rules.h"
#include "torch_ir/fast/vectors.h"
#include "torch_ir/runtime/kernels/clones.h"
#include "torch_ir/runtime/threads/threads.h"

namespace torch_ir {

struct RmsNormRows {
  int64_t num_rows;
  int64_t size;
  float eps;
  const float* input;
  const float* weight;
  float* output;
};

TORCH_IR_CLONES("arch=x86-64-v4", "arch=x86-64-v3", "default")
void run_rms_norm(const RmsNormRows& rows) {
  const int64_t whole = rows.size / kLanes * kLanes;
  for (int64_t row = 0; row < rows.num_rows; ++row) {
    const float* const x = rows.input + row * rows.size;
    float* const y = rows.output + row * rows.size;
    Floats sums{};
    for (int64_t i = 0; i < whole; i += kLanes) sums += lanes(x + i) * lanes(x + i);
    float sum = 0;
    for (int64_t i = 0; i < kLanes; ++i) sum += sums[i];
    for (int64_t i = whole; i < rows.size; ++i) sum += x[i] * x[i];
    const float scale = 1 / std::sqrt(sum / static_cast<float>(rows.size) + rows.eps);
    for (int64_t i = 0; i < whole; i += kLanes) {
      lanes(y + i) = lanes(x + i) * scale * lanes(rows.weight + i);
    }
    for (int64_t i = whole; i < rows.size; ++i) y[i] = x[i] * scale * rows.weight[i];
  }
}

FusedCall rms_norm(double eps) {
  return own_call(
      "torch_ir::rms_norm", [eps](const CallTensors& inputs, const CallTensors& outputs) {
        const int64_t size = inputs[1].numel();
        const RmsNormRows all{outputs[0].numel() / size, size,
                              static_cast<float>(eps),   floats_of(inputs[0]),
                              floats_of(inputs[1]),      outputs[0].mutable_data_ptr<float>()};
        const int64_t grain = std::max<int64_t>(kElementsPerThread / size, 1);
        parallel_for(all.num_rows, grain, [&](int64_t first, int64_t last) {
          RmsNormRows part = all;
          part.num_rows = last - first;
          part.input += first * size;
          part.output += first * size;
          run_rms_norm(part);
        });
      });
}

}  // namespace torch_ir
