// Operators that compute each element of the result from the elements at the same place.
#include <ATen/TensorIterator.h>

#include "torch_ir/exporter/meta_rules.h"

namespace torch_ir {
namespace {

// The layout that TensorIterator, which all these kernels use, gives to the broadcast inputs.
at::Tensor broadcast(const MetaCall& call, c10::ScalarType dtype) {
  at::TensorIteratorConfig config;
  config.add_owned_output(at::Tensor());
  for (const at::Tensor& input : call.inputs()) config.add_owned_const_input(input);
  config.check_all_same_dtype(false)
      .check_all_same_device(false)
      .declare_static_dtype_and_device(dtype, c10::Device(c10::DeviceType::Meta));
  return at::Tensor(config.build().tensor(0));
}

std::vector<at::Tensor> pointwise(const MetaCall& call) {
  std::vector<at::Tensor> results;
  for (c10::ScalarType dtype : result_dtypes(call)) results.push_back(broadcast(call, dtype));
  return results;
}

// As pointwise, then over all elements unless `reduction` is none (0).
std::vector<at::Tensor> pointwise_loss(const MetaCall& call) {
  if (call.integer("reduction") == 0) return pointwise(call);
  const at::Tensor losses = broadcast(call, call.tensor("self").scalar_type());
  return {meta_tensor({}, result_dtypes(call).at(0))};
}

// The size, though not the place, of each element stays.
std::vector<at::Tensor> like_self(const MetaCall& call) {
  return {meta_like(call.tensor("self"))};
}

std::vector<at::Tensor> contiguous_like_self(const MetaCall& call) {
  const at::Tensor self = call.tensor("self");
  return {meta_tensor(self.sizes(), self.scalar_type())};
}

std::vector<at::Tensor> log_sigmoid_forward(const MetaCall& call) {
  const at::Tensor self = call.tensor("self");
  return {meta_like(self), meta_like(self)};
}

std::vector<at::Tensor> dropout(const MetaCall& call) {
  const at::Tensor input = call.tensor("input");
  // Of an empty input the CPU kernel returns a mask that is no mask.
  const auto mask = input.numel() == 0 ? input.scalar_type() : c10::ScalarType::Bool;
  return {meta_like(input), meta_like(input, mask)};
}

std::vector<at::Tensor> assertion_token(const MetaCall& call) {
  return {meta_like(call.tensor("dep_token"))};
}

std::vector<at::Tensor> nothing(const MetaCall&) { return {}; }

constexpr NamedMetaRule kRules[] = {
    {"__lshift__", pointwise},
    {"__rshift__", pointwise},
    {"_add_relu", pointwise},
    {"_assert_async", nothing},
    {"_functional_assert_async", assertion_token},
    {"_prelu_kernel", pointwise},
    {"_standard_gamma", pointwise},
    {"abs", pointwise},
    {"angle", pointwise},
    {"binary_cross_entropy", pointwise_loss},
    {"binomial", pointwise},
    {"channel_shuffle", contiguous_like_self},
    {"complex", pointwise},
    {"conj_physical", pointwise},
    {"fake_quantize_per_tensor_affine_cachemask", pointwise},
    {"flip", like_self},
    {"floor_divide", pointwise},
    {"frexp", pointwise},
    {"hardswish", pointwise},
    {"hardswish_backward", pointwise},
    {"hardtanh", pointwise},
    {"hardtanh_backward", pointwise},
    {"huber_loss", pointwise_loss},
    {"isnan", pointwise},
    {"log_sigmoid_backward", pointwise},
    {"log_sigmoid_forward", log_sigmoid_forward},
    {"logical_and", pointwise},
    {"logical_not", pointwise},
    {"logical_or", pointwise},
    {"logical_xor", pointwise},
    {"logit", pointwise},
    {"mvlgamma", pointwise},
    {"nan_to_num", pointwise},
    {"native_dropout", dropout},
    {"poisson", pointwise},
    {"polar", pointwise},
    {"relu", pointwise},
    {"remainder", pointwise},
    {"roll", contiguous_like_self},
    {"rrelu_with_noise", pointwise},
    {"rsub", pointwise},
    {"where", pointwise},
};

}  // namespace

c10::ArrayRef<NamedMetaRule> pointwise_meta_rules() { return kRules; }

}  // namespace torch_ir
