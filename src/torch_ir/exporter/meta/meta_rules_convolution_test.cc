#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "torch_ir/exporter/meta/meta_cases.h"

namespace torch_ir {
namespace {

using at::Tensor;

MetaCases convolutions() {
  MetaCases cases = {
      META_CASE("OneDimension", at::conv1d(a, b, c, 1, 1),
                {floats({2, 3, 8}), floats({4, 3, 3}), floats({4})}),
      META_CASE("TwoDimensions", at::conv2d(a, b, c, 2, 1),
                {floats({2, 3, 9, 8}), floats({4, 3, 3, 3}), floats({4})}),
      META_CASE("NoBatch", at::conv2d(a, b, c),
                {floats({3, 9, 8}), floats({4, 3, 3, 3}), floats({4})}),
      META_CASE("ThreeDimensions", at::conv3d(a, b, c),
                {floats({2, 3, 5, 6, 7}), floats({4, 3, 3, 3, 3}), floats({4})}),
      META_CASE("NoBias", at::conv2d(a, b), {floats({2, 3, 9, 8}), floats({4, 3, 1, 1})}),
      META_CASE("Same", at::conv2d(a, b, {}, 1, "same"),
                {floats({2, 3, 9, 8}), floats({4, 3, 3, 5})}),
      META_CASE("Dilated", at::conv2d(a, b, c, 1, {2, 3}, {2, 3}),
                {floats({2, 3, 9, 8}), floats({4, 3, 3, 3}), floats({4})}),
      META_CASE("Dilated1d", at::conv1d(a, b, c, 1, 2, 2),
                {floats({2, 3, 9}), floats({4, 3, 3}), floats({4})}),
      META_CASE("Dilated3d", at::conv3d(a, b, c, 1, 2, 2),
                {floats({2, 3, 5, 6, 7}), floats({4, 3, 3, 3, 3}), floats({4})}),
      META_CASE("Groups", at::conv2d(a, b, c, 1, 1, 1, 2),
                {floats({2, 4, 9, 8}), floats({6, 2, 3, 3}), floats({6})}),
      META_CASE("Depthwise", at::conv2d(a, b, c, 1, 1, 1, 4),
                {floats({2, 4, 9, 8}), floats({4, 1, 3, 3}), floats({4})}),
      META_CASE("Transposed1d", at::conv_transpose1d(a, b, c, 2, 1, 1),
                {floats({2, 3, 8}), floats({3, 4, 3}), floats({4})}),
      META_CASE("Transposed2d", at::conv_transpose2d(a, b, c, 2, 1, 1),
                {floats({2, 3, 8, 9}), floats({3, 4, 3, 3}), floats({4})}),
      META_CASE("Transposed2dGroups", at::conv_transpose2d(a, b, c, 2, 0, 0, 2, 2),
                {floats({2, 4, 8, 9}), floats({4, 3, 3, 3}), floats({6})}),
      META_CASE("Transposed3d", at::conv_transpose3d(a, b, c, 2),
                {floats({2, 3, 4, 5, 6}), floats({3, 4, 3, 3, 3}), floats({4})}),
      META_CASE("ChannelsLastInput", at::conv2d(a, b, c),
                {channels_last({2, 3, 9, 8}), floats({4, 3, 3, 3}), floats({4})}),
      META_CASE("ChannelsLastWeight", at::conv2d(a, b, c),
                {floats({2, 3, 9, 8}), channels_last({4, 3, 3, 3}), floats({4})}),
      META_CASE("ChannelsLastPointwise", at::conv2d(a, b, c),
                {channels_last({2, 3, 9, 8}), floats({4, 3, 1, 1}), floats({4})}),
      META_CASE("ChannelsLastDepthwise", at::conv2d(a, b, {}, 1, 1, 1, 4),
                {channels_last({2, 4, 9, 8}), floats({4, 1, 3, 3})}),
      META_CASE("ChannelsLastDilated", at::conv2d(a, b, c, 1, 2, 2),
                {channels_last({2, 3, 9, 8}), floats({4, 3, 3, 3}), floats({4})}),
      META_CASE("ChannelsLastTransposed", at::conv_transpose2d(a, b, c, 2),
                {channels_last({2, 3, 9, 8}), floats({3, 4, 3, 3}), floats({4})}),
      META_CASE("ChannelsLast3d", at::conv3d(a, b, c),
                {channels_last({2, 3, 5, 6, 7}), floats({4, 3, 3, 3, 3}), floats({4})}),
      META_CASE("ChannelsLast3dTransposed", at::conv_transpose3d(a, b, c),
                {channels_last({2, 3, 5, 6, 7}), floats({3, 4, 3, 3, 3}), floats({4})}),
      META_CASE("Doubles", at::conv2d(a, b, c),
                {channels_last({2, 3, 9, 8}).to(at::kDouble), floats({4, 3, 3, 3}).to(at::kDouble),
                 floats({4}).to(at::kDouble)}),
      META_CASE("Doubles3d", at::conv3d(a, b),
                {channels_last({2, 3, 5, 6, 7}).to(at::kDouble),
                 floats({4, 3, 3, 3, 3}).to(at::kDouble)}),
      META_CASE("BFloat16", at::conv2d(a, b),
                {floats({2, 3, 9, 8}).to(at::kBFloat16), floats({4, 3, 3, 3}).to(at::kBFloat16)}),
      META_CASE("EmptyBatch", at::conv2d(a, b), {floats({0, 3, 9, 8}), floats({4, 3, 3, 3})}),
      META_CASE("Large", at::conv2d(a, b, c, 1, 1),
                {channels_last({16, 32, 32, 32}), floats({32, 32, 3, 3}), floats({32})}),
  };
  return cases;
}
INSTANTIATE_META_CASES(Convolution, convolutions);

MetaCases gradients() {
  return {
      META_CASE("All",
                at::convolution_backward(a, b, c, {{4}}, {2, 2}, {1, 1}, {1, 1}, false, {0, 0}, 1,
                                         {true, true, true}),
                {floats({2, 4, 5, 4}), floats({2, 3, 9, 8}), floats({4, 3, 3, 3})}),
      META_CASE("OfInput",
                at::convolution_backward(a, b, c, {}, {1, 1}, {1, 1}, {1, 1}, false, {0, 0}, 2,
                                         {true, false, false}),
                {floats({2, 6, 9, 8}), floats({2, 4, 9, 8}), floats({6, 2, 3, 3})}),
      META_CASE("OneDimension",
                at::convolution_backward(a, b, c, {{4}}, {1}, {1}, {1}, false, {0}, 1,
                                         {true, true, true}),
                {floats({2, 4, 8}), floats({2, 3, 8}), floats({4, 3, 3})}),
      META_CASE("Transposed",
                at::convolution_backward(a, b, c, {{4}}, {2, 2}, {0, 0}, {1, 1}, true, {0, 0}, 1,
                                         {true, true, true}),
                {floats({1, 4, 9, 9}), floats({1, 3, 4, 4}), floats({3, 4, 3, 3})}),
      META_CASE("ChannelsLast",
                at::convolution_backward(a, b, c, {{4}}, {1, 1}, {1, 1}, {1, 1}, false, {0, 0}, 1,
                                         {true, true, true}),
                {floats({2, 4, 9, 8}), channels_last({2, 3, 9, 8}), floats({4, 3, 3, 3})}),
  };
}
INSTANTIATE_META_CASES(ConvolutionBackward, gradients);

}  // namespace
}  // namespace torch_ir
