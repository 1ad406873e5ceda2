// Operators on images and volumes that look at a window or a neighbourhood: convolution, pooling,
// padding, sampling, patches.
#include <ATen/native/ConvUtils.h>
#include <ATen/native/Pool.h>

#include "torch_ir/exporter/meta/meta_rules.h"
#include "torch_ir/operators/call_recording.h"

namespace torch_ir {
namespace {

using c10::ScalarType;

// `self` with its last dimensions replaced by `last`.
Sizes with_last(const at::Tensor& self, const Sizes& last) {
  Sizes sizes = self.sizes().vec();
  std::copy(last.begin(), last.end(), sizes.end() - last.size());
  return sizes;
}

void check_rank(const MetaCall& call, const at::Tensor& self, size_t window) {
  const int64_t rank = static_cast<int64_t>(window);
  TORCH_CHECK(self.dim() == rank + 1 || self.dim() == rank + 2, call.op().operator_name(),
              ": expected an input of ", rank + 1, " or ", rank + 2, " dimensions, got ",
              self.sizes());
}

// These kernels know channels last on images only.
c10::MemoryFormat format_2d(const at::Tensor& self, size_t window) {
  return window == 2 ? self.suggest_memory_format() : c10::MemoryFormat::Contiguous;
}

std::vector<at::Tensor> max_pool3d(const MetaCall& call) {
  const at::Tensor self = call.tensor("self");
  check_rank(call, self, 3);
  const Sizes kernel = call.integers("kernel_size", 3);
  const Sizes stride =
      call.has("stride") && !call.integers("stride").empty() ? call.integers("stride", 3) : kernel;
  const Sizes padding = call.integers("padding", 3);
  const Sizes dilation = call.integers("dilation", 3, 1);
  Sizes last(3);
  for (size_t i = 0; i < 3; ++i) {
    last[i] = at::native::pooling_output_shape<int64_t>(self.size(-3 + static_cast<int64_t>(i)),
                                                        kernel[i], padding[i], stride[i],
                                                        dilation[i], call.boolean("ceil_mode"));
    TORCH_CHECK(last[i] > 0, call.op().operator_name(), ": the kernel ", c10::IntArrayRef(kernel),
                " does not fit into ", self.sizes());
  }
  const Sizes sizes = with_last(self, last);
  const c10::MemoryFormat format = self.suggest_memory_format();
  return {meta_tensor(sizes, self.scalar_type(), format),
          meta_tensor(sizes, ScalarType::Long, format)};
}

template <size_t kWindow>
std::vector<at::Tensor> adaptive_pool(const MetaCall& call) {
  const at::Tensor self = call.tensor("self");
  check_rank(call, self, kWindow);
  return {meta_tensor(with_last(self, call.integers("output_size", kWindow)),
                      result_dtypes(call).at(0), format_2d(self, kWindow))};
}

std::vector<at::Tensor> reflection_pad2d(const MetaCall& call) {
  const at::Tensor self = call.tensor("self");
  check_rank(call, self, 2);
  const Sizes padding = call.integers("padding", 4);
  for (int64_t i = 0; i < 4; ++i) {
    const int64_t size = self.size(i < 2 ? -1 : -2);
    TORCH_CHECK(padding[i] < size, "Padding size should be less than the corresponding input ",
                "dimension, but got padding ", c10::IntArrayRef(padding), " at input ",
                self.sizes());
  }
  const Sizes last{self.size(-2) + padding[2] + padding[3],
                   self.size(-1) + padding[0] + padding[1]};
  return {meta_tensor(with_last(self, last), self.scalar_type(), self.suggest_memory_format())};
}

std::vector<at::Tensor> grid_sampler(const MetaCall& call) {
  const at::Tensor input = call.tensor("input");
  const at::Tensor grid = call.tensor("grid");
  TORCH_CHECK(input.dim() >= 3 && grid.dim() == input.dim() && input.size(0) == grid.size(0) &&
                  grid.size(-1) == input.dim() - 2,
              "grid_sampler(): expected a grid for the input, but got input with sizes ",
              input.sizes(), " and grid with sizes ", grid.sizes());
  Sizes sizes = grid.sizes().vec();
  sizes.pop_back();
  sizes.insert(sizes.begin() + 1, input.size(1));
  return {meta_tensor(sizes, input.scalar_type())};
}

std::vector<at::Tensor> pixel_shuffle(const MetaCall& call) {
  const at::Tensor self = call.tensor("self");
  const int64_t factor = call.integer("upscale_factor");
  TORCH_CHECK(self.dim() >= 3,
              "pixel_shuffle expects input to have at least 3 dimensions, but got ", "input with ",
              self.dim(), " dimension(s)");
  TORCH_CHECK(factor > 0, "pixel_shuffle expects a positive upscale_factor, but got ", factor);
  TORCH_CHECK(self.size(-3) % (factor * factor) == 0,
              "pixel_shuffle expects its input's 'channel' ",
              "dimension to be divisible by the square of upscale_factor, but input.size(-3)=",
              self.size(-3), " is not divisible by ", factor * factor);
  const Sizes sizes = with_last(
      self, {self.size(-3) / (factor * factor), self.size(-2) * factor, self.size(-1) * factor});
  return {meta_tensor(sizes, self.scalar_type(), self.suggest_memory_format())};
}

std::vector<at::Tensor> pixel_unshuffle(const MetaCall& call) {
  const at::Tensor self = call.tensor("self");
  const int64_t factor = call.integer("downscale_factor");
  TORCH_CHECK(self.dim() >= 3, "pixel_unshuffle expects input to have at least 3 dimensions, but ",
              "got input with ", self.dim(), " dimension(s)");
  TORCH_CHECK(factor > 0, "pixel_unshuffle expects a positive downscale_factor, but got ", factor);
  TORCH_CHECK(self.size(-2) % factor == 0 && self.size(-1) % factor == 0,
              "pixel_unshuffle expects height and width to be divisible by downscale_factor, but ",
              self.sizes(), " is not by ", factor);
  const Sizes sizes = with_last(
      self, {self.size(-3) * factor * factor, self.size(-2) / factor, self.size(-1) / factor});
  return {meta_tensor(sizes, self.scalar_type(), self.suggest_memory_format())};
}

bool is_channels_last(const at::Tensor& tensor) {
  const c10::MemoryFormat format = tensor.suggest_memory_format();
  return format == c10::MemoryFormat::ChannelsLast || format == c10::MemoryFormat::ChannelsLast3d;
}

// What the CPU's backends do. In three dimensions oneDNN keeps channels last, and there is no
// oneDNN kernel for double.
c10::MemoryFormat output_format(const at::Tensor& input, const at::Tensor& weight) {
  if (!is_channels_last(input) && !is_channels_last(weight)) return c10::MemoryFormat::Contiguous;
  if (weight.dim() == 4) return c10::MemoryFormat::ChannelsLast;
  return weight.dim() == 5 && input.scalar_type() != c10::ScalarType::Double
             ? c10::MemoryFormat::ChannelsLast3d
             : c10::MemoryFormat::Contiguous;
}

// LibTorch checks the arguments, unsqueezes one-dimensional convolutions and takes care of empty
// inputs; what it leaves to the backend is the convolution itself.
std::vector<at::Tensor> convolution(const MetaCall& call) {
  const at::Tensor input = call.tensor("input");
  const at::Tensor weight = call.tensor("weight");
  TORCH_CHECK(input.scalar_type() == weight.scalar_type() &&
                  (!call.has("bias") || call.tensor("bias").scalar_type() == weight.scalar_type()),
              "convolution: expected an input of the dtype of weight and bias, ",
              weight.scalar_type(), ", but got ", input.scalar_type());
  const size_t rank = input.dim() - 2;
  const Sizes stride = call.integers("stride", rank, 1);
  const Sizes padding = call.integers("padding", rank);
  const Sizes dilation = call.integers("dilation", rank, 1);
  const Sizes sizes =
      call.boolean("transposed")
          ? at::native::conv_input_size(input.sizes(), weight.sizes(), padding,
                                        call.integers("output_padding", rank), stride, dilation,
                                        call.integer("groups"))
          : at::native::conv_output_size(input.sizes(), weight.sizes(), padding, stride, dilation);
  for (int64_t size : sizes) {
    TORCH_CHECK(size >= 0, "convolution of ", input.sizes(), " with a kernel of ", weight.sizes(),
                " gives a result of negative size ", c10::IntArrayRef(sizes));
  }
  return {meta_tensor(sizes, input.scalar_type(), output_format(input, weight))};
}

// The gradients that the mask asks for; the others are undefined.
std::vector<at::Tensor> convolution_backward(const MetaCall& call) {
  const at::Tensor input = call.tensor("input");
  const at::Tensor weight = call.tensor("weight");
  const c10::MemoryFormat format = output_format(input, weight);
  const std::vector<at::Tensor> gradients = {
      meta_tensor(input.sizes(), input.scalar_type(), format),
      meta_tensor(weight.sizes(), weight.scalar_type(), format),
      meta_tensor({call.tensor("grad_output").size(1)}, weight.scalar_type())};
  const c10::IValue& mask = *find_argument(call.op().schema(), call.arguments(), "output_mask");
  std::vector<at::Tensor> results(gradients.size());
  for (size_t i = 0; i < gradients.size(); ++i) {
    if (mask.toBoolList().get(i)) results[i] = gradients[i];
  }
  return results;
}

constexpr NamedMetaRule kWindowRules[] = {
    {"_adaptive_avg_pool2d", adaptive_pool<2>},
    {"_adaptive_avg_pool3d", adaptive_pool<3>},
    {"adaptive_avg_pool2d", adaptive_pool<2>},
    {"adaptive_avg_pool3d", adaptive_pool<3>},
    {"convolution_backward_overrideable", convolution_backward, Composite::kReplace},
    {"convolution_overrideable", convolution, Composite::kReplace},
    {"grid_sampler_2d", grid_sampler},
    {"grid_sampler_3d", grid_sampler},
    {"max_pool3d_with_indices", max_pool3d},
    {"pixel_shuffle", pixel_shuffle, Composite::kReplace},
    {"pixel_unshuffle", pixel_unshuffle, Composite::kReplace},
    {"reflection_pad2d", reflection_pad2d},
};

}  // namespace

c10::ArrayRef<NamedMetaRule> window_meta_rules() { return kWindowRules; }

}  // namespace torch_ir
