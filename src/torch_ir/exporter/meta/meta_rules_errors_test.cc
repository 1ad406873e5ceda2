// What the CPU kernels reject is rejected on meta tensors.
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "torch_ir/exporter/meta/meta_cases.h"

namespace torch_ir {
namespace {

using at::Tensor;
using testing::HasSubstr;

struct Rejected {
  MetaCase call;
  // A part of the message on meta tensors.
  std::string message;
};

std::vector<Rejected> rejected() {
  const Tensor image = floats({2, 6, 8, 8});
  const Tensor integers = at::ones({2, 6, 8, 8}, at::kLong);
  const Tensor six = floats({6});
  return {
      {META_CASE("Broadcast", at::where(a > 0, a, b), {floats({2, 3}), floats({2})}),
       "must match the size of tensor"},
      {META_CASE("ReluOfBool", at::relu(a), {at::ones({2}, at::kBool)}),
       "Boolean inputs not supported for relu"},
      {META_CASE("Flip", at::flip(a, {4}), {image}), "Dimension out of range"},
      {META_CASE("FlipTwice", at::flip(a, {1, 1}), {image}), "appears multiple times"},
      {META_CASE("Roll", at::roll(a, {1, 2}, {0}), {image}), "shifts and dimensions must align"},
      {META_CASE("ConvolutionDtype", at::conv2d(a, b), {integers, floats({4, 6, 3, 3})}),
       "expected an input of the dtype of weight and bias, Float, but got Long"},
      {META_CASE("ConvolutionChannels", at::conv2d(a, b), {image, floats({4, 5, 3, 3})}),
       "to have 5 channels"},
      {META_CASE("ConvolutionKernel", at::conv2d(a, b), {image, floats({4, 6, 9, 9})}),
       "Kernel size can't be greater than actual input size"},
      {META_CASE("BatchNormDtype", at::batch_norm(a, b, b, b, b, false, 0.1, 1e-5, true),
                 {integers, six}),
       "not implemented for Long"},
      {META_CASE("BatchNormChannels", at::batch_norm(a, b, b, b, b, false, 0.1, 1e-5, true),
                 {image, floats({5})}),
       "running_mean should contain 6 elements not 5"},
      {META_CASE("LayerNormShape", at::layer_norm(a, {9}), {image}),
       "Given normalized_shape=[9], expected input whose last sizes are these, but got"},
      {META_CASE("LayerNormDtype", at::layer_norm(a, {8}, b), {image, floats({8}).to(at::kDouble)}),
       "expected a weight of dtype Float, as the input, but got Double"},
      {META_CASE("GroupNorm", at::group_norm(a, 4), {image}), "num_groups=4"},
      {META_CASE("GroupNormWeight", at::group_norm(a, 2, b), {image, floats({5})}),
       "Expected weight to be a vector of size equal to the number of channels"},
      {META_CASE("MaxPool3d", at::max_pool3d(a, 9), {floats({2, 3, 8, 8, 8})}),
       "Output size is too small"},
      {META_CASE("AdaptivePool", at::adaptive_avg_pool2d(a, {2, 2}), {floats({8, 8})}),
       "Expected 3D or 4D tensor, but got [8, 8]"},
      {META_CASE("ReflectionPad", at::reflection_pad2d(a, {8, 0, 0, 0}), {image}),
       "Padding size should be less than the corresponding input dimension"},
      {META_CASE("GridSample", at::grid_sampler_2d(a, b, 0, 0, false),
                 {image, floats({1, 3, 3, 2})}),
       "expected grid and input to have same batch size"},
      {META_CASE("PixelShuffle", at::pixel_shuffle(a, 2), {image}), "is not divisible by 4"},
      {META_CASE("PixelUnshuffle", at::pixel_unshuffle(a, 3), {image}),
       "expects height to be divisible by downscale_factor"},
      {META_CASE("ChannelShuffle", at::channel_shuffle(a, 4), {image}),
       "Got 6 channels and 4 groups"},
      {META_CASE("IndexSelectRank", at::index_select(a, 0, b), {image, indices({2, 2})}),
       "Index is supposed to be a vector"},
      {META_CASE("IndexSelectDtype", at::index_select(a, 0, b), {image, floats({2})}),
       "Expected dtype int32 or int64 for index"},
      {META_CASE("IndexSelectScalar", at::index_select(a, 0, b), {floats({}), indices({2})}),
       "Index to scalar can have only 1 value, got 2 value(s)"},
      {META_CASE("Embedding", at::embedding(a, b), {floats({4, 3}), floats({2})}),
       "Expected tensor for argument #1 'indices' to have one of the following scalar types"},
      {META_CASE("Take", at::take(a, b), {image, floats({2})}),
       "Expected a long tensor for index, but got Float"},
      {META_CASE("Searchsorted", at::searchsorted(a, b), {floats({2, 5}), floats({3, 4})}),
       "first N-1 dimensions of boundaries tensor and input value tensor must match"},
      {META_CASE("Bucketize", at::bucketize(a, b), {floats({3}), floats({2, 5})}),
       "boundaries tensor must be 1 dimension"},
      {META_CASE("MultinomialMany", at::multinomial(a, 7), {six}), "without replacement"},
      {META_CASE("MultinomialDtype", at::multinomial(a, 1), {at::ones({6}, at::kLong)}),
       "multinomial only supports floating-point dtypes"},
      {META_CASE("MaxOfNothing", at::max(a), {floats({0})}),
       "Expected reduction dim to be specified"},
      {META_CASE("Kthvalue", at::kthvalue(a, 7), {six}), "selected number k out of range"},
      {META_CASE("Dot", at::dot(a, b), {six, floats({5})}), "inconsistent tensor size"},
      {META_CASE("DotDtypes", at::dot(a, b), {six, six.to(at::kDouble)}),
       "expected both vectors to have same dtype"},
      {META_CASE("Addbmm", at::addbmm(a, b, c),
                 {floats({5, 7}), floats({2, 4, 3}), floats({2, 3, 5})}),
       "must match the existing size (7)"},
      {META_CASE("Cdist", at::cdist(a, b), {floats({4, 3}), floats({4, 2})}),
       "X1 and X2 must have the same number of columns"},
      {META_CASE("CholeskyShape", at::cholesky(a), {floats({3, 4})}),
       "must be batches of square matrices"},
      {META_CASE("MatrixExp", at::linalg_matrix_exp(a), {at::ones({3, 3}, at::kLong)}),
       "Expected a floating point or complex tensor"},
      {META_CASE("Attention", at::scaled_dot_product_attention(a, b, b),
                 {floats({2, 3, 5, 8}), floats({2, 3, 5, 6})}),
       "Expected size for first two dimensions of batch2 tensor to be: [6, 8]"},
      {META_CASE("HuberLoss", at::huber_loss(a, b), {floats({3}), floats({2})}),
       "must match the size of tensor"},
  };
}

TEST(MetaRules, RejectWhatTheCpuRejects) {
  for (const auto& [call, message] : rejected()) {
    SCOPED_TRACE(call.name);
    const Agreement agreement = agreement_of(call);
    EXPECT_NE(agreement.cpu_error, "") << "the case itself is wrong: " << agreement.cpu;
    ASSERT_NE(agreement.meta_error, "") << agreement.meta;
    EXPECT_THAT(agreement.meta_error, HasSubstr(message));
  }
}

}  // namespace
}  // namespace torch_ir
