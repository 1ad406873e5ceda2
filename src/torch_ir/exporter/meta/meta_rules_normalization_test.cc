#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "torch_ir/exporter/meta/meta_cases.h"

namespace torch_ir {
namespace {

using at::Tensor;

MetaCases normalizations() {
  const Tensor image = floats({2, 6, 4, 5});
  const Tensor six = floats({6});
  return {
      META_CASE("BatchNormEval", at::batch_norm(a, b, b, b, b, false, 0.1, 1e-5, true),
                {image, six}),
      META_CASE("BatchNormTrain", at::batch_norm(a, b, b, c, d, true, 0.1, 1e-5, true),
                {image, six, six.clone(), six.clone()}),
      META_CASE("BatchNormNoStatistics", at::batch_norm(a, {}, {}, {}, {}, true, 0.1, 1e-5, true),
                {image}),
      META_CASE("BatchNormChannelsLast", at::batch_norm(a, b, b, b, b, false, 0.1, 1e-5, true),
                {channels_last({2, 6, 4, 5}), six}),
      META_CASE("BatchNorm1d", at::batch_norm(a, b, b, b, b, false, 0.1, 1e-5, true),
                {floats({3, 6}), six}),
      META_CASE("BatchNorm3d", at::batch_norm(a, b, b, b, b, false, 0.1, 1e-5, true),
                {channels_last({2, 6, 3, 4, 5}), six}),
      META_CASE("BatchNormTransposed", at::batch_norm(a, b, b, b, b, false, 0.1, 1e-5, true),
                {floats({2, 5, 6}).transpose(1, 2), six}),
      META_CASE("BatchNormOneImage", at::batch_norm(a, b, b, b, b, false, 0.1, 1e-5, true),
                {floats({1, 6, 1, 1}), six}),
      META_CASE("BatchNormMixed", at::native_batch_norm(a, b, b, b, b, false, 0.1, 1e-5),
                {image.to(at::kBFloat16), six}),
      META_CASE("BatchNormMixedTrain", at::native_batch_norm(a, b, b, b, b, true, 0.1, 1e-5),
                {image.to(at::kBFloat16), six}),
      META_CASE("NativeBatchNormEval", at::native_batch_norm(a, b, b, b, b, false, 0.1, 1e-5),
                {image, six}),
      META_CASE("NativeBatchNormTrain", at::native_batch_norm(a, b, b, b, b, true, 0.1, 1e-5),
                {image, six}),
      META_CASE("BatchNormNoTraining",
                at::_native_batch_norm_legit_no_training(a, b, b, b, b, 0.1, 1e-5), {image, six}),
      META_CASE("BatchNormFunctional",
                at::_native_batch_norm_legit_functional(a, b, b, b, b, true, 0.1, 1e-5),
                {image, six}),
      META_CASE("BatchNormWithUpdate",
                at::_batch_norm_with_update_functional(a, b, b, b, b, 0.1, 1e-5), {image, six}),
      META_CASE("InstanceNorm", at::instance_norm(a, b, b, {}, {}, true, 0.1, 1e-5, true),
                {image, six}),
      META_CASE("InstanceNormStatistics", at::instance_norm(a, b, b, b, b, false, 0.1, 1e-5, true),
                {image, six}),
      META_CASE("LayerNorm", at::layer_norm(a, {5}, b, b), {image, floats({5})}),
      META_CASE("LayerNormTwoDimensions", at::layer_norm(a, {4, 5}), {image}),
      META_CASE("LayerNormTransposed", at::layer_norm(a, {6}), {floats({2, 6, 5}).transpose(1, 2)}),
      META_CASE("LayerNormMixed", at::layer_norm(a, {5}, b, b),
                {image.to(at::kBFloat16), floats({5})}),
      META_CASE("LayerNormEmpty", at::layer_norm(a, {5}), {floats({0, 5})}),
      META_CASE("NativeLayerNorm", at::native_layer_norm(a, {5}, b, b, 1e-5), {image, floats({5})}),
      META_CASE("NativeLayerNormMixed", at::native_layer_norm(a, {5}, b, b, 1e-5),
                {image.to(at::kBFloat16), floats({5})}),
      META_CASE("NativeLayerNormHalf", at::native_layer_norm(a, {5}, b, b, 1e-5),
                {image.to(at::kBFloat16), floats({5}).to(at::kBFloat16)}),
      META_CASE("GroupNorm", at::group_norm(a, 3, b, b), {image, six}),
      META_CASE("GroupNormChannelsLast", at::group_norm(a, 3, b, b),
                {channels_last({2, 6, 4, 5}), six}),
      META_CASE("GroupNormSequence", at::group_norm(a, 3, b, b), {floats({2, 6, 4}), six}),
      META_CASE("NativeGroupNorm", at::native_group_norm(a, b, b, 2, 6, 20, 3, 1e-5), {image, six}),
      META_CASE("NativeGroupNormMixed", at::native_group_norm(a, b, b, 2, 6, 20, 3, 1e-5),
                {image.to(at::kBFloat16), six}),
      META_CASE("RmsNorm", at::rms_norm(a, {5}, b), {image, floats({5})}),
      META_CASE("WeightNorm", at::_weight_norm(a, b, 0), {floats({4, 5}), floats({4, 1})}),
      META_CASE("LocalResponse", at::avg_pool3d(a.unsqueeze(1), {3, 1, 1}, 1, {1, 0, 0}), {image}),
  };
}
INSTANTIATE_META_CASES(Normalization, normalizations);

}  // namespace
}  // namespace torch_ir
