#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "torch_ir/exporter/meta/meta_cases.h"

namespace torch_ir {
namespace {

using at::Tensor;

MetaCases reductions() {
  const Tensor image = floats({2, 3, 4, 5});
  const Tensor nhwc = channels_last({2, 3, 4, 5});
  const Tensor integers = image.to(at::kLong);
  const Tensor scalar = floats({});
  return {
      META_CASE("Max", at::max(a), {image}),
      META_CASE("MaxInt", at::max(a), {integers}),
      META_CASE("MaxDim", at::max(a, 1), {nhwc}),
      META_CASE("Min", at::min(a), {image}),
      META_CASE("MinDim", at::min(a, 1, true), {image}),
      META_CASE("Amax", at::amax(a, {1, 2}), {nhwc}),
      META_CASE("Aminmax", at::aminmax(a, 1), {image}),
      META_CASE("LegacyAminmax", at::_aminmax(a), {image}),
      META_CASE("LegacyAminmaxDim", at::_aminmax(a, 1, true), {image}),
      META_CASE("Argmax", at::argmax(a, 1), {image}),
      META_CASE("Prod", at::prod(a), {image}),
      META_CASE("ProdInt", at::prod(a), {integers}),
      META_CASE("ProdDtype", at::prod(a, at::kDouble), {image}),
      META_CASE("ProdDim", at::prod(a, 1), {image}),
      META_CASE("Sum", at::sum(a, {1}), {nhwc}),
      META_CASE("Nansum", at::nansum(a), {image}),
      META_CASE("NansumDims", at::nansum(a, {1, -1}, true), {nhwc}),
      META_CASE("NansumInt", at::nansum(a, {1}), {integers}),
      META_CASE("Std", at::std(a), {image}),
      META_CASE("StdDims", at::std(a, {0, 2}, 1, true), {image}),
      META_CASE("StdChannelsLast", at::std(a, {1}, 1, true), {nhwc}),
      META_CASE("StdScalar", at::std(a), {scalar}),
      META_CASE("StdComplex", at::std(a, {1}), {at::complex(image, image)}),
      META_CASE("Var", at::var(a), {image}),
      META_CASE("VarChannelsLast", at::var(a, {1}), {nhwc}),
      META_CASE("StdMean", at::std_mean(a, {1, 2}), {image}),
      META_CASE("VarMean", at::var_mean(a, {1, 2}, 0, true), {nhwc}),
      META_CASE("VarMeanHalf", at::var_mean(a, {1}), {image.to(at::kBFloat16)}),
      META_CASE("Median", at::median(a), {image}),
      META_CASE("MedianDim", at::median(a, 1), {nhwc}),
      META_CASE("MedianDimKeep", at::median(a, 1, true), {image}),
      META_CASE("Nanmedian", at::nanmedian(a), {image}),
      META_CASE("NanmedianDim", at::nanmedian(a, -1), {image}),
      META_CASE("Mode", at::mode(a, 1), {image}),
      META_CASE("ModeScalar", at::mode(a), {scalar}),
      META_CASE("Kthvalue", at::kthvalue(a, 2, 1, true), {image}),
      META_CASE("CountNonzero", at::count_nonzero(a), {image}),
      META_CASE("CountNonzeroDims", at::count_nonzero(a, {0, 3}), {image}),
      META_CASE("Trace", at::trace(a), {floats({3, 4})}),
      META_CASE("TraceInt", at::trace(a), {at::ones({3, 4}, at::kInt)}),
      META_CASE("Dot", at::dot(a, b), {floats({4}), floats({4})}),
      META_CASE("Vdot", at::vdot(a, b), {floats({4}), floats({4})}),
      META_CASE("Logsumexp", at::logsumexp(a, {1}), {image}),
      META_CASE("Norm", at::norm(a, 2, {1}), {image}),
      META_CASE("VectorNorm", at::linalg_vector_norm(a), {image}),
      META_CASE("Cumsum", at::cumsum(a, 1), {nhwc}),
      META_CASE("Cumprod", at::cumprod(a, 1), {integers}),
      META_CASE("Cummax", at::cummax(a, 1), {nhwc}),
      META_CASE("Logcumsumexp", at::logcumsumexp(a, 1), {image}),
      META_CASE("Quantile", at::quantile(a, 0.5), {image}),
      META_CASE("Histc", at::histc(a, 7), {image}),
      META_CASE("AllAny", at::all(a), {integers}),
  };
}
INSTANTIATE_META_CASES(Reduction, reductions);

}  // namespace
}  // namespace torch_ir
