// The numbers that sums of products of dynamically quantised integers stand for.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "torch_ir/fast/quantized.h"
#include "torch_ir/fast/vectors.h"
#include "torch_ir/runtime/kernels/clones.h"
#include "torch_ir/runtime/threads/threads.h"

namespace torch_ir {

struct ScaledRow {
  int64_t columns;
  const int32_t* sums;
  int32_t zero_point;
  const int32_t* weight_sums;
  float scale;
  const float* scales;
  const float* bias;
  float low;
  float high;
  float* output;
};

TORCH_IR_CLONES("arch=x86-64-v4", "arch=x86-64-v3", "default")
void scale_row(const ScaledRow& row) {
  for (int64_t i = 0; i < row.columns; ++i) {
    const int32_t sum = row.sums[i] - row.zero_point * row.weight_sums[i];
    const float x = static_cast<float>(sum) * row.scale * row.scales[i] + row.bias[i];
    const float least = x < row.low ? row.low : x;
    row.output[i] = least > row.high ? row.high : least;
  }
}

FusedCall scale_rows(const RowScaling& scaling) {
  return own_call(
      "torch_ir::scale_rows", [scaling](const CallTensors& inputs, const CallTensors& outputs) {
        const int64_t columns = inputs[3].numel();
        const auto integers = [&](size_t i) {
          return static_cast<const int32_t*>(inputs[i].const_data_ptr());
        };
        auto* into = static_cast<float*>(outputs[0].mutable_data_ptr());
        const int64_t grain = std::max<int64_t>(kElementsPerThread / columns, 1);
        parallel_for(outputs[0].numel() / columns, grain, [&](int64_t first, int64_t end) {
          for (int64_t i = first; i < end; ++i) {
            float* to = into + i * columns;
            scale_row({columns, integers(0) + i * columns,
                       static_cast<int32_t>(number_at(inputs[2], i)), integers(3),
                       number_at(inputs[1], i), floats_of(inputs[4]), floats_of(inputs[5]),
                       scaling.clip.low, scaling.clip.high, to});
            if (scaling.activation) apply(*scaling.activation, to, columns);
          }
        });
      });
}

}  // namespace torch_ir
