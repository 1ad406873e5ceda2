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

// output = activation(clip(sum of sources, low, high))
struct Rescaling {
  // One or two.
  std::vector<Steps> sources;
  Steps output;
  float low = -kInfinity;
  float high = kInfinity;
  std::optional<onednn::PostOp> activation = {};

  bool clips() const { return low > -kInfinity || high < kInfinity; }
};

onednn::PrimitivePtr make_rescale(const Rescaling& rescaling, std::vector<onednn::Layout> sources,
                                  const onednn::Layout& output);

// What takes the place of a call.
struct QuantizedCall {
  // For a product, its source, and what is added to it.
  std::vector<TensorId> sources;
  TensorId output;
  Rescaling rescaling;
  // Null for a rescaling.
  onednn::PrimitivePtr primitive = nullptr;
  std::function<TensorId(TraceRewriter& rewriter, const onednn::Layout& wanted)> weight = nullptr;
  at::Tensor bias = {};
};
// By index in the trace.
using QuantizedCalls = std::unordered_map<size_t, QuantizedCall>;

// Finds what dequantizes integers of 8 bits, computes and quantizes again, and drops the calls
// that nothing reads then. Runs after functionalize.
QuantizedCalls find_quantized(Trace& trace);
void emit_quantized(TraceRewriter& rewriter, const QuantizedCall& call, size_t index);

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
