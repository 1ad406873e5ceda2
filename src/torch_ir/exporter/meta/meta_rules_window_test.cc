#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "torch_ir/exporter/meta/meta_cases.h"

namespace torch_ir {
namespace {

using at::Tensor;

MetaCases windows() {
  const Tensor image = floats({2, 3, 8, 9});
  const Tensor nhwc = channels_last({2, 3, 8, 9});
  const Tensor volume = floats({2, 3, 6, 8, 9});
  const Tensor ndhwc = channels_last({2, 3, 6, 8, 9});
  return {
      META_CASE("MaxPool1d", at::max_pool1d(a, 2), {floats({2, 3, 9})}),
      META_CASE("MaxPool2d", at::max_pool2d(a, 3, 2, 1), {image}),
      META_CASE("MaxPool2dChannelsLast", at::max_pool2d(a, 3, 2, 1, 1, true), {nhwc}),
      META_CASE("MaxPool3d", at::max_pool3d(a, 2), {volume}),
      META_CASE("MaxPool3dNoBatch", at::max_pool3d(a, 2), {volume[0]}),
      META_CASE("MaxPool3dChannelsLast", at::max_pool3d(a, 3, 2, 1, 1, true), {ndhwc}),
      META_CASE("MaxPool3dIndices",
                at::max_pool3d_with_indices(a, {2, 3, 2}, {}, {1, 1, 0}, {1, 2, 1}), {volume}),
      META_CASE("AvgPool2d", at::avg_pool2d(a, 3, 2), {nhwc}),
      META_CASE("AdaptiveAvg1d", at::adaptive_avg_pool1d(a, 3), {floats({2, 3, 9})}),
      META_CASE("AdaptiveAvg2dOne", at::adaptive_avg_pool2d(a, {1, 1}), {image}),
      META_CASE("AdaptiveAvg2dOneChannelsLast", at::adaptive_avg_pool2d(a, {1, 1}), {nhwc}),
      META_CASE("AdaptiveAvg2d", at::adaptive_avg_pool2d(a, {3, 4}), {image}),
      META_CASE("AdaptiveAvg2dChannelsLast", at::adaptive_avg_pool2d(a, {3, 4}), {nhwc}),
      META_CASE("AdaptiveAvg2dNoBatch", at::adaptive_avg_pool2d(a, {3, 4}), {image[0]}),
      META_CASE("AdaptiveAvg3d", at::adaptive_avg_pool3d(a, {2, 3, 4}), {volume}),
      META_CASE("AdaptiveAvg3dOne", at::adaptive_avg_pool3d(a, {1, 1, 1}), {volume}),
      META_CASE("AdaptiveAvg3dChannelsLast", at::adaptive_avg_pool3d(a, {2, 3, 4}), {ndhwc}),
      META_CASE("AdaptiveMax2d", at::adaptive_max_pool2d(a, {3, 4}), {nhwc}),
      META_CASE("AdaptiveMax3d", at::adaptive_max_pool3d(a, {3, 4, 2}), {volume}),
      META_CASE("MaxUnpool2d", at::max_unpool2d(a, b, {8, 8}),
                {floats({2, 3, 4, 4}), indices({2, 3, 4, 4})}),
      META_CASE("MaxUnpool2dChannelsLast", at::max_unpool2d(a, b, {8, 8}),
                {channels_last({2, 3, 4, 4}), indices({2, 3, 4, 4})}),
      META_CASE("MaxUnpool3d", at::max_unpool3d(a, b, {8, 8, 8}, {2, 2, 2}, {0, 0, 0}),
                {floats({2, 3, 4, 4, 4}), indices({2, 3, 4, 4, 4})}),
      META_CASE("ReflectionPad1d", at::reflection_pad1d(a, {1, 2}), {floats({2, 3, 9})}),
      META_CASE("ReflectionPad2d", at::reflection_pad2d(a, {1, 2, 3, 4}), {image}),
      META_CASE("ReflectionPad2dChannelsLast", at::reflection_pad2d(a, {1, 2, 3, 4}), {nhwc}),
      META_CASE("ReflectionPad2dNoBatch", at::reflection_pad2d(a, {1, 2, 3, 4}), {image[0]}),
      META_CASE("ReflectionPad3d", at::reflection_pad3d(a, {1, 2, 3, 4, 1, 1}), {volume}),
      META_CASE("ReplicationPad2d", at::replication_pad2d(a, {1, 2, 3, 4}), {image}),
      META_CASE("CircularPad", at::pad(a, {1, 2, 3, 4}, "circular"), {image}),
      META_CASE("ConstantPad", at::pad(a, {1, 2, -1, 4}, "constant", 2), {nhwc}),
      META_CASE("GridSample2d", at::grid_sampler(a, b, 0, 0, false), {image, floats({2, 5, 6, 2})}),
      META_CASE("GridSample2dChannelsLast", at::grid_sampler(a, b, 0, 0, false),
                {nhwc, floats({2, 5, 6, 2})}),
      META_CASE("GridSample3d", at::grid_sampler(a, b, 0, 0, false),
                {volume, floats({2, 5, 6, 7, 3})}),
      META_CASE("AffineGrid", at::affine_grid_generator(a, {2, 3, 8, 9}, false),
                {floats({2, 2, 3})}),
      META_CASE("PixelShuffle", at::pixel_shuffle(a, 2), {floats({2, 8, 3, 4})}),
      META_CASE("PixelShuffleChannelsLast", at::pixel_shuffle(a, 2), {channels_last({2, 8, 3, 4})}),
      META_CASE("PixelUnshuffle", at::pixel_unshuffle(a, 2), {floats({2, 2, 6, 4})}),
      META_CASE("PixelUnshuffleChannelsLast", at::pixel_unshuffle(a, 2),
                {channels_last({2, 2, 6, 4})}),
      META_CASE("ChannelShuffle", at::channel_shuffle(a, 2), {floats({2, 8, 3, 4})}),
      META_CASE("ChannelShuffleChannelsLast", at::channel_shuffle(a, 2),
                {channels_last({2, 8, 3, 4})}),
      META_CASE("Im2col", at::im2col(a, {2, 3}, {1, 2}, {1, 0}, {2, 1}), {image}),
      META_CASE("Col2im", at::col2im(a, {8, 9}, {2, 2}, {1, 1}, {0, 0}, {2, 1}),
                {floats({2, 12, 32})}),
      META_CASE("UpsampleNearest", at::upsample_nearest2d(a, {16, 18}), {nhwc}),
      META_CASE("UpsampleBilinear", at::upsample_bilinear2d(a, {16, 18}, true), {nhwc}),
      META_CASE("UpsampleBicubic", at::upsample_bicubic2d(a, {16, 18}, true), {nhwc}),
      META_CASE("UpsampleBilinearAntialias", at::_upsample_bilinear2d_aa(a, {16, 18}, true),
                {nhwc}),
      META_CASE("UpsampleLinear", at::upsample_linear1d(a, {16}, true), {floats({2, 3, 9})}),
      META_CASE("UpsampleTrilinear", at::upsample_trilinear3d(a, {8, 16, 18}, true), {ndhwc}),
      META_CASE("FractionalMaxPool2d", at::fractional_max_pool2d(a, {2, 2}, {4, 4}, b),
                {image, floats({2, 3, 2})}),
      META_CASE("FractionalMaxPool3d", at::fractional_max_pool3d(a, {2, 2, 2}, {3, 4, 4}, b),
                {volume, floats({2, 3, 3})}),
      META_CASE("Unfold", a.unfold(2, 3, 2), {image}),
  };
}
INSTANTIATE_META_CASES(Window, windows);

}  // namespace
}  // namespace torch_ir
