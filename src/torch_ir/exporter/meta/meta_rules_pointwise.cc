// Operators that compute each element of the result from the elements at the same place.
#include <ATen/TensorIterator.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/WrapDimUtilsMulti.h>

#include "torch_ir/exporter/meta/meta_rules.h"

namespace torch_ir {
namespace {

// The layout that TensorIterator, which all these kernels use, gives to the broadcast inputs. Where
// they differ, the first one decides.
at::Tensor broadcast(const std::vector<at::Tensor>& inputs, c10::ScalarType dtype) {
  at::TensorIteratorConfig config;
  config.add_owned_output(at::Tensor());
  for (const at::Tensor& input : inputs) config.add_owned_const_input(input);
  config.check_all_same_dtype(false).check_all_same_device(false).declare_static_dtype_and_device(
      dtype, c10::Device(c10::DeviceType::Meta));
  return at::Tensor(config.build().tensor(0));
}

std::vector<at::Tensor> pointwise(const MetaCall& call) {
  std::vector<at::Tensor> results;
  for (c10::ScalarType dtype : result_dtypes(call)) {
    results.push_back(broadcast(call.inputs(), dtype));
  }
  return results;
}

// Computed as sub(other, self).
std::vector<at::Tensor> rsub(const MetaCall& call) {
  return {broadcast({call.tensor("other"), call.tensor("self")}, result_dtypes(call).at(0))};
}

std::vector<at::Tensor> flip(const MetaCall& call) {
  const at::Tensor self = call.tensor("self");
  at::dim_list_to_bitset(call.integers("dims"), self.dim());  // for its checks
  return {meta_like(self)};
}

// Contiguous along one dimension after the other: each step is a cat, which keeps channels last.
std::vector<at::Tensor> roll(const MetaCall& call) {
  const at::Tensor self = call.tensor("self");
  const Sizes dims = call.integers("dims");
  const size_t num_shifts = call.integers("shifts").size();
  const bool is_flat = dims.empty() && num_shifts == 1;
  TORCH_CHECK(is_flat || num_shifts == dims.size(),
              "shifts and dimensions must align. shifts: ", num_shifts, ", dims:", dims.size());
  for (int64_t dim : dims) at::maybe_wrap_dim(dim, self.dim());  // for its checks
  if (self.numel() == 0) return {meta_like(self)};
  return {meta_tensor(self.sizes(), self.scalar_type(),
                      is_flat ? c10::MemoryFormat::Contiguous : self.suggest_memory_format())};
}

std::vector<at::Tensor> log_sigmoid_forward(const MetaCall& call) {
  const at::Tensor self = call.tensor("self");
  const c10::ScalarType dtype = result_dtypes(call).at(0);
  return {meta_tensor(self.sizes(), dtype), meta_tensor(self.sizes(), dtype)};
}

std::vector<at::Tensor> assertion_token(const MetaCall& call) {
  return {meta_like(call.tensor("dep_token"))};
}

std::vector<at::Tensor> nothing(const MetaCall&) { return {}; }

constexpr NamedMetaRule kPointwiseRules[] = {
    {"__lshift__", pointwise},
    {"__rshift__", pointwise},
    {"_add_relu", pointwise},
    {"_assert_async", nothing},
    {"_functional_assert_async", assertion_token},
    {"_prelu_kernel", pointwise},
    {"abs", pointwise},
    {"complex", pointwise},
    {"conj_physical", pointwise},
    {"fake_quantize_per_tensor_affine_cachemask", pointwise},
    {"flip", flip},
    {"floor_divide", pointwise},
    {"frexp", pointwise},
    {"hardswish", pointwise},
    {"hardswish_backward", pointwise},
    {"hardtanh", pointwise},
    {"hardtanh_backward", pointwise},
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
    {"polar", pointwise},
    {"relu", pointwise},
    {"remainder", pointwise},
    {"roll", roll},
    {"rrelu_with_noise", pointwise},
    {"rsub", rsub},
    {"where", pointwise},
};

}  // namespace

c10::ArrayRef<NamedMetaRule> pointwise_meta_rules() { return kPointwiseRules; }

}  // namespace torch_ir
