// Operators that pick elements by index, or find where values belong.
#include <ATen/WrapDimUtils.h>

#include "torch_ir/exporter/meta/meta_rules.h"

namespace torch_ir {
namespace {

using c10::ScalarType;

std::vector<at::Tensor> index_select(const MetaCall& call) {
  const at::Tensor self = call.tensor("self");
  const at::Tensor index = call.tensor("index");
  TORCH_CHECK_INDEX(index.dim() <= 1, "index_select(): Index is supposed to be a vector");
  TORCH_CHECK(index.scalar_type() == ScalarType::Long || index.scalar_type() == ScalarType::Int,
              "index_select(): Expected dtype int32 or int64 for index");
  Sizes sizes = self.sizes().vec();
  const int64_t dim = at::maybe_wrap_dim(call.integer("dim"), self.dim());
  TORCH_CHECK(!sizes.empty() || index.numel() == 1,
              "index_select(): Index to scalar can have only ", "1 value, got ", index.numel(),
              " value(s)");
  if (!sizes.empty()) sizes[dim] = index.numel();
  return {meta_tensor(sizes, self.scalar_type())};
}

// Where in `boundaries` each value of `self` belongs, or the one number that it is.
std::vector<at::Tensor> places(const MetaCall& call, const at::Tensor& boundaries) {
  const ScalarType dtype = call.boolean("out_int32") ? ScalarType::Int : ScalarType::Long;
  const size_t self = *call.op().schema().argumentIndexWithName("self");
  const bool is_number = !call.arguments()[self].isTensor();
  const Sizes sizes = is_number ? Sizes() : call.tensor("self").sizes().vec();
  const size_t rank = boundaries.dim();
  const bool fits = rank == 1 || (rank > 0 && rank == sizes.size() &&
                                  boundaries.sizes().slice(0, rank - 1) ==
                                      c10::IntArrayRef(sizes).slice(0, rank - 1));
  TORCH_CHECK(fits, call.op().operator_name(), ": boundaries of sizes ", boundaries.sizes(),
              " must be a vector or have the sizes of the values, ", c10::IntArrayRef(sizes),
              ", but for the last");
  return {meta_tensor(sizes, dtype)};
}

std::vector<at::Tensor> searchsorted(const MetaCall& call) {
  return places(call, call.tensor("sorted_sequence"));
}

std::vector<at::Tensor> bucketize(const MetaCall& call) {
  const at::Tensor boundaries = call.tensor("boundaries");
  TORCH_CHECK(boundaries.dim() == 1, "boundaries tensor must be 1 dimension, but got dim(",
              boundaries.dim(), ")");
  return places(call, boundaries);
}

std::vector<at::Tensor> multinomial(const MetaCall& call) {
  Sizes sizes = call.tensor("self").sizes().vec();
  TORCH_CHECK(sizes.size() == 1 || sizes.size() == 2, "prob_dist must be 1 or 2 dim");
  TORCH_CHECK(call.tensor("self").is_floating_point(), "multinomial only supports floating-point ",
              "dtypes for input, got: ", call.tensor("self").scalar_type());
  TORCH_CHECK(call.integer("num_samples") > 0, "cannot sample n_sample <= 0 samples");
  TORCH_CHECK(call.boolean("replacement") || call.integer("num_samples") <= sizes.back(),
              "cannot sample n_sample > prob_dist.size(-1) samples without replacement");
  sizes.back() = call.integer("num_samples");
  return {meta_tensor(sizes, ScalarType::Long)};
}

std::vector<at::Tensor> repeat_interleave(const MetaCall& call) {
  TORCH_CHECK_NOT_IMPLEMENTED(call.has("output_size"),
                              "aten::repeat_interleave.Tensor on meta tensors needs its argument "
                              "output_size: without it the size of the result is in the data");
  return {meta_tensor({call.integer("output_size")}, call.tensor("repeats").scalar_type())};
}

constexpr NamedMetaRule kIndexingRules[] = {
    {"bucketize", bucketize},       {"index_select", index_select},
    {"multinomial", multinomial},   {"repeat_interleave", repeat_interleave},
    {"searchsorted", searchsorted},
};

}  // namespace

c10::ArrayRef<NamedMetaRule> indexing_meta_rules() { return kIndexingRules; }

}  // namespace torch_ir
