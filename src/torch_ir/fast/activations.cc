#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <stdexcept>

#include "torch_ir/fast/rules.h"
#include "torch_ir/fast/vectors.h"
#include "torch_ir/runtime/threads/threads.h"

namespace torch_ir {

// x = 1 / x for positive x below 2^126, within a few units in the last place, by Newton's method:
// because divisions take longer. The first guess negates the exponent.
template <class Vectors>
TORCH_IR_PART void take_reciprocal(typename Vectors::Vector& x) {
  using Vector = typename Vectors::Vector;
  using Order = typename Vectors::Order;
  const Order guess = 0x7ef311c7 - reinterpret_cast<const Order&>(x);
  Vector y = reinterpret_cast<const Vector&>(guess);
  y = y * (2.0F - x * y);
  y = y * (2.0F - x * y);
  x = y * (2.0F - x * y);
}

// x sigmoid(y)
template <class Vectors>
TORCH_IR_PART void scale_by_sigmoid(typename Vectors::Vector& x, typename Vectors::Vector& y) {
  using Vector = typename Vectors::Vector;
  const Vector opposite = -y;
  y = opposite;
  exponentiate<Vectors>(y);
  y += 1.0F;
  take_reciprocal<Vectors>(y);
  // Above 87 the exponential is clipped.
  y = opposite > 87.0F ? Vector{} : y;
  x *= y;
}

// x sigmoid(x)
template <class Vectors>
TORCH_IR_PART void apply_swish(typename Vectors::Vector& x, const PostOp& /*activation*/) {
  typename Vectors::Vector y = x;
  scale_by_sigmoid<Vectors>(x, y);
}

// x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2
template <class Vectors>
TORCH_IR_PART void apply_gelu_tanh(typename Vectors::Vector& x, const PostOp& /*activation*/) {
  typename Vectors::Vector y = x * (1.59576912F + 0.07135482F * x * x);
  scale_by_sigmoid<Vectors>(x, y);
}

// x p for the probability p that a standard normal variable is below x. Up to 5, p is 1 / 2 + x
// q(t) with t = 2 (x / 5)^2 - 1 and a polynomial q, fitted so that the greatest error of the result
// is least: 4e-7. With rounding, and beyond 5, it is at most 1.5e-6.
template <class Vectors>
TORCH_IR_PART void apply_gelu_erf(typename Vectors::Vector& x, const PostOp& /*activation*/) {
  using Vector = typename Vectors::Vector;
  constexpr float kCoefficients[] = {-0.00151415437F, 0.00200185925F, -0.00291567179F,
                                     0.00616543135F,  -0.0109732328F, 0.0164976567F,
                                     -0.0233367309F,  0.0314262286F,  -0.0404329486F,
                                     0.0515214205F,   -0.0702966526F, 0.141363785F};
  const Vector t = x * x * 0.08F - 1.0F;
  Vector q = Vector{} + 0.000492969935F;
  for (const float coefficient : kCoefficients) q = q * t + coefficient;
  Vector p = x * q + 0.5F;
  p = x > 5.0F ? Vector{} + 1.0F : p;
  p = x < -5.0F ? Vector{} : p;
  x *= p;
}

// x clip(x / 6 + 1 / 2, 0, 1)
template <class Vectors>
TORCH_IR_PART void apply_hardswish(typename Vectors::Vector& x, const PostOp& /*activation*/) {
  using Vector = typename Vectors::Vector;
  Vector factor = x * (1 / 6.0F) + 0.5F;
  factor = factor < 0.0F ? Vector{} : factor;
  factor = factor > 1.0F ? Vector{} + 1.0F : factor;
  x *= factor;
}

template <class Vectors>
TORCH_IR_PART void apply_leaky_relu(typename Vectors::Vector& x, const PostOp& activation) {
  x = x < 0.0F ? x * activation.alpha : x;
}

template <class Vectors>
TORCH_IR_PART void apply_linear(typename Vectors::Vector& x, const PostOp& activation) {
  x = x * activation.alpha + activation.beta;
}

template <class Vectors, void (*kApply)(typename Vectors::Vector&, const PostOp&)>
TORCH_IR_PART void apply_to_all(const PostOp& activation, float* data, int64_t count) {
  using Vector = typename Vectors::Vector;
  constexpr int64_t kSize = sizeof(Vector) / sizeof(float);
  int64_t i = 0;
  for (; i + kSize <= count; i += kSize) kApply(*reinterpret_cast<Vector*>(data + i), activation);
  if (i == count) return;
  Vector last{};
  const size_t bytes = static_cast<size_t>(count - i) * sizeof(float);
  std::memcpy(&last, data + i, bytes);
  kApply(last, activation);
  std::memcpy(data + i, &last, bytes);
}

template <class Vectors>
TORCH_IR_PART void activate_with(const PostOp& activation, float* data, int64_t count) {
  switch (activation.function) {
    case Function::kGeluErf:
      return apply_to_all<Vectors, &apply_gelu_erf<Vectors>>(activation, data, count);
    case Function::kGeluTanh:
      return apply_to_all<Vectors, &apply_gelu_tanh<Vectors>>(activation, data, count);
    case Function::kHardswish:
      return apply_to_all<Vectors, &apply_hardswish<Vectors>>(activation, data, count);
    case Function::kLinear:
      return apply_to_all<Vectors, &apply_linear<Vectors>>(activation, data, count);
    case Function::kRelu:
      return apply_to_all<Vectors, &apply_leaky_relu<Vectors>>(activation, data, count);
    case Function::kSwish:
      return apply_to_all<Vectors, &apply_swish<Vectors>>(activation, data, count);
    case Function::kClip:
    case Function::kLogistic:
    case Function::kTanh:
      throw std::logic_error("a function without a kernel");
  }
}

TORCH_IR_EACH_WIDTH(void activate(const PostOp& activation, float* data, int64_t count),
                    activate_with<Vectors>(activation, data, count))

void apply(const PostOp& activation, float* data, int64_t count) {
  activate(activation, data, count);
}

std::optional<PostOp> take_activation(PostOps& post_ops, bool is_winograd) {
  if (post_ops.empty() || post_ops.back().kind != PostOp::Kind::kFunction) return std::nullopt;
  const PostOp last = post_ops.back();
  const Function own[] = {Function::kGeluErf, Function::kGeluTanh, Function::kHardswish,
                          Function::kSwish};
  const bool is_unknown =
      last.function == Function::kLinear || (last.function == Function::kRelu && last.alpha != 0);
  if (!(is_winograd && is_unknown) && std::ranges::find(own, last.function) == std::end(own)) {
    return std::nullopt;
  }
  post_ops.pop_back();
  return last;
}

void emit_activation(TraceRewriter& rewriter, const PostOp& activation, TensorId value,
                     size_t index) {
  const Layout layout = rewriter.layout_of(value);
  // Elements that fill up the last block of channels may become `beta`, which readers skip or
  // multiply by the zeros that fill up their weights.
  const auto count = static_cast<int64_t>(layout.bytes() / sizeof(float));
  const auto run = [activation, count](const std::vector<void*>& memory) {
    constexpr int64_t kGrain = 1 << 14;
    parallel_for(count, kGrain, [&](int64_t first, int64_t end) {
      activate(activation, static_cast<float*>(memory[0]) + first, end - first);
    });
  };
  rewriter.emit(onednn::make_own("torch_ir::activation", {}, layout, run), {}, value, index,
                rewriter.use(value, layout));
}

}  // namespace torch_ir
