#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "torch_ir/exporter/meta/meta_cases.h"

namespace torch_ir {
namespace {

using at::Tensor;

// Every function of one tensor, on tensors of many kinds.
std::vector<std::pair<std::string, Tensor>> kinds() {
  return {{"Floats", floats({2, 3, 4})},
          {"Scalar", floats({})},
          {"Empty", floats({2, 0, 3})},
          {"Transposed", floats({4, 3}).t()},
          {"Strided", floats({6, 8}).slice(0, 0, 6, 2).slice(1, 1, 8, 3)},
          {"Expanded", floats({3, 1}).expand({3, 4})},
          {"ChannelsLast", channels_last({2, 3, 4, 5})},
          {"Doubles", floats({3}).to(at::kDouble)},
          {"Halves", floats({3}).to(at::kBFloat16)}};
}

MetaCases unary() {
  const std::vector<std::pair<std::string, std::function<Tensor(const Tensor&)>>> functions = {
      {"Relu", [](const Tensor& x) { return at::relu(x); }},
      {"Relu6", [](const Tensor& x) { return at::relu6(x); }},
      {"Hardtanh", [](const Tensor& x) { return at::hardtanh(x); }},
      {"Hardswish", [](const Tensor& x) { return at::hardswish(x); }},
      {"Hardsigmoid", [](const Tensor& x) { return at::hardsigmoid(x); }},
      {"Silu", [](const Tensor& x) { return at::silu(x); }},
      {"Mish", [](const Tensor& x) { return at::mish(x); }},
      {"Gelu", [](const Tensor& x) { return at::gelu(x); }},
      {"LogSigmoid", [](const Tensor& x) { return at::log_sigmoid(x); }},
      {"Softplus", [](const Tensor& x) { return at::softplus(x); }},
      {"Celu", [](const Tensor& x) { return at::celu(x); }},
      {"Prelu", [](const Tensor& x) { return at::prelu(x, at::ones({1}, x.options())); }},
      {"Isnan", [](const Tensor& x) { return at::isnan(x); }},
      {"Isinf", [](const Tensor& x) { return at::isinf(x); }},
      {"Logit", [](const Tensor& x) { return at::logit(x, 0.1); }},
      {"Angle", [](const Tensor& x) { return at::angle(x); }},
      {"Abs", [](const Tensor& x) { return at::abs(x); }},
      {"LogicalNot", [](const Tensor& x) { return at::logical_not(x); }},
      {"NanToNum", [](const Tensor& x) { return at::nan_to_num(x); }},
      {"OneMinus", [](const Tensor& x) { return at::rsub(x, 1); }},
      {"FloorDivide", [](const Tensor& x) { return at::floor_divide(x, 2); }},
      {"Remainder", [](const Tensor& x) { return at::remainder(x, 2); }},
      {"RemainderOf", [](const Tensor& x) { return at::remainder(at::Scalar(2), x); }},
      {"Pow", [](const Tensor& x) { return at::pow(x, 2); }},
      {"Softmax", [](const Tensor& x) { return at::softmax(x, -1); }},
      {"Dropout", [](const Tensor& x) { return at::dropout(x, 0.5, false); }},
      {"Poisson", [](const Tensor& x) { return at::poisson(x); }},
      {"Bernoulli", [](const Tensor& x) { return at::bernoulli(x); }},
      {"Contiguous", [](const Tensor& x) { return x.contiguous(); }},
      {"Clone", [](const Tensor& x) { return x.clone(); }},
      {"ReluInPlace", [](const Tensor& x) { return x.clone().relu_(); }},
      {"HardswishInPlace",
       [](const Tensor& x) {
         Tensor y = x.clone();
         return at::hardswish_(y);
       }},
  };
  MetaCases cases;
  for (const auto& [name, function] : functions) {
    for (const auto& [kind, tensor] : kinds()) {
      cases.push_back(
          {name + kind, [f = function](const Tensors& x) { return Tensors{f(x[0])}; }, {tensor}});
    }
  }
  return cases;
}
INSTANTIATE_META_CASES(Unary, unary);

MetaCases binary() {
  const std::vector<std::pair<std::string, std::function<Tensor(const Tensor&, const Tensor&)>>>
      functions = {
          {"Rsub", [](const Tensor& x, const Tensor& y) { return at::rsub(x, y); }},
          {"FloorDivide", [](const Tensor& x, const Tensor& y) { return at::floor_divide(x, y); }},
          {"Remainder", [](const Tensor& x, const Tensor& y) { return at::remainder(x, y); }},
          {"Where", [](const Tensor& x, const Tensor& y) { return at::where(x > y, x, y); }},
          {"LogicalAnd", [](const Tensor& x, const Tensor& y) { return at::logical_and(x, y); }},
      };
  const std::vector<std::tuple<std::string, Tensor, Tensor>> pairs = {
      {"Same", floats({2, 3}), floats({2, 3})},
      {"Row", floats({2, 3}), floats({3})},
      {"Column", floats({2, 1}), floats({1, 3})},
      {"Scalar", floats({2, 3}), floats({})},
      {"Empty", floats({2, 0}), floats({1})},
      {"Promotion", floats({2, 3}), at::ones({3}, at::kLong)},
      {"ScalarPromotion", floats({2, 3}), at::ones({}, at::kDouble)},
      {"Integers", at::ones({2, 3}, at::kInt), at::ones({3}, at::kLong)},
      {"ChannelsLast", channels_last({2, 3, 4, 5}), floats({3, 1, 1})},
      {"Layouts", channels_last({2, 3, 4, 5}), floats({2, 3, 4, 5})},
      {"Transposed", floats({2, 3}).t(), floats({2, 3}).t()},
  };
  MetaCases cases;
  for (const auto& [name, function] : functions) {
    for (const auto& [kind, left, right] : pairs) {
      cases.push_back({name + kind,
                       [f = function](const Tensors& x) { return Tensors{f(x[0], x[1])}; },
                       {left, right}});
    }
  }
  return cases;
}
INSTANTIATE_META_CASES(Binary, binary);

MetaCases losses() {
  const Tensor scores = floats({3, 4});
  return {
      META_CASE("BinaryCrossEntropy", at::binary_cross_entropy(a, a), {scores}),
      META_CASE("BinaryCrossEntropyNone", at::binary_cross_entropy(a, a, b, 0),
                {scores, floats({4})}),
      META_CASE("BinaryCrossEntropyLogits", at::binary_cross_entropy_with_logits(a, a), {scores}),
      META_CASE("Huber", at::huber_loss(a, a), {scores}),
      META_CASE("HuberNone", at::huber_loss(a, b, 0), {scores, floats({4})}),
      META_CASE("SmoothL1", at::smooth_l1_loss(a, a), {scores}),
      META_CASE("Mse", at::mse_loss(a, a), {scores}),
      META_CASE("CrossEntropy", at::cross_entropy_loss(a, b), {scores, indices({3})}),
      META_CASE("CrossEntropy2d", at::cross_entropy_loss(a, b),
                {floats({2, 3, 4, 4}), indices({2, 4, 4})}),
      META_CASE("Nll2d", at::nll_loss2d_forward(a, b, {}, 1, -100),
                {floats({2, 3, 4, 4}), indices({2, 4, 4})}),
      META_CASE("Nll2dNone", at::nll_loss2d_forward(a, b, {}, 0, -100),
                {floats({2, 3, 4, 4}), indices({2, 4, 4})}),
      META_CASE("MultiMargin", at::multi_margin_loss(a, b), {scores, indices({3})}),
      META_CASE("MultilabelMargin", at::multilabel_margin_loss(a, b), {scores, indices({3, 4})}),
      META_CASE("KlDiv", at::kl_div(a, a), {scores}),
      META_CASE("CosineEmbedding", at::cosine_embedding_loss(a, a, b), {scores, floats({3})}),
      META_CASE("CtcLoss", at::ctc_loss(a, b, at::IntArrayRef{5, 5}, at::IntArrayRef{3, 3}),
                {floats({5, 2, 4}).log_softmax(-1), at::ones({2, 3}, at::kLong)}),
      META_CASE("TripletMargin", at::triplet_margin_loss(a, a, a), {scores}),
  };
}
INSTANTIATE_META_CASES(Loss, losses);

}  // namespace
}  // namespace torch_ir
