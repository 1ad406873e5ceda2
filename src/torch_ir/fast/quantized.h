// What the fusion of quantised models and its kernels share.
#pragma once

#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "torch_ir/fast/rules.h"

namespace torch_ir {

// How numbers of a tensor are stored: as scale * (q - zero_point) for integers q from `low` to
// `high`, or as floats.
struct Steps {
  at::ScalarType dtype = at::kFloat;
  float scale = 1;
  // As eager rounds it; not always 1 / scale.
  float inverse_scale = 1;
  float zero_point = 0;
  float low = 0;
  float high = 0;

  bool is_float() const { return dtype == at::kFloat; }
  bool operator==(const Steps&) const = default;
};

struct Clip {
  float low = -kInfinity;
  float high = kInfinity;
};

// output = activation(clip(sum of sources))
struct Rescaling {
  // One or two.
  std::vector<Steps> sources;
  Steps output;
  Clip clip = {};
  std::optional<PostOp> activation = {};
};

PrimitivePtr make_rescale(const Rescaling& rescaling, std::vector<Layout> sources,
                          const Layout& output);

// Quantizes rows by numbers of the run. Inputs: floats; the inverse of the scale and the zero
// point, each one number or one for each row. Only the bounds and the dtype of `to` matter.
FusedCall quantize_rows(const Steps& to);

// output = activation(clip((sums - zero_point * weight_sums) * scale * scales + bias)). Inputs:
// sums [rows, columns] of int32; scale and zero point, each one number or one for each row;
// weight_sums (int32), scales and bias, each for each column.
FusedCall scale_rows(const Clip& clip, const std::optional<PostOp>& activation);

// What takes the place of a call.
struct QuantizedCall {
  // What it reads.
  std::vector<TensorId> sources;
  std::function<void(TraceRewriter& rewriter, size_t index)> emit = nullptr;
};
// By index in the trace.
using QuantizedCalls = std::unordered_map<size_t, QuantizedCall>;

bool is_byte(at::ScalarType dtype);

// Finds what dequantizes integers of 8 bits, computes and quantizes again, and drops the calls
// that nothing reads then. Runs after functionalize.
QuantizedCalls find_quantized(Trace& trace);

// Weights as integers, from what dequantize made of them: the float `weight` is
// values * scales[output], within a unit in the last place. Nothing if there are no such integers.
struct IntegerWeight {
  // Contiguous int8, of the same sizes.
  at::Tensor values;
  std::vector<double> scales;
  // The sums of the integers of each output.
  std::vector<int64_t> sums;
};
std::optional<IntegerWeight> integer_weight(const at::Tensor& weight);

}  // namespace torch_ir
