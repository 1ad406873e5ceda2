// Operators on single elements, reductions of them, and those that pick them by index.
#include <ATen/TensorIterator.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/WrapDimUtilsMulti.h>

#include "torch_ir/exporter/meta/meta_rules.h"

namespace torch_ir {
namespace {

using c10::ScalarType;

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

std::vector<at::Tensor> assertion_token(const MetaCall& call) {
  return {meta_like(call.tensor("dep_token"))};
}

std::vector<at::Tensor> nothing(const MetaCall&) { return {}; }

// What is left of `sizes`. No dimension named means all.
Sizes reduced(c10::IntArrayRef sizes, const Sizes& dims, bool keep) {
  const int64_t rank = static_cast<int64_t>(sizes.size());
  auto mask = at::dim_list_to_bitset(dims, rank);
  if (dims.empty()) mask.flip();
  Sizes left;
  for (int64_t i = 0; i < rank; ++i) {
    if (!mask[i])
      left.push_back(sizes[i]);
    else if (keep)
      left.push_back(1);
  }
  return left;
}

bool keeps(const MetaCall& call) { return call.has("keepdim") && call.flag("keepdim"); }

std::vector<at::Tensor> reduction(const MetaCall& call) {
  const Sizes dims = call.has("dim") ? call.integers("dim") : Sizes();
  const Sizes sizes = reduced(call.tensor("self").sizes(), dims, keeps(call));
  std::vector<at::Tensor> results;
  for (c10::ScalarType dtype : result_dtypes(call)) results.push_back(meta_tensor(sizes, dtype));
  return results;
}

std::vector<at::Tensor> index_select(const MetaCall& call) {
  const at::Tensor self = call.tensor("self");
  const at::Tensor index = call.tensor("index");
  TORCH_CHECK_INDEX(index.dim() <= 1, "index_select(): Index is supposed to be a vector");
  TORCH_CHECK(index.scalar_type() == ScalarType::Long || index.scalar_type() == ScalarType::Int,
              "index_select(): Expected dtype int32 or int64 for index");
  Sizes sizes = self.sizes().vec();
  const int64_t dim = at::maybe_wrap_dim(call.number("dim"), self.dim());
  TORCH_CHECK(!sizes.empty() || index.numel() == 1,
              "index_select(): Index to scalar can have only ", "1 value, got ", index.numel(),
              " value(s)");
  if (!sizes.empty()) sizes[dim] = index.numel();
  return {meta_tensor(sizes, self.scalar_type())};
}

std::vector<at::Tensor> multinomial(const MetaCall& call) {
  Sizes sizes = call.tensor("self").sizes().vec();
  TORCH_CHECK(sizes.size() == 1 || sizes.size() == 2, "prob_dist must be 1 or 2 dim");
  TORCH_CHECK(call.tensor("self").is_floating_point(), "multinomial only supports floating-point ",
              "dtypes for input, got: ", call.tensor("self").scalar_type());
  TORCH_CHECK(call.number("num_samples") > 0, "cannot sample n_sample <= 0 samples");
  TORCH_CHECK(call.flag("replacement") || call.number("num_samples") <= sizes.back(),
              "cannot sample n_sample > prob_dist.size(-1) samples without replacement");
  sizes.back() = call.number("num_samples");
  return {meta_tensor(sizes, ScalarType::Long)};
}

std::vector<at::Tensor> repeat_interleave(const MetaCall& call) {
  TORCH_CHECK_NOT_IMPLEMENTED(call.has("output_size"),
                              "aten::repeat_interleave.Tensor on meta tensors needs its argument "
                              "output_size: without it the size of the result is in the data");
  return {meta_tensor({call.number("output_size")}, call.tensor("repeats").scalar_type())};
}

constexpr NamedMetaRule kElementRules[] = {
    {"__lshift__", pointwise},
    {"__rshift__", pointwise},
    {"_aminmax", reduction},
    {"_assert_async", nothing},
    {"_functional_assert_async", assertion_token},
    {"_prelu_kernel", pointwise},
    {"abs", pointwise},
    {"complex", pointwise},
    {"conj_physical", pointwise},
    {"count_nonzero", reduction},
    {"floor_divide", pointwise},
    {"hardswish", pointwise},
    {"hardtanh", pointwise},
    {"index_select", index_select},
    {"isnan", pointwise},
    {"logical_and", pointwise},
    {"logical_not", pointwise},
    {"logical_or", pointwise},
    {"logical_xor", pointwise},
    {"logit", pointwise},
    {"max", reduction},
    {"median", reduction},
    {"min", reduction},
    {"mode", reduction},
    {"multinomial", multinomial},
    {"nan_to_num", pointwise},
    {"nanmedian", reduction},
    {"nansum", reduction},
    {"polar", pointwise},
    {"prod", reduction},
    {"relu", pointwise},
    {"remainder", pointwise},
    {"repeat_interleave", repeat_interleave},
    {"std", reduction},
    {"std_mean", reduction},
    {"trace", reduction},
    {"var", reduction},
    {"var_mean", reduction},
    {"where", pointwise},
};

}  // namespace

c10::ArrayRef<NamedMetaRule> element_meta_rules() { return kElementRules; }

}  // namespace torch_ir
