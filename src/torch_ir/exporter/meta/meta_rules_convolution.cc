// Convolutions.
#include <ATen/native/ConvUtils.h>

#include "torch_ir/exporter/meta/meta_rules.h"

namespace torch_ir {
namespace {

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

constexpr NamedMetaRule kConvolutionRules[] = {
    {"convolution_overrideable", convolution, Composite::kReplace},
};

}  // namespace

c10::ArrayRef<NamedMetaRule> convolution_meta_rules() { return kConvolutionRules; }

}  // namespace torch_ir
